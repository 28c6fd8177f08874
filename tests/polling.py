"""Waiting for a condition that another thread, task or process makes true.

Nothing can signal some changes to a test, such as a row that another process writes. Only this module may sleep.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

WAIT_LIMIT_S = 60.0
POLL_S = 0.02
LONGEST_STEP_S = 1.0
"""Maximum time that counts between two checks, so that a test does not fail because the machine was suspended."""

Value = TypeVar("Value")


class Patience:
    """Measures how long a test has waited, without the gaps in which this process did not run."""

    def __init__(self, limit_s: float) -> None:
        """`limit_s`: seconds to wait."""
        self._left_s = limit_s
        self._last = time.monotonic()

    def is_over(self) -> bool:
        """Count the step since the last call, and return whether the limit is reached."""
        now = time.monotonic()
        self._left_s -= min(now - self._last, LONGEST_STEP_S)
        self._last = now
        return self._left_s <= 0


def wait_until(condition: Callable[[], Value], limit_s: float = WAIT_LIMIT_S) -> Value:
    """Return the first true result of `condition`. A TimeoutError names the condition and its last result."""
    patience = Patience(limit_s)
    while not (value := condition()):
        if patience.is_over():
            raise TimeoutError(_message(condition, value))
        time.sleep(POLL_S)
    return value


async def wait_until_async(condition: Callable[[], Value], limit_s: float = WAIT_LIMIT_S) -> Value:
    """Do the same as `wait_until` in a task, without blocking its event loop."""

    async def check() -> Value:
        return condition()

    return await wait_until_awaited(check, limit_s, condition)


async def wait_until_awaited(
    condition: Callable[[], Awaitable[Value]],
    limit_s: float = WAIT_LIMIT_S,
    named: Callable[..., object] | None = None,
) -> Value:
    """Do the same as `wait_until_async` for a coroutine function. An error calls the condition `named`."""
    patience = Patience(limit_s)
    while not (value := await condition()):
        if patience.is_over():
            raise TimeoutError(_message(named or condition, value))
        await asyncio.sleep(POLL_S)
    return value


def _message(condition: Callable[..., object], value: object) -> str:
    try:
        source = inspect.getsource(condition).strip()
    except OSError:
        source = repr(condition)
    return f"waited in vain, last result {value!r}: {source}"
