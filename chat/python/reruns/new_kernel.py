"""Runs blocks of code in a new kernel, which ends afterwards. The session and its variables do not change."""

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
    """Return the sentence for blocks that together took longer than the limit."""
    return TOOK_TOO_LONG.format(number=f"{settings.TURN_LIMIT_S:g}")


async def run_in_new_kernel(
    owner_id: int,
    blocks: Sequence[CodeBlock],
    files: Sequence[SessionFile],
    on_end: Callable[[CodeBlock, Execution], Awaitable[None]],
) -> None:
    """Run all blocks, also after one that fails. After one that ends the kernel, the others run in another kernel.

    `owner_id`: the person whose quota counts. `files`: are written into the working directory. `on_end`: is awaited
    with the result of each block. Raises KernelGone if the kernel ends while files are written, KernelsUnavailable if
    none can be started, and SessionUnavailable if a file cannot be written or the quota is used up.
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
