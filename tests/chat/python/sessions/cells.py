"""Runs single cells, as the tool set does."""

from __future__ import annotations

import uuid
from collections.abc import Callable

from chat.models import Conversation
from chat.python.kernels.outputs import Output, Redrawn
from chat.python.sessions.run import CellResult, run_in_held_kernel
from chat.python.sessions.session_kernel import SessionKernel


async def run_cell(
    conversation: Conversation,
    code: str,
    *,
    limit_s: float = 60,
    message_id: uuid.UUID | None = None,
    on_output: Callable[[Output | Redrawn], None] = lambda output: None,
    on_note: Callable[[str], None] = lambda note: None,
) -> CellResult:
    """Run a cell with a connection of its own."""
    session_kernel = SessionKernel(conversation.pk, conversation.owner_id)
    try:
        async with session_kernel.hold(message_id=message_id, on_wait=on_note) as held:
            return await run_in_held_kernel(held, code, limit_s=limit_s, on_output=on_output, on_note=on_note)
    finally:
        await session_kernel.aclose()
