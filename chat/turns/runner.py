"""The live turns of this process: started, found, stopped. One `Runner` for each event loop.

A task here belongs to no socket: it goes on when the tab that asked for it is gone.
"""

from __future__ import annotations

import asyncio
import uuid
import weakref
from collections.abc import Callable

from chat.turns import broadcast, store
from chat.turns.engine import run_turn
from chat.turns.group_commit import GroupCommit
from chat.turns.live_turn import LiveTurn
from chat.turns.starting import Asked, StartedTurn, create_continuation, create_retry, create_turn

_runners: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Runner] = weakref.WeakKeyDictionary()


Authorise = Callable[[], uuid.UUID]
"""Checks who may write, and gives the conversation's id. Runs on the store's thread; what it raises is raised."""


async def start_turn(ask: Callable[[], tuple[uuid.UUID, Asked]]) -> StartedTurn:
    """Store a question and begin to answer it; a repeated `client_id` gives the turn that it started before.

    `ask` authorises and gathers, on the store's thread, so that a start costs one crossing. Raises StartRefused while
    an answer is being written, and what `ask` raises.
    """

    def create() -> StartedTurn:
        conversation_id, asked = ask()
        return create_turn(conversation_id, asked, lease_owner=broadcast.PROCESS)

    return await Runner.current().start(create)


async def continue_turn(authorise: Authorise) -> StartedTurn:
    """Go on after an answer that was cut short. Raises StartRefused where there is nothing to continue."""
    return await Runner.current().start(lambda: create_continuation(authorise(), lease_owner=broadcast.PROCESS))


async def retry_turn(authorise: Authorise) -> StartedTurn:
    """Answer the last question again, after a turn that left nothing. Raises StartRefused otherwise."""
    return await Runner.current().start(lambda: create_retry(authorise(), lease_owner=broadcast.PROCESS))


async def stop_turn(conversation_id: uuid.UUID) -> bool:
    """Stop a conversation's live turn, in whichever process it runs; False if there is none."""
    turn_id = await store.run(store.request_stop, conversation_id)
    if turn_id is None:
        return False
    Runner.current().stop(turn_id)
    return True


def live_turns() -> set[uuid.UUID]:
    """Every turn that runs in this process."""
    return {turn_id for runner in list(_runners.values()) for turn_id in runner.live_turns()}


class Runner:
    """Tasks by turn."""

    def __init__(self) -> None:
        self._commits = GroupCommit(broadcast.PROCESS)
        self._turns: dict[uuid.UUID, LiveTurn] = {}
        self._starting: set[asyncio.Task[StartedTurn]] = set()

    @classmethod
    def current(cls) -> Runner:
        """The runner of the running event loop."""
        loop = asyncio.get_running_loop()
        if loop not in _runners:
            _runners[loop] = cls()
        return _runners[loop]

    async def start(self, create: Callable[[], StartedTurn]) -> StartedTurn:
        """Create a turn on the store's thread and launch it; once created it runs, whoever asked may be gone."""
        task = asyncio.get_running_loop().create_task(self._start(create))
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)
        return await asyncio.shield(task)

    async def _start(self, create: Callable[[], StartedTurn]) -> StartedTurn:
        started = await store.run(create)
        if started.is_new:
            self._launch(started)
        return started

    def _launch(self, started: StartedTurn) -> None:
        """Show both messages everywhere and begin to answer."""
        turn = LiveTurn(started)
        broadcast.publish(turn.opening())
        self._turns[turn.turn.pk] = turn
        self._commits.enter(turn)
        turn.task = asyncio.get_running_loop().create_task(run_turn(turn, self._commits))
        turn.task.add_done_callback(lambda _: self._turns.pop(turn.turn.pk, None))

    def stop(self, turn_id: uuid.UUID) -> None:
        """Stop a turn, if it runs here."""
        if turn := self._turns.get(turn_id):
            turn.stop()

    def live_turns(self) -> set[uuid.UUID]:
        """What runs here; also from other threads."""
        return set(self._turns)

    async def drain(self) -> None:
        """Wait until every turn has ended."""
        while self._turns:
            await asyncio.gather(*(turn.task for turn in self._turns.values() if turn.task), return_exceptions=True)
            await asyncio.sleep(0)
