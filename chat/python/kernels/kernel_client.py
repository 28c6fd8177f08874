"""The client of one kernel: run cells, read what it contains, and exchange files with it.

Any number of clients, also of several processes, can use one kernel; it runs their cells one after another. Code
that hangs, floods its output, exits or uses too much memory ends at most its own kernel. `execute` returns a few
seconds after its time limit at the latest; waiting for a cell of another client has the same limit.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Mapping, Sequence
from types import TracebackType
from typing import Self

from chat.python.kernels import file_transfer
from chat.python.kernels.errors import KernelGone, KernelsUnavailable
from chat.python.kernels.in_kernel.table_source import Choices
from chat.python.kernels.kernel_api import KernelApi
from chat.python.kernels.kernel_contents import (
    ANSWER_LIMIT_CHARS,
    KernelContents,
    parse_contents,
    parse_description,
    parse_filtered,
)
from chat.python.kernels.kernel_program import ProgramFailed, load_program, parse_answer, program_content
from chat.python.kernels.kernel_websocket import KernelWebSocket
from chat.python.kernels.limit_sentences import limit_of, limit_sentence
from chat.python.kernels.outputs import ErrorOutput, Execution, ExecutionStatus, Output, Redrawn, merge_adjacent_text
from chat.python.kernels.pending_execution import PendingExecution
from chat.python.kernels.request_runner import End, RequestRunner
from chat.python.kernels.table_reading import ANSWER_LIMIT_CHARS as READING_LIMIT_CHARS
from chat.python.kernels.table_reading import SHEETS_LIMIT_CHARS, TableReading, parse_sheet_text, parse_table_reading

logger = logging.getLogger(__name__)

PROGRAM_LIMIT_S = 20.0
"""Time limit of a program inside the kernel, such as reading the contents or one piece of a file."""
HELD_START_LIMIT_S = 4.0
"""Maximum time until a kernel that runs no cell begins to read its contents. Tasks that a cell has left in the kernel's
event loop may delay this without limit, and no interrupt reaches them."""
IS_BUSY = "The Python session is busy. Try again when its code has ended."
STAYS_BUSY = "Code that a cell has left running keeps the Python session busy, so it does not say what it contains."
PRIVATE_LIMIT_S = 60.0
"""Time limit of reading private files."""
SIZES_LIMIT_S = 5.0
"""Time limit of reading the sizes of limits, after a cell has exceeded one."""
_PROBE_INTERVAL_S = 0.5
_PROBES_UNTIL_CHECK = 2

_ERROR_NAMES = {
    ExecutionStatus.TIMEOUT: "TimeoutError",
    ExecutionStatus.FAILED: "OutputLimit",
    ExecutionStatus.DIED: "KernelDied",
}


class KernelClient:
    """The client of a live kernel, which `JupyterClient.connect` creates. `close` leaves the kernel running."""

    def __init__(
        self, connection: KernelWebSocket, api: KernelApi, begin_shut_down: Callable[[], asyncio.Task[None]]
    ) -> None:
        """Use `JupyterClient.connect` instead. `begin_shut_down` ends the kernel in a task of the client."""
        self._connection = connection
        self._requests = RequestRunner(connection, api, begin_shut_down)

    async def __aenter__(self) -> Self:
        """Return the client itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the connection."""
        await self.close()

    @property
    def is_alive(self) -> bool:
        """Whether the kernel runs and can be reached, so that its variables exist."""
        return self._requests.is_alive

    @property
    def process_id(self) -> str:
        """ID that Jupyter gives to the kernel's process; a restarted kernel has another one."""
        return self._connection.kernel_session

    async def close(self) -> None:
        """Close the connection; cells that were cancelled stop first. May be called again."""
        await self._requests.close()

    async def wait_until_ready(self, limit_s: float) -> bool:
        """Wait until the kernel has answered a request on both channels; return whether it did within the limit."""
        probes: list[PendingExecution] = []
        try:
            async with asyncio.timeout(limit_s):
                while not any(probe.reply.done() and probe.idle_status.done() for probe in probes):
                    # Repeat the request: if the subscription to outputs begins late, the idle status is lost.
                    probes.append(PendingExecution())
                    await self._connection.send("shell", "kernel_info_request", {}, probes[-1])
                    await asyncio.wait({probes[-1].completion}, timeout=_PROBE_INTERVAL_S)
                    if len(probes) > _PROBES_UNTIL_CHECK:
                        await self._requests.check_alive()
                    if not self._connection.is_open:
                        return False
        except TimeoutError:
            return False
        finally:
            for probe in probes:
                self._connection.forget(probe)
        return True

    async def prepare(self) -> None:
        """Run `in_kernel.kernel_start` in a new kernel. Raises ProgramFailed, and the errors of `contents`."""
        await self._run_program("kernel_start")

    async def execute(
        self,
        code: str,
        *,
        limit_s: float = 60.0,
        on_output: Callable[[Output | Redrawn], None] | None = None,
    ) -> Execution:
        """Run one cell to its end; a second call waits for the first. Errors of the code are not raised.

        `on_output` is called on this event loop with each output on arrival, before adjacent texts are merged. If it
        raises an error, the cell is stopped and the error is raised. After `limit_s` the cell is interrupted and the
        variables stay. If the cell does not stop within 5 s, the kernel is shut down. Both have the status `timeout`;
        `is_alive` distinguishes them. Cancelling the call interrupts the cell.
        """
        content = {
            "code": code,
            "silent": False,
            "store_history": True,
            "user_expressions": {},
            "allow_stdin": False,
            # With `stop_on_error` the kernel would abort a request that arrives soon after a failed one.
            "stop_on_error": False,
        }
        request = PendingExecution(on_output)
        start_s = time.monotonic()
        end = await self._requests.run(content, request, limit_s)
        duration_s = time.monotonic() - start_s
        status = await self._report_end(end, request, limit_s)
        if request.error is not None:
            raise request.error
        outputs = merge_adjacent_text(request.reader.outputs)
        return Execution(status, outputs, duration_s, request.reader.is_truncated)

    async def contents(self, *, is_held: bool = False) -> KernelContents:
        """Return the variables and files of the kernel. No value of a variable can make it fail.

        Waits for the cell that this connection runs. `is_held`: whether no other connection runs code. Then the
        contents are returned with an error if the kernel does not begin to read them within 4 s. Raises KernelGone if
        the kernel has ended, KernelsUnavailable if another connection's cell does not end.
        """
        start_limit_s = HELD_START_LIMIT_S if is_held else None
        try:
            return parse_contents(await self._run_program("variables", "contents", start_limit_s=start_limit_s))
        except KernelsUnavailable:
            if not is_held:
                raise
            return KernelContents(error=STAYS_BUSY)
        except ProgramFailed:
            return KernelContents(error="The Python session does not say what it contains.")

    async def variable(self, name: str) -> str:
        """Return a longer description of one variable, or a sentence if it does not exist or cannot be described.

        Raises the errors of `contents`. The text may come from code of the variable's class.
        """
        try:
            text = parse_description(await self._run_program("variables", "describe", name))
        except ProgramFailed:
            return f"The value of {name} cannot be described."
        return text or f"There is no variable {name} in the Python session."

    async def without_cells(self, texts: Sequence[str], files: Mapping[str, str], *, known: str = "") -> list[str]:
        """Return the texts, in the same order, with cells of private files replaced by labels. Never raises.

        `files`: the versions of the private files, by their names in the working directory. A version is read at the
        first call that names it, so make a call without texts before code can change the file. `known`: text that the
        model has written or was sent, such as the code; its words and numbers are not hidden. Each text of a cell has
        one label, such as `[text 3]`, as long as the kernel lives. A notice in brackets replaces a text that cannot be
        filtered.
        """
        versions = json.dumps(dict(files))
        try:
            answer = await self._run_program("private_texts", versions, json.dumps([*texts]), known)
            if not answer:
                await self._run_program("private_filter", versions, limit_s=PRIVATE_LIMIT_S)
                answer = await self._run_program("private_texts", versions, json.dumps([*texts]), known)
        except (ProgramFailed, KernelGone, KernelsUnavailable) as failure:
            logger.warning("Texts could not be filtered: %s", failure)
            answer = {}
        return parse_filtered(answer, len(texts))

    async def read_table(self, name: str, choices: Choices, *, limit_s: float) -> TableReading:
        """Return the description of the table in a file of the working directory. Raises the same errors as `contents`.

        `choices`: the choices of a person about how it is read.
        """
        try:
            answer = await self._run_program(
                "tables", name, json.dumps(choices), limit_s=limit_s, limit_chars=READING_LIMIT_CHARS
            )
        except ProgramFailed as failure:
            # The program was interrupted after the time limit, or it failed because the file is of an unexpected kind.
            is_late = str(failure).startswith("KeyboardInterrupt")
            logger.warning("A table file could not be described: %s", failure)
            error = "reading it takes too long." if is_late else "its content is not understood."
            return TableReading(error=error, is_lasting=not is_late)
        return parse_table_reading(answer)

    async def sheet_text(self, name: str, *, limit_s: float) -> str:
        """Return the cells of a workbook as lines; empty for other or too large files. Raises errors of `contents`."""
        try:
            answer = await self._run_program("sheet_texts", name, limit_s=limit_s, limit_chars=SHEETS_LIMIT_CHARS)
        except ProgramFailed:
            return ""
        return parse_sheet_text(answer)

    async def write_file(self, name: str, chunks: AsyncIterable[bytes]) -> str:
        """Write a file into the working directory and return its name there, the label of `name` (see `file_labels`).

        A file of that name is replaced once the last chunk is written. Raises ValueError with a sentence if it cannot
        be written, for example because the kernel has no room for it; KernelGone, KernelsUnavailable.
        """
        return await file_transfer.write_file(self._run_program, self._requests.run_in_background, name, chunks)

    def read_file(self, name: str) -> AsyncGenerator[bytes, None]:
        """Yield a file in pieces. Raises FileNotFoundError if it is missing or changes, and errors of `contents`."""
        return file_transfer.read_file(self._run_program, name)

    async def _run_program(
        self,
        module: str,
        *arguments: object,
        limit_chars: int = ANSWER_LIMIT_CHARS,
        limit_s: float | None = None,
        start_limit_s: float | None = None,
    ) -> Mapping[str, object]:
        """Run `main` of a module of `in_kernel` and return its result. Without `limit_s` the limit is PROGRAM_LIMIT_S.

        `start_limit_s`: the maximum delay by other code; by default `limit_s`. Raises ProgramFailed, KernelGone,
        KernelsUnavailable if other code delays it for longer.
        """
        await load_program(module)
        content = program_content(module, *arguments)
        request = PendingExecution()
        if limit_s is None:
            limit_s = PROGRAM_LIMIT_S
        end = await self._requests.run(content, request, limit_s, start_limit_s=start_limit_s, interrupts_others=False)
        if not self.is_alive:
            raise KernelGone(self._requests.death_sentence)
        if end is End.LATE and not request.start.done():
            raise KernelsUnavailable(IS_BUSY)
        return parse_answer(request.reply_content, limit_chars)

    async def _limit_sizes(self) -> Mapping[str, object]:
        """Return the sizes of the kernel's limits, or an empty mapping if they cannot be read now."""
        try:
            return await self._run_program("limits", limit_s=SIZES_LIMIT_S)
        except (ProgramFailed, KernelGone, KernelsUnavailable):
            return {}

    async def _report_end(self, end: End, request: PendingExecution, limit_s: float) -> ExecutionStatus:
        """Report the last outputs, with a sentence if the code was stopped or exceeded a limit. Return the status."""
        reader = request.reader
        request.report(reader.finish())
        status, reason = self._status(end, request, limit_s)
        if reason:
            request.report(reader.add(ErrorOutput(_ERROR_NAMES[status], reason, "")))
        elif (limit := limit_of(request.reply_content)) is not None:
            # Add a sentence about the limit. The traceback remains a separate output.
            sentence = limit_sentence(limit, await self._limit_sizes())
            request.report(reader.add(ErrorOutput(limit.value, sentence, "")))
            if not self.is_alive:
                status = ExecutionStatus.DIED
                request.report(reader.add(ErrorOutput(_ERROR_NAMES[status], self._requests.death_sentence, "")))
        return status

    def _status(self, end: End, request: PendingExecution, limit_s: float) -> tuple[ExecutionStatus, str]:
        """Return the status of an execution, and the reason if it was stopped."""
        death = "" if self.is_alive else f" {self._requests.death_sentence}"
        if end is End.LATE:
            return ExecutionStatus.TIMEOUT, f"The cell ran longer than {limit_s:g} s.{death}"
        if end is End.FLOODED:
            return ExecutionStatus.FAILED, f"The cell wrote too much and was stopped.{death}"
        if end is End.DAMAGED:
            return ExecutionStatus.FAILED, f"The cell sent what cannot be understood and was stopped.{death}"
        if death:
            return ExecutionStatus.DIED, death.strip()
        return (ExecutionStatus.FAILED if request.reader.has_error else ExecutionStatus.OK), ""
