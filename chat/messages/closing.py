"""Closes code of the Python session and function calls that have not ended when their answer ends. Pure.

Code gets an outcome. Each function call without a response gets one with a sentence, so that every call has exactly one
in every later request. `AnswerRound.started_calls` has the calls that may have run; other calls never began.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from chat.messages.answer import Answer
from chat.messages.approval import with_changed_code
from chat.messages.changes import Change, PartReplaced, PartStarted
from chat.messages.code_results import CodeResults, shown_text
from chat.vocabulary.bounded_output import shortened
from chat.vocabulary.data_uris import without_data_uris
from chat.vocabulary.parts import (
    OUTCOME_ABORTED,
    OUTCOME_LOST,
    CodeExecutionResult,
    Engine,
    ExecutableCode,
    FunctionCall,
    FunctionResponse,
    InlineData,
    JSONObject,
    Part,
    Refusal,
)

NOT_RUN = "The answer ended before this call began. Nothing was run."
CUT: Mapping[str, tuple[Refusal, str]] = {
    OUTCOME_ABORTED: (
        Refusal.ABORTED,
        "The answer was stopped or failed while this call ran, and the call was stopped with it.",
    ),
    OUTCOME_LOST: (
        Refusal.LOST,
        "The server was interrupted while this call ran, so it does not know how the call ended.",
    ),
}
"""Outcome of a call that may have run -> the refusal and the sentence of its response."""
CHECK_FIRST = "It may have done all of its work, a part or nothing: check that before you call it again."
SHOWN = "output is what it had shown until then."
NOT_RELEASED = "The user has not released what it had shown until then."
PRIVATE = "What it had shown until then is private, so only the user sees it."


@dataclass(frozen=True, slots=True)
class Closing:
    """How to close code and function calls that have not ended when their answer ends."""

    outcome: str
    """`OUTCOME_ABORTED` or `OUTCOME_LOST`."""
    withheld: str = ""
    """A sentence for the model: why it does not get the output of a call that was cut off. Empty if it gets this."""


def call_changes(answer: Answer, closing: Closing) -> Iterator[PartStarted]:
    """Yield a response for each function call that has none, in order.

    Incomplete calls get no response: no API accepts them in a later request, so requests have a sentence in their
    place. Each change must be applied before the next one is made.
    """
    answered = {part.call_id for part in answer.parts if isinstance(part, FunctionResponse)}
    calls = [part for part in answer.parts if isinstance(part, FunctionCall) and part.call_id not in answered]
    for call in calls:
        if call.name and call.arguments is not None:
            yield PartStarted(answer.part_count, _response(answer, call, closing))


def _response(answer: Answer, call: FunctionCall, closing: Closing) -> FunctionResponse:
    if call.call_id in answer.rounds[call.round].started_calls:
        refusal, result = _result_of_cut_call(answer, call, closing)
    else:
        refusal, result = Refusal.NOT_RUN, {"error": NOT_RUN}
    return FunctionResponse(
        call.name, result, call.call_id, is_error=True, refusal=refusal, round=call.round, made_by=call.call_id
    )


def _result_of_cut_call(answer: Answer, call: FunctionCall, closing: Closing) -> tuple[Refusal, JSONObject]:
    refusal, sentence = CUT[closing.outcome]
    sentence = f"{sentence} {CHECK_FIRST}"
    shown = [part for part in answer.parts if part.made_by == call.call_id]
    output = shortened(without_data_uris(shown_text(shown)))
    graphs = sum(isinstance(part, InlineData) for part in shown)
    if closing.withheld and (output or graphs):
        return Refusal.WITHHELD, {"error": f"{sentence} {closing.withheld}"}
    result: JSONObject = {"error": sentence}
    if output or graphs:
        result = {"error": f"{sentence} {SHOWN}", "output": output, "graphs": graphs}
    decision = answer.call_decision(call.call_id)
    if decision is not None and decision.code is not None:
        result = with_changed_code(result, decision.code)
    return refusal, result


def code_changes(answer: Answer, outcome: str) -> list[Change]:
    """Return the changes that give an outcome to all code of the session that has none.

    The changes are in the order of the log: the last part of a run is its last result, and it is closed last.
    """
    parts = answer.parts
    changes: list[Change] = []
    for code_part, indexes in _open_runs(parts):
        end = len(parts) + sum(isinstance(change, PartStarted) for change in changes)
        ending = CodeExecutionResult(
            call_id=code_part.call_id, engine=Engine.SESSION, round=code_part.round, made_by=code_part.made_by
        )
        ended = answer.cleared.with_texts(replace(ending, outcome=outcome))
        if not indexes:
            changes.append(PartStarted(end, ended))
            continue
        last = parts[indexes[-1]]
        is_last = indexes[-1] == end - 1 and isinstance(last, CodeExecutionResult) and not last.images
        if not is_last:
            # The last text is not the last output, because a graph or another output follows it. So a new result is
            # added.
            changes.append(PartStarted(end, ending))
        changes += close_results(parts, indexes, outcome)
        if not is_last:
            changes.append(PartReplaced(end, ended))
        elif isinstance(last, CodeExecutionResult) and (ended.cleared or ended.cleared_left_out):
            changes.append(PartReplaced(indexes[-1], answer.cleared.with_texts(replace(last, outcome=outcome))))
    return changes


def close_results(parts: Sequence[Part], indexes: Iterable[int], outcome: str) -> Iterator[PartReplaced]:
    """Yield the changes that give the results at these indexes an outcome."""
    for index in indexes:
        part = parts[index]
        assert isinstance(part, CodeExecutionResult)
        yield PartReplaced(index, replace(part, outcome=outcome))


def _open_runs(parts: Sequence[Part]) -> list[tuple[ExecutableCode | CodeExecutionResult, list[int]]]:
    """Return each piece of code of the session that has not ended, with the indexes of its results.

    Code that already has results is represented by the first of them.
    """
    with_result = set(CodeResults(parts).code_of.values())
    # A tool may show code and no result. The code then ends with the response to the call.
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
