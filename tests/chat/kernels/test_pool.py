"""Warm sessions."""

from __future__ import annotations

import asyncio
import time

import pytest

from chat.kernels.pool import WarmPool
from chat.kernels.sandbox import SandboxUnavailable
from chat.kernels.session import SessionClosed


async def _until(pool: WarmPool, warm: int) -> None:
    async with asyncio.timeout(60):
        while pool.warm != warm:
            await asyncio.sleep(0.02)


async def test_a_warm_session_is_given_at_once_and_replaced() -> None:
    pool = WarmPool(1, preload="import json; preloaded = 1")
    pool.fill()
    await _until(pool, 1)
    started = time.monotonic()
    session = await pool.acquire({"a.txt": b"file"})
    assert time.monotonic() - started < 0.3
    assert (await session.execute("print(open('a.txt').read(), preloaded)")).text == "file 1\n"
    await _until(pool, 1)
    assert pool.alive == 2
    await session.close()
    await pool.close()
    assert pool.alive == 0
    with pytest.raises(SessionClosed):
        await pool.acquire()


async def test_sessions_at_once_are_capped_and_a_freed_slot_is_given_on() -> None:
    pool = WarmPool(1, limit=2, preload="")
    first, second = await pool.acquire(), await pool.acquire()
    assert pool.alive == 2
    third = asyncio.create_task(pool.acquire())
    await asyncio.sleep(0.2)
    assert not third.done()
    # A kernel that dies frees its slot as one that is closed does.
    await first.execute("import os; os._exit(1)")
    session = await asyncio.wait_for(third, 60)
    assert (await session.execute("print(1)")).text == "1\n"
    assert pool.alive == 2
    assert second.is_alive
    await first.close()
    await pool.close()
    assert not session.is_alive
    assert not second.is_alive


async def test_a_machine_without_a_sandbox_tells_whoever_acquires(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    pool = WarmPool(1)
    pool.fill()
    with pytest.raises(SandboxUnavailable, match="apt-get install bubblewrap"):
        await pool.acquire()
    await asyncio.sleep(0.01)
    assert "bubblewrap" in caplog.text
    assert pool.alive == 0
    await pool.close()
