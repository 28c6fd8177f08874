"""The quota of the time that code runs: cells count by the clock, and what they leave behind by its CPU time."""

from __future__ import annotations

import os

import pytest
from channels.db import database_sync_to_async
from pytest_django import Settings

from chat.models import Conversation, PythonSession, QuotaUse
from chat.python.sessions import control, left_running, reaper
from chat.python.sessions.downloads import open_file
from chat.python.sessions.left_running import RunningOn
from chat.python.sessions.rows import State
from chat.python.sessions.session_kernel import SessionKernel
from tests.chat.python.sessions.cells import run_cell
from tests.factories import make_conversation
from tests.polling import wait_until_awaited

pytestmark = pytest.mark.django_db(transaction=True)

PROCESSES = """
import subprocess, sys
for _ in range(2):
    subprocess.Popen([sys.executable, "-c", "while True: pass"], start_new_session=True)
"""
DAEMON_THREAD = """
import threading
def burn():
    while True: pass
threading.Thread(target=burn, daemon=True).start()
"""
BURN_FOR_A_MOMENT = """
import threading, time
def burn():
    while time.thread_time() < 0.5: pass
    open("burnt", "w").close()
threading.Thread(target=burn, daemon=True).start()
"""
SLOW_TO_DESCRIBE = """
import time
class Slow:
    def __repr__(self):
        until = time.thread_time() + 1
        while time.thread_time() < until: pass
        return "described"
slow = Slow()
"""

CLOCK_TICK_MS = 1_000 // os.sysconf("SC_CLK_TCK")


async def run(conversation: Conversation, code: str) -> float:
    """Run a cell; return how long it took, in milliseconds."""
    return (await run_cell(conversation, code)).execution.duration_s * 1000


async def counted_ms(conversation: Conversation) -> int:
    """Return what was counted for the owner of a conversation."""
    use = await QuotaUse.objects.filter(user=conversation.owner_id).afirst()
    return use.kernel_ms if use else 0


async def count_in_reaper(before: RunningOn = frozenset()) -> RunningOn:
    """Do what each pass of the reaper does."""
    running_on: RunningOn = await database_sync_to_async(left_running.count_all_left_running)(before)
    return running_on


async def new_conversation() -> Conversation:
    """Create a conversation."""
    conversation: Conversation = await database_sync_to_async(make_conversation)()
    return conversation


@pytest.mark.parametrize("code", [PROCESSES, DAEMON_THREAD])
async def test_cpu_time_of_code_that_a_cell_leaves_running_is_counted(sessions: Settings, code: str) -> None:
    conversation = await new_conversation()
    cell_ms = await run(conversation, code)
    before = await counted_ms(conversation)
    assert before >= round(cell_ms) - 1

    async def has_counted_a_second() -> bool:
        await count_in_reaper()
        return await counted_ms(conversation) > before + 1_000

    await wait_until_awaited(has_counted_a_second)


async def test_duration_of_a_cell_is_counted_and_an_idle_session_is_not(sessions: Settings) -> None:
    conversation = await new_conversation()
    cell_ms = await run(conversation, "import time\ntime.sleep(0.2)\nsum(range(3_000_000))")
    counted = await counted_ms(conversation)
    # The count is the duration of the cell, and the short time that its request takes.
    assert cell_ms - 1 <= counted <= cell_ms + 100
    assert not await count_in_reaper()
    # The kernel counts in clock ticks, and the first pass may find the last one of the cell's request.
    assert await counted_ms(conversation) <= counted + CLOCK_TICK_MS


async def test_session_that_still_uses_cpu_time_when_its_quota_is_used_up_is_ended(
    sessions: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Here, passes follow each other at once.
    monkeypatch.setattr(left_running, "RUNS_ON_FROM_S", 0.01)
    sessions.QUOTAS = {**sessions.QUOTAS, "kernel_seconds_per_day": 0.001}
    conversation = await new_conversation()
    await run(conversation, DAEMON_THREAD)
    running_on = await wait_until_awaited(count_in_reaper)
    assert (await PythonSession.objects.aget(conversation=conversation)).state == State.RUNNING, "after one pass"

    async def is_stopping() -> bool:
        await count_in_reaper(running_on)
        return await PythonSession.objects.filter(conversation=conversation, state=State.STOPPING).aexists()

    await wait_until_awaited(is_stopping)
    await database_sync_to_async(reaper.reap)()
    session = await PythonSession.objects.aget(conversation=conversation)
    assert (session.state, session.note) == (State.STOPPED, left_running.USED_UP)


async def test_inspecting_a_variable_without_quota_left_does_not_end_the_session(sessions: Settings) -> None:
    sessions.QUOTAS = {**sessions.QUOTAS, "kernel_seconds_per_day": 0.001}
    conversation = await new_conversation()
    await run(conversation, SLOW_TO_DESCRIBE)
    session = await PythonSession.objects.aget(conversation=conversation)
    session_kernel = SessionKernel(conversation.pk, conversation.owner_id)
    async with session_kernel.hold(starts=False) as held:
        assert "described" in await held.kernel.variable("slow")
    await session_kernel.aclose()
    assert not await count_in_reaper(frozenset({(session.pk, session.generation)}))
    assert (await PythonSession.objects.aget(conversation=conversation)).state == State.RUNNING


async def test_error_in_counting_one_session_does_not_stop_the_count_of_others(
    sessions: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    found = []
    for conversation in [await new_conversation(), await new_conversation()]:
        await run(conversation, DAEMON_THREAD)
        found.append(await PythonSession.objects.aget(conversation=conversation))
    wrong, right = found
    # No database can store such a large user id.
    wrong.owner_id = 2**70

    async def counted() -> list[PythonSession]:
        return [session for session, used_s in await left_running.count_each([wrong, right]) if used_s]

    async def has_logged() -> bool:
        assert await counted() in ([], [right])
        return f"session {wrong.pk} was not counted" in caplog.text

    await wait_until_awaited(has_logged)
    assert await wait_until_awaited(counted) == [right]


async def test_time_is_counted_when_a_session_is_ended(sessions: Settings) -> None:
    conversation = await new_conversation()
    await run(conversation, BURN_FOR_A_MOMENT)
    before = await counted_ms(conversation)

    async def has_burnt() -> bool:
        try:
            await (await open_file(conversation.pk, conversation.owner_id, "burnt")).aclose()
        except FileNotFoundError:
            return False
        return True

    await wait_until_awaited(has_burnt)
    assert await control.end(await PythonSession.objects.aget(conversation=conversation), "")
    assert await counted_ms(conversation) > before + 200
