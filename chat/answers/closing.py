"""Ends code of the Python session that will get no result: it was stopped, or its tool or its server failed. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from chat.answers.answer import Answer
from chat.answers.changes import Change, PartReplaced, PartStarted
from chat.answers.code_results import CodeResults
from chat.parts import CodeExecutionResult, Engine, ExecutableCode, FunctionResponse, Part


def closing_changes(answer: Answer, outcome: str) -> list[Change]:
    """Return the changes that give an outcome to all code of the session that has none.

    They are in the order of the log: the last part of a run is its last result, and it is closed last.
    """
    parts = answer.parts
    changes: list[Change] = []
    for code_part, indexes in _open_runs(parts):
        end = len(parts) + sum(isinstance(change, PartStarted) for change in changes)
        ending = CodeExecutionResult(
            call_id=code_part.call_id, engine=Engine.SESSION, round=code_part.round, made_by=code_part.made_by
        )
        if not indexes:
            changes.append(PartStarted(end, replace(ending, outcome=outcome)))
            continue
        last = parts[indexes[-1]]
        is_last = indexes[-1] == end - 1 and isinstance(last, CodeExecutionResult) and not last.images
        if not is_last:
            # A graph or another output is shown after the last text.
            changes.append(PartStarted(end, ending))
        changes += close_results(parts, indexes, outcome)
        if not is_last:
            changes.append(PartReplaced(end, replace(ending, outcome=outcome)))
    return changes


def close_results(parts: Sequence[Part], indexes: Iterable[int], outcome: str) -> Iterator[PartReplaced]:
    """Yield the changes that give results an outcome."""
    for index in indexes:
        part = parts[index]
        assert isinstance(part, CodeExecutionResult)
        yield PartReplaced(index, replace(part, outcome=outcome))


def _open_runs(parts: Sequence[Part]) -> list[tuple[ExecutableCode | CodeExecutionResult, list[int]]]:
    """Return the code of the session that has not ended, or its first result, each with the indexes of its results."""
    with_result = set(CodeResults(parts).code_of.values())
    # A tool may show code and no result. Then its response is the end.
    answered = {part.call_id for part in parts if isinstance(part, FunctionResponse)}
    runs: dict[str, tuple[ExecutableCode | CodeExecutionResult, list[int]]] = {}
    for index, part in enumerate(parts):
        if isinstance(part, CodeExecutionResult) and part.is_running:
            runs.setdefault(part.call_id, (part, []))[1].append(index)
        elif not isinstance(part, ExecutableCode) or part.engine is not Engine.SESSION:
            continue
        elif index not in with_result and part.made_by not in answered:
            runs[part.call_id] = part, []
    return list(runs.values())
