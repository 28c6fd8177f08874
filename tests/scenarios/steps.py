"""The steps of an answer, independent of protocols. Each stand-in has a writer that sends them in its protocol."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tests.scenarios.chart_image import draw_chart


@dataclass(frozen=True, slots=True)
class Text:
    """Text, which the writer cuts into pieces as it likes."""

    text: str
    finish: str = ""
    """The finish reason that is sent with the last piece."""
    whole: bool = False
    """Whether the text is sent in one piece."""


@dataclass(frozen=True, slots=True)
class Thought:
    """A thought in one piece."""

    text: str
    after_s: float | None = None
    """Pause before it in seconds, at pace 1; `None`: the usual one."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart that is drawn when it is sent."""

    width: int = 800
    height: int = 500
    seed: int = 1
    image_format: str = "PNG"

    @property
    def data(self) -> bytes:
        """The bytes of its file."""
        return draw_chart(self.width, self.height, seed=self.seed, image_format=self.image_format)


@dataclass(frozen=True, slots=True)
class Code:
    """Code that the service runs, its output, and its images."""

    source: str
    output: str = ""
    outcome: str = "OUTCOME_OK"
    images: Sequence[Chart] = ()


@dataclass(frozen=True, slots=True)
class Calls:
    """Parallel calls of the client's functions: names and arguments, which need not be an object."""

    calls: Sequence[tuple[str, object]]
    thought: str = ""
    """A thought that is sent after the calls."""


@dataclass(frozen=True, slots=True)
class Image:
    """An image that the model draws without code."""

    chart: Chart


@dataclass(frozen=True, slots=True)
class End:
    """The end of the answer, with its finish reason."""

    finish: str = "STOP"


@dataclass(frozen=True, slots=True)
class Silence:
    """A time in which nothing is sent, at any pace. If it is the first step, the status line waits too."""

    duration_s: float = math.inf


@dataclass(frozen=True, slots=True)
class HalfEvent:
    """The first half of an event with text."""


@dataclass(frozen=True, slots=True)
class Reset:
    """The connection breaks."""


@dataclass(frozen=True, slots=True)
class HttpError:
    """An HTTP error, in place of an answer or inside a stream whose status was 200."""

    status: int
    name: str
    message: str
    details: Sequence[Mapping[str, object]] = field(default_factory=tuple)


Step = Text | Thought | Code | Calls | Image | End | Silence | HalfEvent | Reset | HttpError
Steps = Iterable[Step]
