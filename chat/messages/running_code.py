"""Shows output of code in the Python session while the code runs. Pure.

The results of such code belong to its run, which their `call_id` identifies. While the code runs, its output is
appended to the last result of the run, or begins another result after a graph. When the code ends, all results of the
run get its outcome, and the last part of the run is a result after which no image is shown.

If code changes outputs that it showed before, equal outputs at the beginning stay, and the rest is shown anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from chat.messages.answer import Answer
from chat.messages.changes import Change, OutputCut, PartReplaced, PartStarted, TextAppended
from chat.messages.closing import close_results
from chat.vocabulary.data_uris import IMAGES_LIMIT, Extraction, extract_images, split_open_uri, without_data_uris
from chat.vocabulary.parts import OUTCOME_RUNNING, CodeExecutionResult, Engine, Part
from chat.vocabulary.stream_events import OutputsRedrawn

StartResult: TypeAlias = Callable[[CodeExecutionResult, Extraction], Iterator[Change]]
"""Yields the changes that begin a result, with the images that were found in its output."""
StartPart: TypeAlias = Callable[[Part], Iterator[Change]]
"""Yields the changes that begin a graph or a rich output."""


@dataclass(slots=True)
class _Shown:
    """One output of the code: uninterrupted text, a graph or a rich output."""

    start: int
    """Index of its first part in the answer."""
    part: Part | None = None
    """`None` if the output is text."""
    texts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text of the output as it was received."""
        self.texts = ["".join(self.texts)]
        return self.texts[0]

    def equals(self, part: Part) -> bool:
        """Return whether the part shows the same as this output."""
        if isinstance(part, CodeExecutionResult):
            return self.part is None and self.text == part.long_text
        return self.part == part


