"""The pool keeps sessions ready and limits how many live at once."""

from __future__ import annotations

import asyncio

import pytest

from chat.kernels.pool import WarmPool
from chat.kernels.sandbox import SandboxUnavailable
from chat.kernels.session import SessionClosed
from tests.polling import wait_until_async


async def wait_for_warm_sessions(pool: WarmPool, count: int) -> None:
    await wait_until_async(lambda: pool.warm == count, limit_s=60)


async def test_warm_session_is_acquired_and_replaced() -> None:
    pool = WarmPool(1, preload="import json; preloaded = 1")
    pool.fill()
    await wait_for_warm_sessions(pool, 1)
    session = await pool.acquire({"a.txt": b"file"})
    # Only warm sessions run the preload, so the variable exists in no session that `acquire` starts.
    assert (await session.execute("print(open('a.txt').read(), preloaded)")).text == "file 1\n"
    await wait_for_warm_sessions(pool, 1)
    assert pool.alive == 2
    await session.close()
    await pool.close()
    assert pool.alive == 0
    with pytest.raises(SessionClosed):
        await pool.acquire()


async def test_sessions_are_limited_and_a_free_slot_goes_to_a_waiting_caller() -> None:
    pool = WarmPool(1, limit=2, preload="")
    first, second = await pool.acquire(), await pool.acquire()
    waiting = asyncio.create_task(pool.acquire())
    # One pass of the event loop starts the task; a session that it started would count as alive.
    await asyncio.sleep(0)
    assert pool.alive == 2
    # A kernel that dies frees its slot like one that is closed.
    await first.execute("import os; os._exit(1)")
    third = await asyncio.wait_for(waiting, 60)
    assert (await third.execute("print(1)")).text == "1\n"
    assert pool.alive == 2
    assert second.is_alive
    await first.close()
    await pool.close()
    assert not third.is_alive
    assert not second.is_alive


async def test_missing_sandbox_is_logged_and_reported_to_the_caller(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    pool = WarmPool(1)
    pool.fill()
    with pytest.raises(SandboxUnavailable, match="apt-get install bubblewrap"):
        await pool.acquire()
    while not caplog.text:
        await asyncio.sleep(0)
    assert "bubblewrap" in caplog.text
    assert pool.alive == 0
    await pool.close()
