"""Runs one call of a tool set, and stores and shows its parts while it runs.

Calls of a model, and code that a person runs, use the same function. The parts of a tool set have no ids, because every
part belongs to the call that runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from chat.answering.turns.call_output import CallOutput
from chat.answering.turns.live_turn import LiveTurn
from chat.answering.turns.private_results import private_outputs
from chat.answering.turns.read_ahead import output_size, show_stream
from chat.messages.tool_sets import ToolSet
from chat.vocabulary.parts import CodeExecutionResult, ExecutableCode, FunctionCall, FunctionResponse
from chat.vocabulary.stream_events import OutputsRedrawn, ToolOutput


async def run_tool(
    turn: LiveTurn, tool_set: ToolSet, call: FunctionCall, add: Callable[[Sequence[ToolOutput]], None]
) -> None:
    """Run a call to its end. `add` adds the parts of the next frame to the turn, with limited output.

    Raises the errors of the tool set, after its last parts, and those of `LiveTurn.commit`.
    """
    output = CallOutput(turn.room_chars)

    def add_bounded(parts: Sequence[ToolOutput]) -> None:
        add([one for part in parts for one in output.bound(_with_call_id(part, call.call_id))])

    outputs = private_outputs(tool_set, call) if turn.turn.private_data else tool_set.run(call)
    await show_stream(turn, outputs, output_size, add_bounded)


def _with_call_id(part: ToolOutput, call_id: str) -> ToolOutput:
    """Return the part with the id of its call, if its kind has one."""
    match part:
        case ExecutableCode() | CodeExecutionResult() | FunctionResponse() | OutputsRedrawn():
            return replace(part, call_id=call_id)
        case _:
            return part
