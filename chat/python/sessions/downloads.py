"""Reads files that code has written, as streams of bytes."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator

from chat.python.kernels.client import KernelClient
from chat.python.kernels.errors import KernelGone, KernelsUnavailable
from chat.python.sessions.errors import SessionUnavailable
from chat.python.sessions.session_kernel import SessionKernel

WAIT_LIMIT_S = 10.0
"""Maximum time that the read of one piece waits for running code.

The lease is held only while a piece is read, so that code never waits for a slow client.
"""


async def open_file(conversation_id: uuid.UUID, owner_id: int | None, name: str) -> AsyncGenerator[bytes, None]:
    """Return a generator of the file's bytes. It must be closed.

    The first piece is read before this returns, so that these errors are raised here: FileNotFoundError, NotRunning if
    there is no kernel, SessionUnavailable if the kernel cannot be used now.
    """
    pieces = _read_pieces(conversation_id, owner_id, name)
    try:
        first = await anext(pieces, b"")
    except BaseException:
        await pieces.aclose()
        raise
    return _chain(first, pieces)


async def _chain(first: bytes, pieces: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    try:
        yield first
        async for piece in pieces:
            yield piece
    finally:
        await pieces.aclose()


async def _read_pieces(conversation_id: uuid.UUID, owner_id: int | None, name: str) -> AsyncGenerator[bytes, None]:
    session_kernel = SessionKernel(conversation_id, owner_id)
    kernel: KernelClient | None = None
    pieces: AsyncGenerator[bytes, None] | None = None
    try:
        while True:
            async with session_kernel.hold(starts=False, wait_limit_s=WAIT_LIMIT_S) as held:
                if pieces is None:
                    kernel = held.kernel
                    pieces = kernel.read_file(name)
                elif held.kernel is not kernel:
                    raise FileNotFoundError(f"The file {name} was lost while it was read.")
                try:
                    piece = await anext(pieces, None)
                except (KernelGone, KernelsUnavailable) as error:
                    raise SessionUnavailable(str(error)) from error
            if piece is None:
                return
            yield piece
    finally:
        if pieces is not None:
            await pieces.aclose()
        await session_kernel.aclose()
