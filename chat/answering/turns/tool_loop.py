"""Runs the function calls of a round, one after the other, and stores their results.

The result of each call is stored before the next call runs. Before a tool runs, its call is stored as started in the
round: a call that may have run is never run again.

A person may have to approve a call before it runs, and may change its code. If `results_need_release`, the results of
calls are held back: a sentence replaces each result until a person releases it. If the turn ends before that, no later
request contains the result.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace

from chat.answering.toolbox import Toolbox
from chat.answering.turns.live_turn import AnswerTooLong, LiveTurn
from chat.answering.turns.log_writer import NotStored
from chat.answering.turns.store import TurnLost
from chat.answering.turns.tool_call import run_tool
from chat.messages.approval import CODE, with_changed_code
from chat.messages.changes import ApprovalRequested, CallDecided, Reported, ResultHeld, ToolStarted
from chat.messages.tool_sets import ToolFailed, ToolSet, results_need_release
from chat.vocabulary.parts import (
    OUTCOME_FAILED,
    OUTCOME_LOST,
    ExecutableCode,
    FunctionCall,
    FunctionResponse,
    Refusal,
)
from chat.vocabulary.sanitize import sanitize_event
from chat.vocabulary.stream_events import Finish, Finished, OutputsRedrawn, PartReceived, ToolOutput

logger = logging.getLogger(__name__)

UNKNOWN = "There is no function of this name. The functions are: {names}."
NOT_JSON = "The arguments are not a JSON object. Nothing was run."
DENIED = "The user did not allow this call. Nothing was run."
NOT_DECIDED = "Nobody allowed this call in time. Nothing was run."
WITHHELD = "The call was run, but the user has not released its result."
FAILED = "The function failed on the server."
NO_RESULT = "The function returned nothing."


class DecisionNeeded(Exception):
    """The turn has to wait until a person decides about a function call or its result."""


async def run_calls(turn: LiveTurn, toolbox: Toolbox) -> None:
    """Run the calls of the current round that have no response yet, then ask for the release of held results.

    Raises DecisionNeeded if a person must decide first; `Answer.awaited` then holds the question.
    """
    for call in turn.answer.unanswered_calls:
        tool_set = toolbox.tool_set_for(call)
        decision = turn.answer.call_decision(call.call_id)
        if tool_set is None:
            names = ", ".join(function.name for function in toolbox.functions)
            _respond_with_error(turn, call, UNKNOWN.format(names=names))
        elif call.arguments is None:
            _respond_with_error(turn, call, NOT_JSON)
        elif decision is None and tool_set.needs_approval(call):
            turn.note(ApprovalRequested(call.call_id, str(uuid.uuid4())))
            raise DecisionNeeded
        elif decision is not None and not decision.is_approved:
            sentence = NOT_DECIDED if decision.is_timeout else DENIED
            _respond_with_error(turn, call, sentence, refusal=Refusal.DENIED)
        else:
            await _run_call(turn, tool_set, call, decision)
        await turn.commit()
    held_call_id = next(iter(turn.answer.held_results), None)
    if held_call_id is not None:
        turn.note(ApprovalRequested(held_call_id, str(uuid.uuid4()), is_result=True))
        raise DecisionNeeded


async def _run_call(turn: LiveTurn, tool_set: ToolSet, call: FunctionCall, decision: CallDecided | None) -> None:
    """Run one call, with the code that a person wrote in the decision, if any. Show its output while it runs."""
    code = decision.code if decision else None
    approved = call if code is None else replace(call, arguments={**(call.arguments or {}), CODE: code})

    def add(parts: Sequence[ToolOutput]) -> None:
        turn.add(_events(turn, _with_edit(parts, code)), made_by=call.call_id)

    turn.note(ToolStarted(call.call_id))
    await turn.commit()
    try:
        await run_tool(turn, tool_set, approved, add)
    except ToolFailed as error:
        turn.end_code(OUTCOME_FAILED)
        _respond_with_error(turn, call, str(error), code=code)
    except (AnswerTooLong, NotStored, TurnLost):
        raise
    except Exception:
        # A defect of one tool must not end the answer. The model gets an error response and may continue without it.
        logger.exception("function %s of turn %s failed", call.name, turn.turn.pk)
        turn.end_code(OUTCOME_LOST)
        _respond_with_error(turn, call, FAILED, code=code)
    else:
        turn.end_code(OUTCOME_LOST)
        if call in turn.answer.unanswered_calls:
            _respond_with_error(turn, call, NO_RESULT, code=code)


def _with_edit(parts: Sequence[ToolOutput], code: str | None) -> list[ToolOutput]:
    """Return the parts of a call.

    If a person has changed the code of the call, its parts are marked: the page shows that it was edited, and the
    result has a note for the model.
    """
    if code is None:
        return list(parts)
    return [
        replace(part, is_edited=True)
        if isinstance(part, ExecutableCode)
        else replace(part, result=with_changed_code(part.result, code))
        if isinstance(part, FunctionResponse)
        else part
        for part in parts
    ]


def _events(turn: LiveTurn, parts: Sequence[ToolOutput]) -> Iterator[PartReceived | OutputsRedrawn]:
    """Yield the parts of a tool as events. A result that must not be sent yet is replaced by a sentence."""
    for part in parts:
        if isinstance(part, FunctionResponse) and results_need_release(turn.turn.conversation):
            held = sanitize_event(PartReceived(part))
            assert isinstance(held, PartReceived)
            assert isinstance(held.part, FunctionResponse)
            turn.note(ResultHeld(held.part))
            yield PartReceived(FunctionResponse(part.name, {"error": WITHHELD}, part.call_id, True, Refusal.WITHHELD))
        else:
            yield part if isinstance(part, OutputsRedrawn) else PartReceived(part)


def _respond_with_error(
    turn: LiveTurn, call: FunctionCall, sentence: str, *, refusal: Refusal | None = None, code: str | None = None
) -> None:
    response = FunctionResponse(call.name, {"error": sentence}, call.call_id, is_error=True, refusal=refusal)
    if code is not None:
        response = replace(response, result=with_changed_code(response.result, code))
    turn.add([PartReceived(response)], made_by=call.call_id)


def note_round_limit(turn: LiveTurn) -> None:
    """Record that the answer ends because of `ROUNDS_LIMIT`. The provider's own finish reason does not change."""
    turn.note(Reported(Finished(Finish.ROUND_LIMIT, turn.answer.current_round.finish_reason)))
