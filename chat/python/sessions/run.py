"""Runs one cell in the session of a conversation."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from chat.messages.files_of_code import written_between
from chat.python.kernels.errors import KernelGone, KernelsUnavailable
from chat.python.kernels.kernel_contents import KernelContents
from chat.python.kernels.outputs import ErrorOutput, Execution, Output, Redrawn
from chat.python.sessions.contents_columns import contents_columns, files_as_json
from chat.python.sessions.errors import SessionUnavailable
from chat.python.sessions.files import place_files, session_files
from chat.python.sessions.kernel_time import check_kernel_time
from chat.python.sessions.rows import session_store
from chat.python.sessions.session_kernel import LeasedKernel
from chat.vocabulary.parts import JSONObject, WrittenFile

SETTLE_LIMIT_S = 20.0
"""Maximum time to wait for a cancelled cell. The kernel client ends a kernel sooner if its code does not stop."""

STARTED_ANEW = "A new Python session was started. {note}"


@dataclass(frozen=True, slots=True)
class CellResult:
    """The result of running a cell."""

    execution: Execution
    notes: tuple[str, ...]
    """Sentences for the user and the model, such as why earlier variables are lost."""
    written_files: tuple[WrittenFile, ...] = ()
    """Files in the working directory that the code has written."""
    table_changes: tuple[str, ...] = ()
    """Sentences about the tables that the code has changed."""
    missing_cells: tuple[str, ...] = ()
    """Sentences about missing cells in columns that the code names, of tables that earlier code made."""


@dataclass(slots=True)
class _Notes:
    on_note: Callable[[str], None]
    sentences: list[str] = field(default_factory=list)

    def add(self, sentence: str) -> None:
        self.sentences.append(sentence)
        self.on_note(sentence)


async def run_in_held_kernel(
    held: LeasedKernel,
    code: str,
    *,
    limit_s: float,
    on_output: Callable[[Output | Redrawn], None],
    on_note: Callable[[str], None],
    is_private: bool = False,
) -> CellResult:
    """Run a cell to its end in a held kernel, which gets the files of the conversation first if needed.

    `on_output`, `on_note`: get each output and each sentence on arrival, on this event loop. `is_private`: whether the
    output will be filtered for the model. Cancelling the call interrupts the cell. If the kernel ends, `held.loss` is
    set. Raises SessionUnavailable if the code cannot run now.
    """
    await check_kernel_time(held.session.owner_id)
    notes = _begin_notes(held, on_note)
    try:
        before = await _place_files(held, notes)
        if is_private:
            # The filter reads the files before the code can change them.
            await held.without_cells([])
        began_at = time.monotonic()
        try:
            execution = await held.kernel.execute(code, limit_s=limit_s, on_output=on_output)
        finally:
            held.run_s += time.monotonic() - began_at
        if not held.kernel.is_alive:
            held.loss = _reason_of_end(execution)
            return CellResult(execution, tuple(notes.sentences))
        after = await _read_contents(held)
    except (KernelGone, KernelsUnavailable) as error:
        if isinstance(error, KernelGone):
            held.loss = str(error)
        raise SessionUnavailable(str(error)) from error
    except asyncio.CancelledError:
        await _settle(held)
        raise
    written = written_between(before, files_as_json(after))
    return CellResult(execution, tuple(notes.sentences), written, after.changes, after.missing_cells)


def _begin_notes(held: LeasedKernel, on_note: Callable[[str], None]) -> _Notes:
    """Return the notes of a cell. They begin with the reason why the session is new, if no code has run in it."""
    notes = _Notes(on_note)
    if held.session.note and not held.session.message_ids and "note" not in held.columns:
        notes.add(STARTED_ANEW.format(note=held.session.note))
    held.columns["note"] = ""
    return notes


async def _place_files(held: LeasedKernel, notes: _Notes) -> Sequence[JSONObject]:
    """Write the conversation's files into the kernel if needed; return all files of the kernel afterwards."""
    assert held.session.conversation_id is not None, "it was opened for a conversation"
    files = await session_store.run(session_files, held.session.conversation_id)
    known: Sequence[JSONObject] = held.columns.get("files", held.session.files)
    before: Mapping[str, str] = held.columns.get("placed_files", held.session.placed_files)
    placed, problems = await place_files(held.kernel, files, before, {str(file["name"]) for file in known})
    held.columns["placed_files"] = placed
    for problem in problems:
        notes.add(problem)
    if placed == before:
        return known
    # Read the times of the new files: by these, changes that the code makes are noticed.
    contents = await held.kernel.contents(is_held=True)
    return known if contents.error else files_as_json(contents)


async def _read_contents(held: LeasedKernel) -> KernelContents:
    """Read the variables and files of the kernel, also into the columns to be stored."""
    contents = await held.kernel.contents(is_held=True)
    held.columns |= contents_columns(contents)
    return contents


async def _settle(held: LeasedKernel) -> None:
    """Wait until the kernel is idle after a cancelled cell, and read its variables and files."""
    try:
        async with asyncio.timeout(SETTLE_LIMIT_S):
            await _read_contents(held)
    except KernelGone as gone:
        held.loss = str(gone)
    except (KernelsUnavailable, TimeoutError):
        # The row stays as it is. The next cell notices whether the kernel still lives.
        pass


def _reason_of_end(execution: Execution) -> str:
    reasons = [output.value for output in execution.outputs if isinstance(output, ErrorOutput)]
    return reasons[-1] if reasons else "The Python session has ended. Its variables are lost."