class RunningCode:
    """Code that runs: turns its output into changes. Each change is applied to the answer before the next
    one is made.
    """

    def __init__(self, answer: Answer, made_by: str, start_result: StartResult, start_part: StartPart) -> None:
        """`made_by`: the function call that runs the code."""
        self.made_by = made_by
        self._answer = answer
        self._start_result = start_result
        self._start_part = start_part
        self._results: list[int] = []
        """Indexes of the results so far."""
        self._shown: list[_Shown] = []
        """All outputs so far."""
        self._held_back = ""
        """The end of the output if it may become an image. It is in no result yet."""
        self._image_count = 0

    def add(self, part: CodeExecutionResult) -> Iterator[Change]:
        """Yield the changes that show more output."""
        output = part.output or ""
        if output:
            if not self._shown or self._shown[-1].part is not None:
                self._shown.append(_Shown(self._answer.part_count))
            self._shown[-1].texts.append(output)
        text, self._held_back = split_open_uri(self._held_back + output)
        if text:
            yield from self._show(replace(part, output=text))

    def end(self, part: CodeExecutionResult) -> Iterator[Change]:
        """Yield the changes at the end of the code. `part` holds the whole output, or none if `add` got all of it."""
        output, shown = part.output or "", "".join(one.text for one in self._shown)
        part = self._answer.cleared.with_texts(part)
        if part.output is None or output.startswith(shown):
            yield from self._end(part, self._held_back + output[len(shown) :])
        else:
            # The output that was shown is not the beginning of the whole output, as with a progress bar.
            yield from self._end(part, output, replaces_last=True)

    def show_rest(self, part: CodeExecutionResult) -> Iterator[Change]:
        """Yield the changes that show the held back output, because the code will get no result.

        It is text, or an incomplete image, which words replace.
        """
        if text := without_data_uris(self._held_back):
            yield from self._show(replace(part, output=text))

    def note(self, part: Part, index: int) -> None:
        """Record a graph or a rich output of the code, which begins at this index of the answer."""
        self._shown.append(_Shown(index, part))

    def redraw(self, event: OutputsRedrawn) -> Iterator[Change]:
        """Yield the changes that replace the outputs so far by other ones."""
        result = CodeExecutionResult(
            call_id=event.call_id, engine=Engine.SESSION, round=self._answer.round_number, made_by=self.made_by
        )
        cut, rest = self._cut(event)
        if cut is not None or event.cleared or event.left_out:
            cut = cut or OutputCut(self._answer.part_count - 1)
            yield replace(cut, cleared=event.cleared, left_out=event.left_out)
        for part in rest:
            if isinstance(part, CodeExecutionResult):
                yield from self.add(replace(result, output=part.output))
            else:
                self.note(part, self._answer.part_count)
                yield from self._start_part(part)

    def _cut(self, event: OutputsRedrawn) -> tuple[OutputCut | None, list[Part]]:
        """Return the change that removes outputs that differ, and the outputs that follow.

        The change is `None` if nothing has to be removed.
        """
        parts, shown = list(event.parts), self._shown
        pairs = enumerate(zip(shown, parts, strict=False))
        same = next((number for number, (one, part) in pairs if not one.equals(part)), min(len(shown), len(parts)))
        if same == len(shown):
            return None, parts[same:]
        if same == len(shown) - 1 and same < len(parts) and isinstance(parts[same], CodeExecutionResult):
            cut = self._cut_text(shown[same], parts[same].long_text)
            if cut is not None:
                return cut, parts[same + 1 :]
        if same and same == len(parts) and shown[same - 1].part is None:
            # Text can be appended only to the last part, and pages have the text of the last part only.
            same -= 1
        start = shown[same].start
        del shown[same:]
        removed = [self._answer.parts[index] for index in self._results if index >= start]
        self._image_count -= sum(len(part.images) for part in removed if isinstance(part, CodeExecutionResult))
        self._results = [index for index in self._results if index < start]
        self._held_back = ""
        return OutputCut(start - 1), parts[same:]

    def _cut_text(self, shown: _Shown, text: str) -> OutputCut | None:
        """Return the change that gives the last output another text; `None` if the output must be shown anew."""
        before = shown.text.removesuffix(self._held_back)
        is_whole = shown.part is None and self._is_last and self._answer.parts[-1].long_text == before
        closed, held_back = split_open_uri(text)
        if not is_whole or extract_images(closed).images:
            return None
        self._held_back = held_back
        shown.texts = [text]
        chars = common_length(before, closed)
        return OutputCut(self._answer.part_count - 1, chars, closed[chars:])

    def _show(self, part: CodeExecutionResult) -> Iterator[Change]:
        extraction = self._extract_images(part.output or "")
        if self._is_last and not extraction.images:
            yield TextAppended(self._answer.part_count - 1, extraction.text)
            return
        yield from self._begin_result(part, extraction)

    def _end(self, part: CodeExecutionResult, rest: str, *, replaces_last: bool = False) -> Iterator[Change]:
        """Yield the changes at the end of code. `rest`: output that was not shown, or that replaces the last result."""
        extraction = self._extract_images(rest)
        if self._is_last and not extraction.images:
            before = "" if replaces_last else self._answer.parts[-1].long_text
            part = replace(part, output=before + extraction.text)
        elif not self._results and not extraction.images:
            yield PartStarted(self._answer.part_count, replace(part, output=extraction.text if rest else part.output))
            return
        else:
            opened = replace(part, output=None, outcome=OUTCOME_RUNNING, files=(), table_changes=(), missing_cells=())
            opened = replace(opened, duration_ms=None, cleared=(), cleared_left_out=0)
            if rest:
                yield from self._begin_result(replace(opened, output=extraction.text), extraction)
            if not self._is_last:
                yield from self._begin_result(opened, Extraction("", ()))
            part = replace(part, output=self._answer.parts[-1].long_text or None)
        yield from close_results(self._answer.parts, self._results[:-1], part.outcome)
        yield PartReplaced(self._results[-1], part)

    def _begin_result(self, part: CodeExecutionResult, extraction: Extraction) -> Iterator[Change]:
        self._results.append(self._answer.part_count)
        yield from self._start_result(part, extraction)

    @property
    def _is_last(self) -> bool:
        """Return whether text may be appended to the last result of the code, because nothing is shown after it."""
        last = self._answer.last_part
        is_last = self._results[-1:] == [self._answer.part_count - 1]
        return is_last and isinstance(last, CodeExecutionResult) and not last.images

    def _extract_images(self, output: str) -> Extraction:
        extraction = extract_images(output, IMAGES_LIMIT - self._image_count)
        self._image_count += len(extraction.images)
        return extraction


def common_length(one: str, other: str) -> int:
    """Return the length of the common beginning of two texts."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        # Only the part that is not known to be equal is compared.
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
