"""Time limits for reads from a server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from chat.providers.provider_errors import Stalled

T = TypeVar("T")


async def read_within(limit_s: float, read: Awaitable[T]) -> T:
    """Return the result of a read. Raise Stalled if it takes longer than the limit in seconds."""
    try:
        async with asyncio.timeout(limit_s) as timeout:
            return await read
    except TimeoutError:
        if timeout.expired():
            raise Stalled(f"Nothing arrived for {limit_s} s.") from None
        raise
