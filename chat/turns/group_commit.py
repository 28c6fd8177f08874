"""Group commit: one loop stores what changed in all live turns of this process, then publishes it.

A lone turn waits for nothing: its first change is stored and shown at once, later ones as `cadence` says. Many turns
share each transaction. The loop wakes at the earlier of "something new is due" and "a lease must be renewed"; it never
sleeps out one turn's interval while another one is due.

Guarantees: no frame leaves before the transaction that holds its content has committed; what is wrong with one turn
ends that turn and no other.
"""

from __future__ import annotations

import asyncio
import logging

from django.conf import settings
from django.db import InterfaceError, OperationalError

from chat.turns import broadcast, store
from chat.turns.answer import Change
from chat.turns.broadcast import Frame
from chat.turns.cadence import next_due
from chat.turns.live_turn import LiveTurn
from chat.turns.store import Batch, Ended, Round

logger = logging.getLogger(__name__)

GATHER_S_PER_TURN = 0.00003
GATHER_LIMIT_S = 0.008
"""Between the beginnings of two rounds, at least: with 50 live turns 1.5 ms, with 200 6 ms. Each
round costs as much as two or three of its rows, so that rounds of one row each would cost a process half its rate.
"""

GIVE_UP_AFTER_S = 60.0
"""How long a database that does not take writes is tried before the turns it holds up are given up."""

Taken = tuple[LiveTurn, Batch, list[Change]]


class GroupCommit:
    """The live turns of one event loop and the loop that stores them."""

    def __init__(self, lease_owner: str) -> None:
        self._lease_owner = lease_owner
        self._turns: set[LiveTurn] = set()
        self._changed: set[LiveTurn] = set()
        """Those of them that have something to store."""
        self._news = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._renew_at = 0.0
        self._next_round_at = 0.0

    def enter(self, turn: LiveTurn) -> None:
        """Take a turn in, with what it has to store already; its lease is kept from now on."""
        self._turns.add(turn)
        if self._task is None or self._task.done():
            loop = asyncio.get_running_loop()
            self._renew_at = loop.time() + settings.TURN_LEASE_S / 3
            self._task = loop.create_task(self._run(), name="group commit")
            self._task.add_done_callback(self._mourn)
        # Also without news of its own: another lease to renew.
        self._news.set()
        self.touch(turn)

    def give_up(self, turn: LiveTurn) -> None:
        """Keep its lease no longer."""
        self._leave(turn)

    def touch(self, turn: LiveTurn) -> None:
        """It may have something new to store."""
        if turn not in self._changed and turn in self._turns and turn.has_news:
            self._changed.add(turn)
            self._news.set()

    def _mourn(self, task: asyncio.Task[None]) -> None:
        """The event loop ends, or a defect ended this: no turn may wait for it. Their leases run out."""
        if not task.cancelled() and task.exception() is not None:
            logger.critical("group commit ended by a defect; its turns are given up", exc_info=task.exception())
        if task is not self._task:
            # A turn came between the end of the last one and this call, and began another loop: the turns are its own.
            return
        for turn in list(self._turns):
            self._leave(turn)
            turn.cancel()

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while self._turns:
            now = loop.time()
            renew = now >= self._renew_at
            due = [turn for turn in self._changed if turn.due_at <= now]
            if not due and not renew:
                await self._wait(now)
                continue
            if now < self._next_round_at:
                await asyncio.sleep(self._next_round_at - now)
                continue
            self._next_round_at = now + min(GATHER_LIMIT_S, GATHER_S_PER_TURN * len(self._turns))
            if renew:
                self._renew_at = now + settings.TURN_LEASE_S / 3
            taken: list[Taken] = [(turn, *turn.take(renews_lease=renew)) for turn in (self._turns if renew else due)]
            self._changed.difference_update(turn for turn, _, _ in taken)
            await self._store(taken)
            # What was published leaves before the next round takes the processor: 0.4 ms sooner.
            await asyncio.sleep(0)

    async def _wait(self, now: float) -> None:
        self._news.clear()
        wake_at = min([self._renew_at, *(turn.due_at for turn in self._changed)])
        try:
            async with asyncio.timeout(max(0.0, wake_at - now)):
                await self._news.wait()
        except TimeoutError:
            pass

    async def _store(self, taken: list[Taken]) -> None:
        loop = asyncio.get_running_loop()
        give_up_at = loop.time() + GIVE_UP_AFTER_S
        pause_s = 0.1
        while True:
            try:
                done = await self._write([batch for _, batch, _ in taken])
            except (OperationalError, InterfaceError) as error:
                # A full disk, a locked or restarting database: all is still in memory, so try again.
                logger.warning("live turns could not be stored, trying again: %s", error)
                for turn, _, _ in taken:
                    # What the provider says meanwhile is better kept here than there.
                    turn.wake()
                if loop.time() > give_up_at:
                    await self._give_up(taken)
                    return
                await asyncio.sleep(pause_s)
                pause_s = min(pause_s * 2, 2.0)
            except Exception:
                # One turn's content cannot be stored; the others must not fail with it.
                if len(taken) == 1:
                    logger.exception("turn %s could not be stored", taken[0][0].turn.pk)
                    await self._give_up(taken)
                    return
                for one in taken:
                    await self._store([one])
                return
            else:
                self._publish(taken, done)
                return

    async def _write(self, batches: list[Batch]) -> Round:
        try:
            done = await store.run(store.write_round, batches, lease_owner=self._lease_owner)
        except store.ALREADY_STORED:
            done = Round(lost={batch.turn_id for batch in batches})
        # The connection may have broken after the commit and before its confirmation.
        lost = [batch for batch in batches if batch.turn_id in done.lost and batch.rows]
        if lost:
            stored = await store.run(store.stored_after_all, lost)
            done.lost -= stored.keys()
            done.ended |= stored
        return done

    def _publish(self, taken: list[Taken], done: Round) -> None:
        for turn, batch, changes in taken:
            if batch.turn_id in done.lost:
                logger.warning("turn %s was taken away: its lease had run out", turn.turn.pk)
                self._leave(turn)
                turn.cancel()
                continue
            if batch.turn_id in done.stop_requested:
                turn.stop()
            if batch.ending:
                self._leave(turn)
            if batch.rows:
                self._show(turn, batch, changes, done.ended.get(batch.turn_id))

    def _show(self, turn: LiveTurn, batch: Batch, changes: list[Change], ended: Ended | None) -> None:
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            frame = turn.frame_of(batch, changes, ended)
        except Exception:
            # It is stored, and nothing else may wait for it: pages read it for themselves.
            logger.exception("what turn %s has stored could not be shown", turn.turn.pk)
            frame = Frame.unseen(turn.turn.conversation_id)
        now = loop.time()
        due_at = next_due(
            now, last_due_at=turn.due_at, render_s=now - began, is_fast=turn.is_fast, live_turns=len(self._turns)
        )
        turn.wait_until(due_at)
        broadcast.publish(frame)

    async def _give_up(self, taken: list[Taken]) -> None:
        for turn, batch, _ in taken:
            self._leave(turn)
            turn.cancel()
            try:
                await store.run(store.fail, batch.turn_id, lease_owner=self._lease_owner)
            except Exception:
                # Its lease runs out; what was stored becomes an interrupted message when the database is back.
                logger.exception("turn %s could not be ended", turn.turn.pk)

    def _leave(self, turn: LiveTurn) -> None:
        self._turns.discard(turn)
        self._changed.discard(turn)
        turn.settled.set()
