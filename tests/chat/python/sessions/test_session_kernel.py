"""The kernel of a conversation: started once, found by every process, replaced when it has gone."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pytest
from channels.db import database_sync_to_async
from pytest_django import Settings

from chat.models import Conversation, PythonSession
from chat.python.kernels.outputs import Output, Redrawn
from chat.python.sessions import session_kernel
from chat.python.sessions.downloads import open_file
from chat.python.sessions.errors import SessionUnavailable
from chat.python.sessions.leases import is_held_here
from chat.python.sessions.places import close_client, current_client
from chat.python.sessions.rows import State
from chat.python.sessions.run import CellResult
from chat.python.sessions.session_kernel import NotRunning, SessionKernel, restart
from tests.chat.python.sessions.cells import run_cell
from tests.chat.python.sessions.session_rows import make_session, soon
from tests.factories import make_conversation, make_model_message, make_user
from tests.kernel_service import kernel_state
from tests.polling import wait_until_awaited

pytestmark = pytest.mark.django_db(transaction=True)

T = TypeVar("T")


async def new_conversation() -> Conversation:
    """Create an empty conversation."""
    conversation: Conversation = await database_sync_to_async(make_conversation)()
    return conversation


def ignore(output: Output | Redrawn) -> None:
    """Do nothing with an output."""


async def run(
    conversation: Conversation,
    code: str,
    notes: list[str] | None = None,
    message_id: uuid.UUID | None = None,
    on_output: Callable[[Output | Redrawn], None] = ignore,
) -> CellResult:
    """Run a cell with a connection of its own."""
    on_note = (notes if notes is not None else []).append
    return await run_cell(conversation, code, message_id=message_id, on_output=on_output, on_note=on_note)


async def in_another_process(work: Coroutine[None, None, T]) -> T:
    """Run a coroutine on an event loop of its own, which has a client of its own as another process has."""

    async def main() -> T:
        try:
            return await work
        finally:
            await close_client()

    with ThreadPoolExecutor(1) as thread:
        return await asyncio.get_running_loop().run_in_executor(thread, asyncio.run, main())


async def session_of(conversation: Conversation) -> PythonSession:
    """Return the row as stored."""
    return await PythonSession.objects.aget(conversation=conversation)


async def test_second_process_runs_code_in_the_same_kernel(sessions: Settings) -> None:
    conversation = await new_conversation()
    await run(conversation, "x = 41")
    result = await in_another_process(run(conversation, "x += 1\nprint(x)"))
    assert result.execution.text == "42\n"
    assert (await run(conversation, "print(x)")).execution.text == "42\n"
    assert (await session_of(conversation)).generation == 1


async def test_two_processes_start_one_kernel(sessions: Settings) -> None:
    conversation = await new_conversation()
    results = await asyncio.gather(
        run(conversation, "a = 1"), in_another_process(run(conversation, "b = 2")), run(conversation, "c = 3")
    )
    assert [result.execution.status for result in results] == ["ok"] * 3
    assert (await run(conversation, "print(a + b + c)")).execution.text == "6\n"
    session = await session_of(conversation)
    assert (session.generation, session.state) == (1, State.RUNNING)


async def test_cells_of_two_processes_run_one_after_the_other(sessions: Settings) -> None:
    conversation = await new_conversation()
    notes: list[str] = []
    await run(conversation, "import time\nlog = []")
    slow = asyncio.create_task(run(conversation, "log.append('a')\ntime.sleep(0.5)\nlog.append('b')"))

    async def is_busy() -> bool:
        return (await session_of(conversation)).busy_until is not None

    await wait_until_awaited(is_busy)
    await in_another_process(run(conversation, "log.append('c')", notes))
    await slow
    assert (await run(conversation, "print(log)")).execution.text == "['a', 'b', 'c']\n"
    assert notes == [session_kernel.IS_BUSY]


async def test_lease_is_renewed_while_the_process_connects(sessions: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    session = await database_sync_to_async(make_session)()
    is_held = []

    async def connect(self: SessionKernel, session: PythonSession, *, ends_silent: bool) -> None:
        is_held.append(is_held_here(session.pk, session.generation))
        raise SessionUnavailable("It hangs.")

    monkeypatch.setattr(SessionKernel, "_connect", connect)
    conversation = await Conversation.objects.aget(pk=session.conversation_id)
    with pytest.raises(SessionUnavailable, match="It hangs"):
        await run(conversation, "1")
    assert is_held == [True]
    assert not is_held_here(session.pk, session.generation)


async def test_code_that_waits_too_long_for_other_code_is_refused_with_the_reason(sessions: Settings) -> None:
    sessions.KERNEL_WAIT_LIMIT_S = 0.3
    session = await database_sync_to_async(make_session)(busy_until=soon())
    conversation = await Conversation.objects.aget(pk=session.conversation_id)
    with pytest.raises(SessionUnavailable, match=r"^Other code runs in this Python session\. This did not change"):
        await run(conversation, "1")


async def test_waiting_for_a_kernel_too_long_fails_and_says_that_all_sessions_are_in_use(sessions: Settings) -> None:
    sessions.KERNELS_LIMIT, sessions.KERNEL_WAIT_LIMIT_S = 1, 0.3
    await database_sync_to_async(make_session)(busy_until=soon())
    conversation = await new_conversation()
    notes: list[str] = []
    with pytest.raises(SessionUnavailable, match="All 1 Python sessions of this server are in use"):
        await run(conversation, "1", notes)
    assert notes == ["All 1 Python sessions of this server are in use."]
    session = await session_of(conversation)
    assert (session.state, session.queued_at) == (State.STOPPED, None)


async def test_unused_session_is_ended_for_another_and_its_next_cell_has_a_note(sessions: Settings) -> None:
    sessions.KERNELS_LIMIT = 1
    first, second = await new_conversation(), await new_conversation()
    await run(first, "x = 1")
    old = await session_of(first)
    assert (await run(second, "print(2)")).execution.text == "2\n"
    assert await kernel_state(current_client(), old.kernel_id) == ""
    evicted = await session_of(first)
    assert evicted.state == State.STOPPED
    assert evicted.variables == []
    result = await run(first, "print('x' in globals())")
    assert result.execution.text == "False\n"
    [note] = result.notes
    assert note.startswith("A new Python session was started. The Python session was ended, because all sessions")


async def test_waiting_process_starts_as_soon_as_a_kernel_is_free(sessions: Settings) -> None:
    sessions.KERNELS_LIMIT = 1
    first, second = await new_conversation(), await new_conversation()
    await run(first, "import time")
    slow = asyncio.create_task(run(first, "time.sleep(0.5)"))
    session = await session_of(first)

    async def is_busy() -> bool:
        await session.arefresh_from_db()
        return session.busy_until is not None

    await wait_until_awaited(is_busy)
    assert (await run(second, "print(2)")).execution.text == "2\n"
    await slow


async def test_cancelled_run_is_removed_from_the_queue(sessions: Settings) -> None:
    sessions.KERNELS_LIMIT = 1
    await database_sync_to_async(make_session)(busy_until=soon())
    conversation = await new_conversation()
    task = asyncio.create_task(run(conversation, "1"))

    async def is_queued() -> bool:
        return await PythonSession.objects.filter(conversation=conversation, queued_at__isnull=False).aexists()

    await wait_until_awaited(is_queued)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert not await is_queued()


@pytest.mark.parametrize("state", [State.STARTING, State.STOPPING])
async def test_kernel_of_a_dead_process_is_ended_before_a_new_one_starts(sessions: Settings, state: State) -> None:
    conversation = await new_conversation()
    await run(conversation, "x = 1")
    left = await session_of(conversation)
    await PythonSession.objects.filter(pk=left.pk).aupdate(state=state, busy_until=soon(-1))
    assert (await run(conversation, "print('x' in globals())")).execution.text == "False\n"
    assert await kernel_state(current_client(), left.kernel_id) == ""
    assert (await session_of(conversation)).generation == 2


async def test_restart_gives_an_empty_kernel(sessions: Settings) -> None:
    conversation = await new_conversation()
    await run(conversation, "x = 1")
    await restart(conversation.pk, conversation.owner_id)
    session = await session_of(conversation)
    assert (session.state, session.generation, session.variables) == (State.RUNNING, 2, [])
    assert session.note == session_kernel.RESTARTED
    result = await run(conversation, "print('x' in globals())")
    assert result.execution.text == "False\n"
    assert result.notes == (f"A new Python session was started. {session_kernel.RESTARTED}",)
    assert (await session_of(conversation)).note == ""


@pytest.mark.drill
async def test_code_that_cannot_be_interrupted_ends_its_kernel_when_it_is_cancelled(sessions: Settings) -> None:
    conversation = await new_conversation()
    task = asyncio.create_task(run(conversation, "import signal\nsignal.signal(2, signal.SIG_IGN)\nwhile True: pass"))

    async def runs() -> bool:
        session = await PythonSession.objects.filter(conversation=conversation, state=State.RUNNING).afirst()
        return session is not None and await kernel_state(current_client(), session.kernel_id) == "busy"

    await wait_until_awaited(runs)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    session = await session_of(conversation)
    assert session.state == State.STOPPED
    assert "variables are lost" in session.note


async def test_session_stores_the_ids_of_messages_whose_code_it_has_run(sessions: Settings) -> None:
    message = await database_sync_to_async(lambda: make_model_message(make_conversation(make_user())))()
    conversation = await Conversation.objects.aget(pk=message.conversation_id)
    await run(conversation, "x = 1", message_id=message.pk)
    session = await session_of(conversation)
    assert (session.message_ids, session.last_message_id) == ([str(message.pk)], message.pk)


# --- downloads ------------------------------------------------------------------------------------------------------


async def test_file_is_read_in_pieces_while_other_code_runs(sessions: Settings) -> None:
    conversation = await new_conversation()
    size = 3_000_000
    await run(conversation, f"open('big.bin', 'wb').write(bytes(range(250)) * {size // 250})")
    content = await open_file(conversation.pk, conversation.owner_id, "big.bin")
    pieces = [await anext(content)]
    assert (await run(conversation, "print('meanwhile')")).execution.text == "meanwhile\n"
    pieces += [piece async for piece in content]
    assert len(pieces) > 3
    assert b"".join(pieces) == bytes(range(250)) * (size // 250)
    assert (await session_of(conversation)).busy_until is None


async def test_reading_a_missing_file_raises_file_not_found(sessions: Settings) -> None:
    conversation = await new_conversation()
    with pytest.raises(NotRunning):
        await open_file(conversation.pk, conversation.owner_id, "a.csv")
    await run(conversation, "open('empty.txt', 'w').close()")
    for name in ("a.csv", "../a.csv", "/etc/passwd", ".bashrc"):
        with pytest.raises(FileNotFoundError):
            await open_file(conversation.pk, conversation.owner_id, name)
    content = await open_file(conversation.pk, conversation.owner_id, "empty.txt")
    assert b"".join([piece async for piece in content]) == b""
