"""What is asked of the upstream, and the stamped chunks it answers with; pure.

The question's text is the order: JSON of an `Answer`. Each chunk of text holds one stamp, `⟨microseconds⟩` of
CLOCK_MONOTONIC, which survives markdown and is the same clock in every process of one machine.
"""

from __future__ import annotations

import json
import re
import time
from dataclasses import asdict, dataclass
from pathlib import Path

STAMP = re.compile(rb"(?:\xe2\x9f\xa8|\\u27e8)(\d+)(?:\xe2\x9f\xa9|\\u27e9)")
"""In UTF-8, or escaped as JSON may be."""

#: One chunk each, about 20 characters with its stamp, which takes the place of the @. Together 2 KB of headings,
#: paragraphs, lists, a table and a fence, repeated for as long as the answer is.
PIECES = (
    "## @ Findings\n\n",
    *("@ it goes on ",) * 11,
    "@ and ends.\n\n",
    *("@ **so** it is ",) * 9,
    "@ and ends.\n\n",
    *("- @ an item\n",) * 7,
    "\n| at | value |\n|---|---|\n| @ | 12.5 |\n",
    *("| @ | 12.5 |\n",) * 7,
    "\n```\n@ first\n",
    *("@ = a + b\n",) * 8,
    "@ last\n```\n\n",
    *("@ with `code` ",) * 9,
    "@ and ends.\n\n",
)

#: About 2 KB of all that an answer may hold, repeated: what a browser is given to draw. It needs no stamps.
RICH_TEXT = Path(__file__).with_name("answer.md").read_text()
RICH_PIECES = tuple(RICH_TEXT[at : at + 20] for at in range(0, len(RICH_TEXT), 20))


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer that the upstream is asked for."""

    chunks: int
    """Text chunks, each with a stamp."""
    rate: float = 0.0
    """Chunks a second; 0: flat out."""
    burst: int = 1
    """Chunks that come at once; the rate stays what it is."""
    graphs: int = 0
    """Times that code, its result and a graph of 60 KB stand between the text chunks."""
    is_rich: bool = False
    """Without stamps in the text, and with all that Markdown has."""

    def prompt(self) -> str:
        """The question that orders it."""
        return json.dumps(asdict(self))

    @classmethod
    def ordered_by(cls, prompt: str) -> Answer:
        """The inverse of `prompt`."""
        return cls(**json.loads(prompt))

    @property
    def duration_s(self) -> float:
        """How long the upstream takes; 0 when flat out."""
        return self.chunks / self.rate if self.rate else 0.0

    def due_s(self, index: int) -> float:
        """When chunk `index` is due, from the start."""
        return (index - index % self.burst) / self.rate if self.rate else 0.0

    def graph_places(self) -> frozenset[int]:
        """The chunks that code, result and graph come before; in a rich answer never in the middle of a block."""
        step = len(RICH_PIECES) if self.is_rich else 1
        places = (self.chunks * number // (self.graphs + 1) for number in range(1, self.graphs + 1))
        return frozenset(place - place % step for place in places)

    @property
    def stamps(self) -> int:
        """Stamps in it: of its text chunks, and of the code and the result of each graph."""
        return self.chunks + 2 * len(self.graph_places())


@dataclass(frozen=True, slots=True)
class Level:
    """So many answers at the same time."""

    name: str
    conversations: int
    answer: Answer
    stagger_s: float = 0.0
    """Over which their starts are spread."""


class Reading:
    """One answer as it arrives: when its stamps were first seen."""

    def __init__(self) -> None:
        self.sent_us = 0
        self.first_us = 0
        """When the first stamp came."""
        self.first_stamp = 0
        self.last_stamp = 0
        self.delays_us: list[int] = []

    def send(self) -> None:
        """The question leaves now."""
        self.sent_us = now_us()

    def take(self, data: bytes, at_us: int) -> bool:
        """Note the stamps that are new in `data`, in UTF-8; whether there are any.

        Stamps of one answer grow, so what is not above the last one has been seen: open tails are sent again.
        """
        new: list[int] = []
        for found in reversed(STAMP.findall(data)):
            stamp = int(found)
            if stamp <= self.last_stamp:
                break
            new.append(stamp)
        if not new:
            return False
        new.reverse()
        if not self.delays_us:
            self.first_us, self.first_stamp = at_us, new[0]
        self.last_stamp = new[-1]
        self.delays_us += [at_us - stamp for stamp in new]
        return True

    @property
    def offered_per_s(self) -> float:
        """The rate at which the upstream really sent."""
        span_us = self.last_stamp - self.first_stamp
        return (len(self.delays_us) - 1) * 1e6 / span_us if span_us else 0.0


def now_us() -> int:
    """Microseconds of CLOCK_MONOTONIC."""
    return time.monotonic_ns() // 1000
