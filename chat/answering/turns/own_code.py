"""Runs code of a person in the tool set of `code_tools`: a turn that asks no model.

The question contains the code as a fenced block. The answer contains the code and its results, like an answer of a
model that ran it. Later requests send both to the model as texts of the person (`chat.answering.prompt.own_code`).
"""

from __future__ import annotations

from collections.abc import Sequence

from chat.answering.code_tools import code_tools
from chat.answering.toolbox import Toolbox
from chat.answering.turns.engine_choice import NO_CODE_HERE
from chat.answering.turns.live_turn import LiveTurn
from chat.answering.turns.tool_call import run_tool
from chat.messages.approval import CODE
from chat.messages.changes import Reported
from chat.messages.tool_sets import ToolFailed
from chat.vocabulary.fences import unfence_code
from chat.vocabulary.parts import (
    OUTCOME_FAILED,
    CodeExecutionResult,
    Engine,
    ExecutableCode,
    FunctionCall,
    FunctionResponse,
)
from chat.vocabulary.stream_events import Finish, Finished, OutputsRedrawn, PartReceived, ToolOutput


async def run_own_code(turn: LiveTurn, toolbox: Toolbox) -> None:
    """Run the code of the turn's question, and store and show its output while it runs.

    If the code cannot be run, the answer says why.
    """
    code = unfence_code(turn.turn.user_message.text) or ""
    tools = code_tools()
    call = FunctionCall(tools.function if tools else "", {CODE: code}, str(turn.turn.pk))
    tool_set = toolbox.tool_set_for(call)

    def add(parts: Sequence[ToolOutput]) -> None:
        shown = (part for part in parts if not isinstance(part, FunctionResponse))
        turn.add(part if isinstance(part, OutputsRedrawn) else PartReceived(part) for part in shown)

    try:
        if tool_set is None:
            raise ToolFailed(NO_CODE_HERE)
        await run_tool(turn, tool_set, call, add)
    except ToolFailed as error:
        if not turn.answer.part_count:
            add([ExecutableCode(code, "PYTHON", call.call_id, Engine.SESSION)])
        add([CodeExecutionResult(f"{error}\n", call_id=call.call_id, engine=Engine.SESSION)])
        turn.end_code(OUTCOME_FAILED)
        await turn.commit()
    turn.note(Reported(Finished(Finish.STOP)))
