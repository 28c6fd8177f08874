"""A task that a cell leaves in the event loop of its kernel may block it; the kernel and its variables stay."""

from __future__ import annotations

import pytest
from channels.db import database_sync_to_async
from pytest_django import Settings

from chat.models import Conversation, PythonSession
from chat.python.kernels import client, kernel_client, request_runner
from chat.python.sessions.downloads import open_file
from chat.python.sessions.errors import SessionUnavailable
from chat.python.sessions.places import current_client
from chat.python.sessions.rows import State
from tests.chat.python.sessions.cells import run_cell
from tests.factories import make_conversation
from tests.kernel_service import kernel_state

pytestmark = pytest.mark.django_db(transaction=True)

BLOCK_THE_LOOP = """
import asyncio, threading
async def work():
    threading.Event().wait()
task = asyncio.create_task(work())
"""


async def run(conversation: Conversation, code: str) -> str:
    """Run a cell with a connection of its own; return its status."""
    return (await run_cell(conversation, code)).execution.status


async def test_task_that_blocks_the_event_loop_of_a_kernel_ends_neither_its_cell_nor_the_kernel(
    sessions: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_client, "HELD_START_LIMIT_S", 0.2)
    monkeypatch.setattr(request_runner, "INTERRUPT_GRACE_S", 0.2)
    monkeypatch.setattr(client, "INTERRUPT_GRACE_S", 0.2)
    conversation = await database_sync_to_async(make_conversation)()
    await run(conversation, "open('table.csv', 'w').write('a,b')")
    assert await run(conversation, BLOCK_THE_LOOP) == "ok"
    with pytest.raises(SessionUnavailable, match="is busy"):
        await open_file(conversation.pk, conversation.owner_id, "table.csv")
    session = await PythonSession.objects.aget(conversation=conversation)
    assert (session.state, session.note) == (State.RUNNING, kernel_client.STAYS_BUSY)
    assert [file["name"] for file in session.files] == ["table.csv"]
    assert await kernel_state(current_client(), session.kernel_id) == "idle"
