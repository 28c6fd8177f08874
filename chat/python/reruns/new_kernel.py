"""Runs blocks of code in a kernel of their own, which ends afterwards. The session keeps its variables."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence

from django.conf import settings

from chat.python.kernels.outputs import Execution
from chat.python.sessions.branch import CodeBlock
from chat.python.sessions.errors import SessionUnavailable
from chat.python.sessions.files import SessionFile, place_files
from chat.python.sessions.kernel_time import check_kernel_time, count_kernel_time
from chat.python.sessions.places import current_client

TOOK_TOO_LONG = "The code was stopped after {number} seconds, the limit for all of it together."


def took_too_long() -> str:
    """Return the sentence about blocks that took longer together than they may."""
    return TOOK_TOO_LONG.format(number=f"{settings.TURN_LIMIT_S:g}")


async def run_in_new_kernel(
    owner_id: int,
    blocks: Sequence[CodeBlock],
    files: Sequence[SessionFile],
    on_end: Callable[[CodeBlock, Execution], Awaitable[None]],
) -> None:
    """Run each block, also after one that fails; after one that ends the kernel, the others run in a new one.

    `owner_id`: whose quota counts. `files`: those in the working directory. `on_end` is awaited with the results of
    each block. Raises KernelGone, KernelsUnavailable and SessionUnavailable.
    """
    left = list(blocks)
    while left:
        async with current_client().new_kernel() as kernel:
            _, problems = await place_files(kernel, files, {}, ())
            if problems:
                raise SessionUnavailable(problems[0])
            while left and kernel.is_alive:
                await check_kernel_time(owner_id)
                block = left.pop(0)
                began_at = time.monotonic()
                try:
                    execution = await kernel.execute(block.code, limit_s=settings.KERNEL_CELL_LIMIT_S)
                finally:
                    await count_kernel_time(owner_id, time.monotonic() - began_at)
                await on_end(block, execution)
