"""Runs the functions of the Python session for one turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial

from django.conf import settings

from chat.messages.tool_sets import ToolFailed
from chat.models import Conversation, PythonSession, Turn
from chat.providers.requests import FunctionTool
from chat.python.kernels.errors import KernelGone, KernelsUnavailable
from chat.python.kernels.in_kernel.private_texts import WITHHELD
from chat.python.sessions import control
from chat.python.sessions.branch import OTHER_VERSION, has_run_other_version
from chat.python.sessions.contents_columns import contents_columns
from chat.python.sessions.errors import SessionUnavailable
from chat.python.sessions.files import files_to_place, session_files
from chat.python.sessions.losses import note_if_lost
from chat.python.sessions.outcomes import OUTCOMES
from chat.python.sessions.rows import State, abandon_cell, find_session, session_store
from chat.python.sessions.run import CellResult, run_in_held_kernel
from chat.python.sessions.session_kernel import NotRunning, SessionKernel
from chat.python.table_readings.placed_tables import placed_expressions
from chat.python.tool_set.arguments import RunArguments, read_run_arguments, read_variable_name
from chat.python.tool_set.code_run import CodeRun
from chat.python.tool_set.declarations import (
    INSPECT_VARIABLE,
    LIST_FILES,
    LIST_VARIABLES,
    RESET_SESSION,
    RUN_PYTHON,
    declarations,
    run_python_beside_native,
)
from chat.python.tool_set.outputs import OutputParts
from chat.python.tool_set.private_texts import private_texts, with_texts
from chat.python.tool_set.responses import cell_response, fitting_items
from chat.python.tool_set.state_text import running_state_text, stopped_state_text
from chat.vocabulary.bounded_output import shortened
from chat.vocabulary.parts import (
    OUTCOME_FAILED,
    Engine,
    ExecutableCode,
    FunctionCall,
    FunctionResponse,
    JSONObject,
)
from chat.vocabulary.stream_events import ToolOutput

VARIABLES_LOST = "The earlier variables of the Python session are lost."
NOT_RUNNING = "No Python session is running, so there are no variables. The next call of run_python starts one."
WAS_RESET = "The Python session was ended. The next call of run_python starts a new one."
MOVED = "Code ran elsewhere at the beginning of this answer. {reason}"


class PythonSessionTools:
    """The tool set of one turn: runs the functions that its model calls."""

    def __init__(self, turn: Turn) -> None:
        """Use the session of the turn's conversation. Nothing is started or connected yet."""
        self._turn = turn
        self._is_beside_native = turn.engine == Engine.NATIVE
        """Whether the model runs code at its own service, and may also use the session."""
        self._has_run = False
        self._kernel = SessionKernel(turn.conversation_id, turn.conversation.owner_id)

    def declarations(self) -> Sequence[FunctionTool]:
        """Return the session's functions; `run_python` alone if the model runs code at its service."""
        if self._is_beside_native:
            return [run_python_beside_native(settings.KERNEL_CELL_LIMIT_S)]
        return declarations(settings.KERNEL_CELL_LIMIT_S)

    def needs_approval(self, call: FunctionCall) -> bool:
        """Return whether the call runs code, and the conversation is set to ask the user before code runs."""
        return call.name == RUN_PYTHON and self._turn.conversation.approval == Conversation.Approval.ASK

    async def run(self, call: FunctionCall) -> AsyncGenerator[list[ToolOutput], None]:
        """Run the code of `run_python`, or another function. Raises ToolFailed if the call cannot be carried out."""
        self._has_run = True
        arguments = call.arguments or {}
        if call.name == RUN_PYTHON:
            read = read_run_arguments(arguments, settings.KERNEL_CELL_LIMIT_S)
            # Close the inner generator together with this one, which interrupts the code.
            async with aclosing(self._run_code(call, read)) as outputs:
                async for parts in outputs:
                    yield parts
            return
        try:
            result = await self._call(call)
        except NotRunning:
            result = {"note": NOT_RUNNING}
        except (SessionUnavailable, KernelsUnavailable, KernelGone) as error:
            raise ToolFailed(str(error)) from error
        yield [FunctionResponse(call.name, result)]

    async def private_response(self, call: FunctionCall, response: FunctionResponse) -> FunctionResponse:
        """Return the response without cells of the files. The kernel filters each text. See `KeepsDataPrivate`."""
        texts = private_texts(response.result)
        if not texts:
            return response
        # Words that the model has written, or the user has written to it, are not withheld.
        known = self._turn.user_message.text, *map(str, (call.arguments or {}).values())
        try:
            async with self._kernel.hold(starts=False) as held:
                filtered = await held.without_cells(texts, known="\n".join(known))
        except (NotRunning, SessionUnavailable, KernelsUnavailable, KernelGone):
            filtered = [WITHHELD for _ in texts]
        return replace(response, result=with_texts(response.result, filtered))

    async def state(self, *, with_data: bool) -> str:
        """Return a text about the session's variables and files; empty if the turn does not use the session."""
        if self._is_beside_native and not self._has_run:
            # A turn begins at the model's service only if no session is running, so there is no state.
            return ""
        session, state = await session_store.run(self._read_state, with_data=with_data)
        if session is not None and not self._has_run and await note_if_lost(session):
            _, state = await session_store.run(self._read_state, with_data=with_data)
        return state

    async def abandon(self) -> None:
        """Mark the turn's cell as abandoned, so that the next cell or the reaper interrupts it."""
        await session_store.run(abandon_cell, self._turn.message_id)

    async def aclose(self) -> None:
        """Close the connection to the kernel. The kernel goes on."""
        await self._kernel.aclose()

    # --- running code -------------------------------------------------------------------------------------------------

    async def _run_code(self, call: FunctionCall, arguments: RunArguments) -> AsyncGenerator[list[ToolOutput], None]:
        run = CodeRun(partial(self._run_cell, arguments))
        outputs = run.outputs
        yield [ExecutableCode(arguments.code, "PYTHON", engine=Engine.SESSION)]
        try:
            async with aclosing(run.parts()) as lists:
                async for parts in lists:
                    yield parts
        except SessionUnavailable as error:
            outputs.add_note(str(error))
            yield [
                *outputs.take(),
                outputs.final_result(OUTCOME_FAILED),
                FunctionResponse(call.name, {"error": str(error)}, is_error=True),
            ]
            return
        rest = outputs.take()
        # In a thread, because converting large HTML to text takes time.
        result = run.result
        response = await asyncio.to_thread(cell_response, result, outputs.graph_count)
        yield [
            *rest,
            outputs.final_result(
                OUTCOMES[result.execution.status], result.written_files, result.table_changes, result.missing_cells
            ),
            FunctionResponse(call.name, response),
        ]

    async def _run_cell(self, arguments: RunArguments, outputs: OutputParts) -> CellResult:
        async with self._kernel.hold(message_id=self._turn.message_id, on_wait=outputs.add_note) as held:
            return await run_in_held_kernel(
                held,
                arguments.code,
                limit_s=arguments.limit_s,
                on_output=outputs.add,
                on_note=outputs.add_note,
                is_private=self._turn.private_data,
            )

    # --- the other functions ------------------------------------------------------------------------------------------

    async def _call(self, call: FunctionCall) -> JSONObject:
        if call.name == INSPECT_VARIABLE:
            return await self._inspect_variable(read_variable_name(call.arguments or {}))
        # The other functions have no arguments. If a model sends some, they are ignored.
        functions = {LIST_VARIABLES: self._list_variables, LIST_FILES: self._list_files, RESET_SESSION: self._reset}
        return await functions[call.name]()

    async def _list_variables(self) -> JSONObject:
        session = await self._refreshed()
        variables, left_out = fitting_items(session.variables)
        result: JSONObject = {"execution_count": session.execution_count, "variables": variables}
        return result | {"variables_left_out": left_out} if left_out else result

    async def _inspect_variable(self, name: str) -> JSONObject:
        async with self._kernel.hold(starts=False) as held:
            return {"name": name, "description": shortened(await held.kernel.variable(name))}

    async def _list_files(self) -> JSONObject:
        try:
            session = await self._refreshed()
        except NotRunning:
            if self._turn.private_data:
                raise
            return {"files": [], "note": await self.state(with_data=True)}
        readings = await session_store.run(placed_expressions, session.placed_files)
        files, left_out = fitting_items([_with_reading(file, readings) for file in session.files])
        return {"files": files, "files_left_out": left_out} if left_out else {"files": files}

    async def _reset(self) -> JSONObject:
        session = await session_store.run(find_session, self._turn.conversation_id)
        await self._kernel.aclose()
        if session is None or not await control.end(session, ""):
            raise NotRunning
        return {"note": WAS_RESET}

    async def _refreshed(self) -> PythonSession:
        """Return the session with its kernel's present variables and files. Raises NotRunning if it has no kernel."""
        async with self._kernel.hold(starts=False) as held:
            held.columns |= contents_columns(await held.kernel.contents())
            for name, value in held.columns.items():
                setattr(held.session, name, value)
            return held.session

    # --- state --------------------------------------------------------------------------------------------------------

    def _read_state(self, *, with_data: bool) -> tuple[PythonSession | None, str]:
        """Return the session, and the text about its state. Runs on a database thread."""
        session = find_session(self._turn.conversation_id)
        return session, self._state_text(session, with_data=with_data)

    def _state_text(self, session: PythonSession | None, *, with_data: bool) -> str:
        in_project = self._turn.conversation.project_id is not None
        found = session_files(self._turn.conversation_id, in_project=in_project)
        files = [file for file in found if with_data or not file.is_kept]
        sentences = [MOVED.format(reason=self._turn.move_reason)] if self._turn.move_reason else []
        if session is None or session.state != State.RUNNING:
            sentences += [_note(session, with_data=with_data)] if session else []
            return stopped_state_text(labels=[file.label for file in files], sentences=sentences)
        sentences.append(_note(session, with_data=with_data))
        if has_run_other_version(session):
            sentences.append(OTHER_VERSION)
        present = {str(file["name"]) for file in session.files}
        to_come = [file.label for file in files_to_place(files, session.placed_files, present)]
        return running_state_text(
            session.variables if with_data else [],
            session.files if with_data else [],
            session.execution_count,
            labels=to_come,
            sentences=sentences,
        )


def _note(session: PythonSession, *, with_data: bool) -> str:
    """Return why the last kernel has ended. `with_data`: whether the text may quote data, as the stored reason may."""
    return session.note if with_data or not session.note else VARIABLES_LOST


def _with_reading(file: JSONObject, readings: Mapping[str, str]) -> JSONObject:
    """Return a file with the expression that reads its table, if there is one."""
    code = readings.get(str(file["name"]))
    return file | {"read_as": code} if code else file
