"""Runs blocks of code of a conversation again, one after the other, in its session."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from django.conf import settings

from chat.models import Message
from chat.python.kernels.outputs import Execution, Output, Redrawn
from chat.python.sessions.errors import SessionUnavailable
from chat.python.sessions.kernel_time import check_kernel_time
from chat.python.sessions.run import run_in_held_kernel
from chat.python.sessions.session_kernel import LeasedKernel, SessionKernel, restart

WAS_DISTURBED = "Other code ran in the Python session after it was restarted. Try again."


async def run_blocks(
    message: Message,
    owner_id: int,
    codes: Sequence[str],
    *,
    is_restarted: bool,
    on_output: Callable[[Output | Redrawn], None],
    on_note: Callable[[str], None],
    on_end: Callable[[int, Execution], Awaitable[None]],
) -> Execution:
    """Run each block to its end, also after one that fails; return the result of the last block.

    The other results are not kept, because together they may be larger than the memory. The kernel is held for all
    blocks, so no other code runs between them. After a block that ends the kernel, the others run in a new one.

    `message`: the message for which the blocks run. `owner_id`: the owner of its conversation. `is_restarted`: whether
    the session is ended first, so that the blocks find no variables. `on_output`: is called on this event loop with
    each output of the last block. `on_note`: is called with each sentence of the server. `on_end`: is awaited with the
    number (from 0) and the result of each other block. Cancelling the call interrupts the code. Raises
    SessionUnavailable if the code cannot run now.
    """
    await check_kernel_time(owner_id)
    if is_restarted:
        await restart(message.conversation_id, owner_id)
    number = 0
    session_kernel = SessionKernel(message.conversation_id, owner_id)
    try:
        while True:
            async with session_kernel.hold(message_id=message.pk, on_wait=on_note) as held:
                if is_restarted and not number and held.session.message_ids:
                    raise SessionUnavailable(WAS_DISTURBED)
                while not held.loss:
                    is_last = number == len(codes) - 1
                    execution = await _run_block(held, codes[number], on_output if is_last else _ignore, on_note)
                    if is_last:
                        return execution
                    await on_end(number, execution)
                    number += 1
    finally:
        await session_kernel.aclose()


async def _run_block(
    held: LeasedKernel, code: str, on_output: Callable[[Output | Redrawn], None], on_note: Callable[[str], None]
) -> Execution:
    limit_s: float = settings.KERNEL_CELL_LIMIT_S
    result = await run_in_held_kernel(held, code, limit_s=limit_s, on_output=on_output, on_note=on_note)
    return result.execution


def _ignore(output: Output | Redrawn) -> None:
    """Do nothing: only the output of the last block is shown."""
