"""Keeps kernels ready, so that the first cell of a session does not wait for the start of a kernel."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections import deque
from collections.abc import Awaitable, Callable

logger = logging.getLogger(__name__)


class WarmKernels:
    """Pool of the ids of kernels that are ready and not in use yet. It belongs to one event loop."""

    def __init__(self, size: int, start: Callable[[str], Awaitable[str]]) -> None:
        """Create an empty pool for `size` kernels. `start` starts one with a given id, and imports libraries in it."""
        self._size = size
        self._start = start
        self._ids: deque[str] = deque()
        self._starts: dict[str, asyncio.Task[None]] = {}

    def __len__(self) -> int:
        """Return the number of kernels that are ready."""
        return len(self._ids)

    def __contains__(self, kernel_id: object) -> bool:
        """Return whether a kernel is ready, or is started for the pool."""
        return kernel_id in self._ids or kernel_id in self._starts

    def fill(self) -> None:
        """Start the missing kernels in the background."""
        for _ in range(self._size - len(self._ids) - len(self._starts)):
            kernel_id = str(uuid.uuid4())
            self._starts[kernel_id] = asyncio.create_task(self._add(kernel_id))

    def take(self) -> str | None:
        """Return the id of a kernel, which now belongs to the caller, or None if none is ready; refill the pool."""
        kernel_id = self._ids.popleft() if self._ids else None
        self.fill()
        return kernel_id

    def discard(self, kernel_id: str) -> None:
        """Forget a kernel that has ended. It is replaced only at the next `take`, because the failure could repeat."""
        if kernel_id in self._ids:
            self._ids.remove(kernel_id)

    async def _add(self, kernel_id: str) -> None:
        try:
            self._ids.append(await self._start(kernel_id))
        except Exception as error:  # noqa: BLE001 - the next caller starts a kernel itself and gets the reason
            logger.warning("No Python kernel could be kept ready: %s", error)
        finally:
            del self._starts[kernel_id]
