"""Group commit: one loop stores what changed in all live turns of this process, then publishes it.

A lone turn waits for nothing: its first change is stored and shown at once, later ones at most every
`FRAME_INTERVAL_S`. Many turns share each transaction. The loop wakes at the earlier of "something new is due" and
"a lease must be renewed"; it never sleeps out one turn's interval while another one is due.

Guarantee: no frame leaves before the transaction that holds its content has committed.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta

from django.conf import settings
from django.db import DatabaseError, IntegrityError, InterfaceError, OperationalError

from chat.turns import broadcast, store
from chat.turns.assembler import Change
from chat.turns.live_turn import LiveTurn
from chat.turns.store import Batch, Round

logger = logging.getLogger(__name__)

FRAME_INTERVAL_S = 0.04
"""At most 25 frames a second and conversation; measured: rendering and sending then cost less than storing."""

GIVE_UP_AFTER = timedelta(seconds=30)
"""How long a database that does not take writes is tried before the turns it holds up are given up."""

Taken = tuple[LiveTurn, Batch, list[Change]]


class GroupCommit:
    """The live turns of one event loop and the loop that stores them."""

    def __init__(self, lease_owner: str) -> None:
        self._lease_owner = lease_owner
        self._turns: set[LiveTurn] = set()
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._renew_at = 0.0

    def enter(self, turn: LiveTurn) -> None:
        """Take a turn in; its lease is kept from now on."""
        self._turns.add(turn)
        if self._task is None or self._task.done():
            loop = asyncio.get_running_loop()
            self._renew_at = loop.time() + settings.TURN_LEASE_S / 3
            self._task = loop.create_task(self._run())
        self._news.set()

    def touch(self) -> None:
        """Some turn has news."""
        self._news.set()

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while self._turns:
            now = loop.time()
            renew = now >= self._renew_at
            due = [turn for turn in self._turns if turn.has_news and turn.due_at <= now]
            if not due and not renew:
                await self._wait(now)
                continue
            if renew:
                self._renew_at = now + settings.TURN_LEASE_S / 3
            taken: list[Taken] = [(turn, *turn.take()) for turn in (self._turns if renew else due)]
            await self._store(taken, renew=renew)

    async def _wait(self, now: float) -> None:
        self._news.clear()
        wake_at = min([self._renew_at, *(turn.due_at for turn in self._turns if turn.has_news)])
        try:
            async with asyncio.timeout(max(0.0, wake_at - now)):
                await self._news.wait()
        except TimeoutError:
            pass

    async def _store(self, taken: list[Taken], *, renew: bool) -> None:
        loop = asyncio.get_running_loop()
        give_up_at = loop.time() + GIVE_UP_AFTER.total_seconds()
        pause_s = 0.1
        while True:
            try:
                done = await self._write([batch for _, batch, _ in taken], renew=renew)
            except (OperationalError, InterfaceError) as error:
                # A full disk, a locked or restarting database: all is still in memory, so try again.
                logger.warning("live turns could not be stored, trying again: %s", error)
                if loop.time() > give_up_at:
                    self._give_up(taken)
                    return
                await asyncio.sleep(pause_s)
                pause_s = min(pause_s * 2, 2.0)
            except DatabaseError:
                # One turn's content is not storable; the others must not fail with it.
                if len(taken) == 1:
                    logger.exception("turn %s could not be stored", taken[0][0].turn.pk)
                    self._give_up(taken)
                    return
                for one in taken:
                    await self._store([one], renew=renew)
                return
            else:
                self._publish(taken, done)
                return

    async def _write(self, batches: list[Batch], *, renew: bool) -> Round:
        try:
            return await store.run(store.write_round, batches, lease_owner=self._lease_owner, renew=renew)
        except IntegrityError:
            # The connection may have broken after the commit and before its confirmation.
            done = await store.run(store.round_if_stored, batches)
            if done is None:
                raise
            return done

    def _publish(self, taken: list[Taken], done: Round) -> None:
        now = asyncio.get_running_loop().time()
        for turn, batch, changes in taken:
            if turn.turn.pk in done.lost:
                logger.warning("turn %s was taken away: its lease had run out", turn.turn.pk)
                self._leave(turn)
                turn.cancel()
                continue
            if turn.turn.pk in done.stop_requested:
                turn.stop()
            if batch.ending:
                self._leave(turn)
                broadcast.publish(turn.closing(batch, done.revisions[turn.turn.pk]))
            elif batch.rows:
                turn.due_at = now + FRAME_INTERVAL_S
                broadcast.publish(turn.progress(batch, changes))

    def _give_up(self, taken: list[Taken]) -> None:
        # Their leases run out; what was stored becomes an interrupted message when the database is back.
        for turn, _, _ in taken:
            self._leave(turn)
            turn.cancel()

    def _leave(self, turn: LiveTurn) -> None:
        self._turns.discard(turn)
        turn.settled.set()
