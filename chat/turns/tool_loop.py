"""Running the function calls of a round, one after the other, and storing their results.

The result of each call is stored before the next call runs. Before a tool runs, its call is stored as started in the
round: a call that may have run is never run again.
"""

from __future__ import annotations

import logging
from contextlib import aclosing

from chat.answers.changes import ApprovalRequested, Reported
from chat.parts import FunctionCall, FunctionResponse
from chat.stream_events import Finish, Finished, PartReceived
from chat.tools.base import ToolFailed, ToolSet
from chat.tools.toolbox import Toolbox
from chat.turns.live_turn import AnswerTooLong, LiveTurn, NotStored
from chat.turns.store import TurnLost

logger = logging.getLogger(__name__)

UNKNOWN = "There is no function of this name. The functions are: {names}."
NOT_JSON = "The arguments are not a JSON object. Nothing was run."
DENIED = "The user did not allow this call. Nothing was run."
FAILED = "The function failed on the server."
NO_RESULT = "The function returned nothing."


class DecisionNeeded(Exception):
    """The turn has to wait until a person decides about a function call."""


async def run_calls(turn: LiveTurn, toolbox: Toolbox) -> None:
    """Run the calls of the current round that have no response yet.

    Raises DecisionNeeded at a call that a person must approve; `Answer.awaited_call` is then the id of this call.
    """
    for call in turn.answer.unanswered_calls:
        tool_set = toolbox.tool_set_for(call)
        if tool_set is None:
            names = ", ".join(function.name for function in toolbox.functions)
            _respond_with_error(turn, call, UNKNOWN.format(names=names))
        elif call.arguments is None:
            _respond_with_error(turn, call, NOT_JSON)
        elif turn.answer.decisions.get(call.call_id) is False:
            _respond_with_error(turn, call, DENIED)
        elif tool_set.needs_approval(call) and call.call_id not in turn.answer.decisions:
            turn.note(ApprovalRequested(call.call_id))
            raise DecisionNeeded
        else:
            await _run_call(turn, tool_set, call)
        await turn.commit()


async def _run_call(turn: LiveTurn, tool_set: ToolSet, call: FunctionCall) -> None:
    """Run one call, and show its output while it runs."""
    turn.start_tool(call.call_id)
    await turn.commit()
    try:
        async with aclosing(tool_set.run(call)) as outputs:
            async for parts in outputs:
                turn.add((PartReceived(part) for part in parts), made_by=call.call_id)
                await turn.commit()
                await turn.wait_for_next_frame()
    except ToolFailed as error:
        _respond_with_error(turn, call, str(error))
    except (AnswerTooLong, NotStored, TurnLost):
        raise
    except Exception:
        # A defect of one tool must not end the answer. The model gets an error response and may continue without it.
        logger.exception("function %s of turn %s failed", call.name, turn.turn.pk)
        _respond_with_error(turn, call, FAILED)
    else:
        if call in turn.answer.unanswered_calls:
            _respond_with_error(turn, call, NO_RESULT)


def _respond_with_error(turn: LiveTurn, call: FunctionCall, sentence: str) -> None:
    response = FunctionResponse(call.name, {"error": sentence}, call.call_id, is_error=True)
    turn.add([PartReceived(response)], made_by=call.call_id)


def note_round_limit(turn: LiveTurn) -> None:
    """Record that the answer ends because of `ROUNDS_LIMIT`. The provider's own finish reason does not change."""
    turn.note(Reported(Finished(Finish.ROUND_LIMIT, turn.answer.current_round.finish_reason)))
