"""The reaper: unused sessions, sessions of deleted conversations, and what dead processes leave behind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest
from channels.db import database_sync_to_async
from pytest_django import Settings

from chat.models import Conversation, PythonSession
from chat.models.database_uptime import Uptime
from chat.models.deletion import delete_conversation
from chat.python.kernels import client
from chat.python.kernels.client import JupyterClient
from chat.python.kernels.errors import KernelsUnavailable
from chat.python.kernels.pending_execution import PendingExecution
from chat.python.kernels.places import Address
from chat.python.sessions import reaper, rows
from chat.python.sessions.leases import renewed_lease
from chat.python.sessions.limits import START_FAILED
from chat.python.sessions.places import OTHER_PLACE, current_client
from chat.python.sessions.rows import State
from chat.python.sessions.session_kernel import SessionKernel
from tests.chat.python.sessions.session_rows import make_session, make_stopped, soon
from tests.factories import make_conversation
from tests.kernel_service import kernel_state

pytestmark = pytest.mark.django_db(transaction=True)

T = TypeVar("T")


async def in_thread(function: Callable[[], T]) -> T:
    """Call a function that uses the database, on a thread."""
    result: T = await database_sync_to_async(function)()
    return result


async def kernel_of(conversation: Conversation, code: str = "x = 1") -> PythonSession:
    """Start the session of a conversation, and run code there."""
    session_kernel = SessionKernel(conversation.pk, conversation.owner_id)
    async with session_kernel.hold() as held:
        assert (await held.kernel.execute(code)).status == "ok"
    await session_kernel.aclose()
    return await PythonSession.objects.aget(conversation=conversation)


async def state_at_service(session: PythonSession) -> str:
    """Return the state of a kernel as the service knows it."""
    return await kernel_state(current_client(), session.kernel_id)


async def test_unused_session_is_ended(sessions: Settings) -> None:
    session = await kernel_of(await in_thread(make_conversation))
    assert not await in_thread(reaper.reap)
    await PythonSession.objects.filter(pk=session.pk).aupdate(last_used_at=soon(-1_000))
    work = await in_thread(reaper.reap)
    assert work.to_end == [session]
    assert await state_at_service(session) == ""
    await session.arefresh_from_db()
    assert (session.state, session.variables) == (State.STOPPED, [])
    assert session.note == "The Python session was ended after 15 minutes without use. Its variables are lost."


async def test_session_that_its_owner_keeps_is_not_ended_as_unused(sessions: Settings) -> None:
    await in_thread(lambda: make_session(unused_s=10_000, kept_until=soon()))
    assert not await in_thread(reaper.reap)


async def test_session_that_is_running_code_is_not_ended_as_unused(sessions: Settings) -> None:
    await in_thread(lambda: make_session(unused_s=10_000, busy_until=soon()))
    assert not await in_thread(reaper.reap)


async def test_session_of_a_deleted_conversation_is_ended_and_its_row_deleted(sessions: Settings) -> None:
    conversation = await in_thread(make_conversation)
    session = await kernel_of(conversation)
    await in_thread(lambda: delete_conversation(conversation))
    await in_thread(reaper.reap)
    assert await state_at_service(session) == ""
    assert not await PythonSession.objects.aexists()


async def test_cell_of_a_dead_process_is_interrupted_and_its_variables_stay(
    sessions: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "INTERRUPT_GRACE_S", 60.0)
    conversation = await in_thread(make_conversation)
    session_kernel = SessionKernel(conversation.pk, conversation.owner_id)
    async with session_kernel.hold() as held:
        session = held.session
        await held.kernel.execute("x = 1")
        # As after the death of the process, nothing waits for the cell, and its lease is not renewed.
        has_begun = asyncio.Event()
        cell = PendingExecution(on_output=lambda output: has_begun.set())
        content = {"code": "print('begun', flush=True)\nwhile True: pass", "silent": False}
        await held.kernel._connection.send("shell", "execute_request", content, cell)
        async with asyncio.timeout(60):
            await has_begun.wait()
    await session_kernel.aclose()
    await PythonSession.objects.filter(pk=session.pk).aupdate(busy_until=soon(-1))
    work = await in_thread(reaper.reap)
    assert [one.pk for one in work.to_free] == [session.pk]
    await session.arefresh_from_db()
    assert (session.state, session.busy_until) == (State.RUNNING, None)
    async with session_kernel.hold() as held:
        assert (await held.kernel.execute("print(x)")).text == "1\n"
    await session_kernel.aclose()


async def test_reaper_finishes_starts_and_stops_that_dead_processes_have_begun(sessions: Settings) -> None:
    session = await kernel_of(await in_thread(make_conversation))
    await PythonSession.objects.filter(pk=session.pk).aupdate(state=State.STOPPING, busy_until=soon(-1))
    starting = await in_thread(lambda: make_session(state=State.STARTING, kernel_id="", busy_until=soon(-1)))
    queued = await in_thread(lambda: make_stopped(queued_at=soon(-60), busy_until=soon(-50)))
    await in_thread(reaper.reap)
    for one in (session, starting, queued):
        await one.arefresh_from_db()
        assert (one.state, one.busy_until, one.queued_at) == (State.STOPPED, None, None)
    assert starting.note == START_FAILED
    assert await state_at_service(session) == ""


async def test_kernel_is_ended_if_the_process_that_was_starting_it_has_died(sessions: Settings) -> None:
    session = await kernel_of(await in_thread(make_conversation))
    await PythonSession.objects.filter(pk=session.pk).aupdate(state=State.STARTING, busy_until=soon(-1))
    await in_thread(reaper.reap)
    assert await state_at_service(session) == ""
    await session.arefresh_from_db()
    assert (session.state, session.note, session.kernel_id) == (State.STOPPED, START_FAILED, "")


async def test_only_one_of_two_reapers_claims_an_unused_session(sessions: Settings) -> None:
    await in_thread(lambda: make_session(unused_s=10_000))
    assert await in_thread(reaper.claim_work)
    assert not await in_thread(reaper.claim_work)


async def test_reaper_stops_sessions_of_a_kernel_service_that_was_replaced(sessions: Settings) -> None:
    unused = await in_thread(lambda: make_session(unused_s=10_000, place="http://127.0.0.1:1"))
    abandoned = await in_thread(lambda: make_session(busy_until=soon(-1), place="http://127.0.0.1:1"))
    await in_thread(reaper.reap)
    for session in (unused, abandoned):
        await session.arefresh_from_db()
        assert session.state == State.STOPPED
    assert abandoned.note == OTHER_PLACE


async def test_reaper_does_not_start_a_stopped_kernel_service(sessions: Settings, tmp_path: Path) -> None:
    sessions.KERNEL_SERVICE_DIR = tmp_path
    session = await in_thread(lambda: make_session(unused_s=10_000))
    await in_thread(reaper.reap)
    await session.arefresh_from_db()
    assert session.state == State.STOPPED


async def test_session_that_staff_end_is_ended_by_the_next_reaper(sessions: Settings) -> None:
    session = await kernel_of(await in_thread(make_conversation))
    assert await in_thread(lambda: rows.request_stop(session.pk, session.generation, "Ended."))
    await in_thread(reaper.reap)
    await session.arefresh_from_db()
    assert (session.state, session.note) == (State.STOPPED, "Ended.")
    assert await state_at_service(session) == ""


async def test_reaper_ignores_expired_leases_just_after_an_outage_of_the_database(sessions: Settings) -> None:
    abandoned = await in_thread(lambda: make_session(busy_until=soon(-1), place="http://127.0.0.1:1"))
    starting = await in_thread(lambda: make_session(state=State.STARTING, kernel_id="", busy_until=soon(-1)))
    unused = await in_thread(lambda: make_session(unused_s=10_000, place="http://127.0.0.1:1"))
    uptime = Uptime(rows.LEASE_S, reaper.REAP_INTERVAL_S)
    await in_thread(lambda: reaper.reap_safely(lambda message_id: None, uptime))
    for session in (abandoned, starting, unused):
        await session.arefresh_from_db()
    assert (abandoned.state, starting.state, unused.state) == (State.RUNNING, State.STARTING, State.STOPPED)
    uptime = Uptime(0, reaper.REAP_INTERVAL_S)
    await in_thread(lambda: reaper.reap_safely(lambda message_id: None, uptime))
    await abandoned.arefresh_from_db()
    assert abandoned.state == State.STOPPED


async def test_reaper_leaves_a_session_alone_while_this_process_renews_its_lease(sessions: Settings) -> None:
    session = await in_thread(lambda: make_session(busy_until=soon(-1)))
    with renewed_lease(session.pk, session.generation):
        assert not await in_thread(reaper.claim_work)
    assert await in_thread(reaper.claim_work)


async def test_reaper_ends_other_kernels_if_one_cannot_be_ended(
    sessions: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = "http://127.0.0.1:1"

    async def shut_down(self: JupyterClient, kernel_id: str) -> None:
        if kernel_id == "first":
            raise KernelsUnavailable("It does not answer.")

    async def address() -> Address:
        return Address(place, "")

    first = await in_thread(lambda: make_session(kernel_id="first", unused_s=10_000, place=place))
    second = await in_thread(lambda: make_session(kernel_id="second", unused_s=10_000, place=place))
    with monkeypatch.context() as patches:
        patches.setattr(JupyterClient, "shut_down", shut_down)
        patches.setattr(reaper, "present_address", address)
        assert (await in_thread(reaper.reap)).to_end == [first, second]
    for session in (first, second):
        await session.arefresh_from_db()
    assert (first.state, second.state) == (State.STOPPING, State.STOPPED)


async def test_one_pass_of_the_reaper_claims_at_most_as_many_sessions_as_the_batch_limit(
    sessions: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reaper, "BATCH_LIMIT", 1)
    for _ in range(2):
        await in_thread(lambda: make_session(unused_s=10_000))
    claimed = [(await in_thread(reaper.claim_work)).to_end for _ in range(3)]
    assert [len(sessions) for sessions in claimed] == [1, 1, 0]
