"""The answers that a benchmark requests from the upstream, and the timings of their chunks.

The text of the user message is the request: the JSON form of an `Answer`. Each text chunk of the answer holds one
stamp, `⟨microseconds⟩` of CLOCK_MONOTONIC. A stamp survives Markdown rendering, and the clock is the same in every
process of one machine.
"""

from __future__ import annotations

import json
import re
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

#: A stamp in UTF-8 or as a JSON escape.
STAMP = re.compile(rb"(?:\xe2\x9f\xa8|\\u27e8)(\d+)(?:\xe2\x9f\xa9|\\u27e9)")

#: The texts of the chunks, about 20 characters each; the stamp replaces the @. Together they are 2 KB of headings,
#: paragraphs, lists, a table and a fenced code block. A longer answer repeats them.
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

#: About 2 KB of text with every Markdown element that an answer may hold, without stamps. The browser benchmark repeats
#: it.
RICH_TEXT = Path(__file__).with_name("answer.md").read_text()
RICH_PIECES = tuple(RICH_TEXT[start : start + 20] for start in range(0, len(RICH_TEXT), 20))


@dataclass(frozen=True, slots=True)
class Answer:
    """The request for one answer of the upstream. Its JSON form is the user message."""

    chunks: int
    """Number of text chunks."""
    rate: float = 0.0
    """Chunks per second; 0 sends without pauses."""
    burst: int = 1
    """Number of chunks that are sent at the same moment. The rate stays the same."""
    graphs: int = 0
    """The number of times that code, its result and a graph of 60 KB are sent between the text chunks."""
    is_rich: bool = False
    """Whether the text is `RICH_TEXT`, which has no stamps."""

    def to_prompt(self) -> str:
        """Return the user message that requests this answer."""
        return json.dumps(asdict(self))

    @classmethod
    def from_prompt(cls, prompt: str) -> Answer:
        """Parse a user message of `to_prompt`. Raise TypeError or ValueError for any other text."""
        return cls(**json.loads(prompt))

    @property
    def duration_s(self) -> float:
        """Seconds that the upstream takes to send the answer; 0 without pauses."""
        return self.chunks / self.rate if self.rate else 0.0

    def compute_due_s(self, index: int) -> float:
        """Return when chunk `index` is due, in seconds from the start of the answer."""
        return (index - index % self.burst) / self.rate if self.rate else 0.0

    def compute_graph_positions(self) -> frozenset[int]:
        """Return the indexes of the chunks before which code, result and graph are sent.

        In a rich answer a graph comes only between two repetitions of the text, never inside a Markdown block.
        """
        step = len(RICH_PIECES) if self.is_rich else 1
        positions = (self.chunks * number // (self.graphs + 1) for number in range(1, self.graphs + 1))
        return frozenset(position - position % step for position in positions)

    @property
    def stamp_count(self) -> int:
        """Number of stamps: one for each text chunk, and two for the code and the result of each graph."""
        return self.chunks + 2 * len(self.compute_graph_positions())


@dataclass(frozen=True, slots=True)
class Level:
    """A load level: a number of conversations that receive the same kind of answer at the same time."""

    name: str
    conversations: int
    answer: Answer
    stagger_s: float = 0.0
    """Period over which the starts of the answers are spread."""

    def without_graphs(self) -> Level:
        """Return the same level for OpenAI's format, which has no graphs."""
        return replace(self, answer=replace(self.answer, graphs=0))


class AnswerTimings:
    """Records when the stamps of one answer are first received."""

    def __init__(self) -> None:
        self.sent_at_us = 0
        """When the user message was sent."""
        self.first_received_at_us = 0
        """When the first stamp was received."""
        self.first_stamp_us = 0
        self.last_stamp_us = 0
        self.delays_us: list[int] = []

    def record_send(self) -> None:
        """Record that the user message is sent now."""
        self.sent_at_us = now_us()

    def record_stamps(self, data: bytes, received_at_us: int) -> bool:
        """Record the stamps in `data` that have not been seen before, and return whether there are any.

        Stamps increase within one answer, so a stamp that is not above the last one has been seen before. Plotline
        sends the unfinished end of a text again with every frame.
        """
        new_stamps: list[int] = []
        for digits in reversed(STAMP.findall(data)):
            stamp_us = int(digits)
            if stamp_us <= self.last_stamp_us:
                break
            new_stamps.append(stamp_us)
        if not new_stamps:
            return False
        new_stamps.reverse()
        if not self.delays_us:
            self.first_received_at_us, self.first_stamp_us = received_at_us, new_stamps[0]
        self.last_stamp_us = new_stamps[-1]
        self.delays_us += [received_at_us - stamp_us for stamp_us in new_stamps]
        return True

    @property
    def offered_per_s(self) -> float:
        """Chunks per second that the upstream really sent."""
        span_us = self.last_stamp_us - self.first_stamp_us
        return (len(self.delays_us) - 1) * 1e6 / span_us if span_us else 0.0


def now_us() -> int:
    """Return CLOCK_MONOTONIC in microseconds."""
    return time.monotonic_ns() // 1000
