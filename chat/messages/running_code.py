"""Output of code in the Python session, while the code runs. Pure.

Results of code in the Python session belong to their run, which their `call_id` names. While the code runs, its output
is appended to the last result of the run, or begins another one after a graph. At the end of the code, all results of
the run get its outcome, and the last part of the run is a result after which no image is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias

from chat.messages.answer import Answer
from chat.messages.changes import Change, PartReplaced, PartStarted, TextAppended
from chat.messages.closing import close_results
from chat.vocabulary.data_uris import IMAGES_LIMIT, Extraction, extract_images, split_open_uri, without_data_uris
from chat.vocabulary.parts import OUTCOME_RUNNING, CodeExecutionResult

StartResult: TypeAlias = Callable[[CodeExecutionResult, Extraction], Iterator[Change]]
"""Yields the changes that begin a result, with the images that were found in its output."""


class RunningCode:
    """Code that runs: makes changes of its output. Each change is applied to the answer before the next is made."""

    def __init__(self, answer: Answer, made_by: str, start_result: StartResult) -> None:
        """`made_by`: the function call that runs the code."""
        self.made_by = made_by
        self._answer = answer
        self._start_result = start_result
        self._results: list[int] = []
        """Indexes of the results so far."""
        self._texts: list[str] = []
        """All output so far, as it was received."""
        self._held_back = ""
        """The end of the output, which may become an image. It is in no result yet."""
        self._image_count = 0

    def add(self, part: CodeExecutionResult) -> Iterator[Change]:
        """Yield the changes that show more output."""
        output = part.output or ""
        self._texts.append(output)
        text, self._held_back = split_open_uri(self._held_back + output)
        if text:
            yield from self._show(replace(part, output=text))

    def end(self, part: CodeExecutionResult) -> Iterator[Change]:
        """Yield the changes at the end of the code, of which `part` holds the whole output, or none."""
        output, shown = part.output or "", "".join(self._texts)
        if part.output is None or output.startswith(shown):
            yield from self._end(part, self._held_back + output[len(shown) :])
        else:
            # What was shown was not the beginning of the output, such as a progress bar.
            yield from self._end(part, output, replaces_last=True)

    def show_rest(self, part: CodeExecutionResult) -> Iterator[Change]:
        """Yield the changes that show what was held back, because the code will get no result.

        It is text, or a part of an image that nobody can read.
        """
        if text := without_data_uris(self._held_back):
            yield from self._show(replace(part, output=text))

    def _show(self, part: CodeExecutionResult) -> Iterator[Change]:
        extraction = self._extract_images(part.output or "")
        if self._is_last and not extraction.images:
            yield TextAppended(self._answer.part_count - 1, extraction.text)
            return
        yield from self._begin_result(part, extraction)

    def _end(self, part: CodeExecutionResult, rest: str, *, replaces_last: bool = False) -> Iterator[Change]:
        """Yield the changes at the end of code. `rest`: output that is not shown, or that replaces the last result."""
        extraction = self._extract_images(rest)
        if self._is_last and not extraction.images:
            before = "" if replaces_last else self._answer.parts[-1].long_text
            part = replace(part, output=before + extraction.text)
        elif not self._results and not extraction.images:
            yield PartStarted(self._answer.part_count, replace(part, output=extraction.text if rest else part.output))
            return
        else:
            opened = replace(part, output=None, outcome=OUTCOME_RUNNING, files=(), duration_ms=None)
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
        """Whether text may be appended to the last result of the code: nothing is shown after it."""
        last = self._answer.last_part
        is_last = self._results[-1:] == [self._answer.part_count - 1]
        return is_last and isinstance(last, CodeExecutionResult) and not last.images

    def _extract_images(self, output: str) -> Extraction:
        extraction = extract_images(output, IMAGES_LIMIT - self._image_count)
        self._image_count += len(extraction.images)
        return extraction
