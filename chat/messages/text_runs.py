"""Joins adjoining texts of an answer for display. Pure.

A provider may end a text part in the middle of a sentence, because a thought signature belongs to exactly one part.
Storage and the REST API keep these parts apart. Pages and exports show each run of adjoining texts as one Markdown
document, so that no emphasis, list or code block is cut at a signature.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from chat.vocabulary.parts import Part, Text, Thought


@dataclass(frozen=True, slots=True)
class PartRun:
    """Parts that are shown as one: adjoining texts, or a single part of another kind."""

    start: int
    """Index of the first part."""
    end: int
    """Index after the last part."""
    part: Part
    """The first part, with the text of the whole run."""

    @property
    def last(self) -> int:
        """Index of the last part, after which the attachments of the run are shown."""
        return self.end - 1


def part_runs(parts: Sequence[Part], indexes_with_attachments: Container[int | None] = ()) -> Iterator[PartRun]:
    """Yield the runs of an answer in order. An attachment ends the run, because it is shown after its part."""
    start = 0
    for index, part in enumerate(parts, start=1):
        is_joined = index < len(parts) and index - 1 not in indexes_with_attachments
        if is_joined and continues_text(part, parts[index], is_in_run=index - start > 1):
            continue
        yield PartRun(start, index, _joined(parts[start:index]))
        start = index


def continues_text(previous: Part, part: Part, *, is_in_run: bool = False) -> bool:
    """Return whether a part belongs to the run of the part before it.

    Thoughts that hold only a signature do not end a run, because they show nothing. `is_in_run`: whether `previous` is
    not the first part of its run, so that it may be such a thought.
    """
    is_text = isinstance(previous, Text) or (is_in_run and isinstance(previous, Thought))
    is_continuation = isinstance(part, Text) or is_hidden(part)
    return is_text and is_continuation and part.round == previous.round


def is_hidden(part: Part) -> bool:
    """Return whether a part is a thought without text, to which no text can be appended."""
    return isinstance(part, Thought) and not part.text and not part.is_open_text


def _joined(parts: Sequence[Part]) -> Part:
    first = parts[0]
    return first if len(parts) == 1 else first.with_long_text("".join(part.long_text for part in parts))
