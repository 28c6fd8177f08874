"""Renews the leases of this process's live turns, and finds out which of them other processes have asked to stop."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Mapping

from django.conf import settings

from chat.answering.turns import store
from chat.answering.turns.live_turn import LiveTurn
from chat.answering.turns.turn_threads import turn_store

logger = logging.getLogger(__name__)

RENEWALS_PER_LEASE = 3


class LeaseKeeper:
    """Renews leases while there are live turns."""

    def __init__(self, turns: Mapping[uuid.UUID, LiveTurn]) -> None:
        """`turns`: the live turns of the event loop, kept up to date by the runner."""
        self._turns = turns
        self._task: asyncio.Task[None] | None = None

    def ensure_running(self) -> None:
        """Start the task that renews leases, unless it runs. It ends when there are no live turns."""
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._renew_repeatedly(), name="leases")

    async def _renew_repeatedly(self) -> None:
        while self._turns:
            await asyncio.sleep(settings.TURN_LEASE_S / RENEWALS_PER_LEASE)
            try:
                await self._renew()
            except Exception:
                logger.warning("leases could not be renewed", exc_info=True)

    async def _renew(self) -> None:
        turns = {turn_id: turn for turn_id, turn in self._turns.items() if not turn.is_ending}
        if not turns:
            return
        held = await turn_store.run(store.renew_leases, list(turns))
        for turn_id, turn in turns.items():
            if turn_id not in held:
                turn.cancel()
            elif held[turn_id]:
                turn.stop()
