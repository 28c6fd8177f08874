"""Exchange files with the working directory of a kernel, in pieces over its channel.

Neither side holds a whole file in memory. A gateway has no API for files, so the pieces travel as base64 in requests
and replies; see `in_kernel.files` for the other side.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import secrets
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Coroutine, Mapping
from typing import Protocol

from chat.python.kernels.in_kernel.file_names import shown_path
from chat.python.kernels.kernel_program import ProgramFailed
from chat.python.kernels.outputs import clean_text
from chat.vocabulary.file_labels import file_labels, is_file_path

FILE_LIMIT_BYTES = 192 * 1024 * 1024
"""Maximum size of a file that is sent to a kernel. The sandbox allows smaller files only; its kernels report an error.
"""
PIECE_BYTES = 512 * 1024
ANSWER_LIMIT_CHARS = 2 * PIECE_BYTES
_ERROR_LIMIT_CHARS = 200


class RunProgram(Protocol):
    """Runs a module of `in_kernel`, see `KernelClient`."""

    async def __call__(self, module: str, *arguments: object, limit_chars: int = ...) -> Mapping[str, object]:
        """Run the module in the kernel and return its result.

        Raises ProgramFailed if it fails, and the errors of `KernelClient.contents`.
        """


async def write_file(
    run_program: RunProgram,
    run_in_background: Callable[[Coroutine[None, None, None]], None],
    name: str,
    chunks: AsyncIterable[bytes],
) -> str:
    """Write a file into the working directory; see `KernelClient.write_file`."""
    (label,) = file_labels([name])
    token = secrets.token_hex(8)
    offset = 0

    async def run(operation: str, *arguments: object) -> None:
        answer = await run_program("files", operation, *arguments)
        if "error" in answer:
            raise ProgramFailed(clean_text(answer["error"])[:_ERROR_LIMIT_CHARS])

    async def drop_unfinished_file() -> None:
        # An error here must not hide the first error, which is raised to the caller.
        with contextlib.suppress(Exception):
            await run_program("files", "drop_file", token)

    try:
        async for piece in _split(chunks):
            if offset + len(piece) > FILE_LIMIT_BYTES:
                raise ValueError(f"{label} is too large for a Python session: more than {FILE_LIMIT_BYTES:,} bytes.")
            await run("write_piece", token, offset, base64.b64encode(piece).decode())
            offset += len(piece)
        await run("finish_file", token, label)
    except ProgramFailed as error:
        await drop_unfinished_file()
        raise ValueError(f"{label} could not be written into the Python session: {error}.") from error
    except BaseException:
        # The task is cancelled, so it cannot wait for this.
        run_in_background(drop_unfinished_file())
        raise
    return label


async def read_file(run_program: RunProgram, name: str) -> AsyncGenerator[bytes, None]:
    """Read a file of the working directory up to the size that it has at first; see `KernelClient.read_file`."""
    if not is_file_path(name):
        raise FileNotFoundError(f"There is no file {shown_path(name)} in the Python session.")
    offset = 0
    first: Mapping[str, object] = {}
    while not first or offset < _natural(first.get("size")):
        size = min(PIECE_BYTES, _natural(first.get("size")) - offset) if first else PIECE_BYTES
        try:
            answer = await run_program("files", "read_piece", name, offset, size, limit_chars=ANSWER_LIMIT_CHARS)
            piece = base64.b64decode(str(answer.get("data", "")), validate=True)
        except (ProgramFailed, binascii.Error) as error:
            raise FileNotFoundError(f"The file {name} in the Python session cannot be read.") from error
        if "error" in answer:
            raise FileNotFoundError(f"There is no file {name} in the Python session.")
        first = first or answer
        is_changed = answer.get("identity") != first.get("identity") or not piece
        if (is_changed and offset < _natural(first.get("size"))) or len(piece) > size:
            raise FileNotFoundError(f"The file {name} changed while it was read.")
        offset += len(piece)
        if piece:
            yield piece


async def _split(chunks: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    """Yield the same bytes in pieces of a fixed size; one empty piece if there are none."""
    buffer = bytearray()
    is_empty = True
    async for chunk in chunks:
        # A view, because slices of a large chunk would copy it again for every piece.
        view = memoryview(chunk)
        while view:
            taken = view[: PIECE_BYTES - len(buffer)]
            buffer += taken
            view = view[len(taken) :]
            if len(buffer) == PIECE_BYTES:
                is_empty = False
                yield bytes(buffer)
                buffer.clear()
    if buffer or is_empty:
        yield bytes(buffer)


def _natural(value: object) -> int:
    return value if isinstance(value, int) and value >= 0 else 0
