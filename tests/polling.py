"""Waiting for a condition that another thread, task or process makes true.

Nothing can signal some changes to a test, such as a row that another process writes. Only this module may sleep.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

WAIT_LIMIT_S = 20.0
POLL_S = 0.01

Value = TypeVar("Value")


def wait_until(condition: Callable[[], Value], limit_s: float = WAIT_LIMIT_S) -> Value:
    """Return the first true result of `condition`. Raises TimeoutError, which names the condition."""
    give_up_at = time.monotonic() + limit_s
    while not (value := condition()):
        if time.monotonic() > give_up_at:
            raise TimeoutError(_source(condition))
        time.sleep(POLL_S)
    return value


async def wait_until_async(condition: Callable[[], Value], limit_s: float = WAIT_LIMIT_S) -> Value:
    """Do the same as `wait_until` in a task, without blocking its event loop."""

    async def check() -> Value:
        return condition()

    return await wait_until_awaited(check, limit_s)


async def wait_until_awaited(condition: Callable[[], Awaitable[Value]], limit_s: float = WAIT_LIMIT_S) -> Value:
    """Do the same as `wait_until_async` for a coroutine function."""
    give_up_at = time.monotonic() + limit_s
    while not (value := await condition()):
        if time.monotonic() > give_up_at:
            raise TimeoutError(_source(condition))
        await asyncio.sleep(POLL_S)
    return value


def _source(condition: Callable[..., object]) -> str:
    try:
        return f"waited in vain: {inspect.getsource(condition).strip()}"
    except OSError:
        return f"waited in vain: {condition!r}"
