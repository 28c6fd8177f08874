"""The live turns of this process: started, found, stopped. One `Runner` for each event loop.

A task here belongs to no socket: it goes on when the tab that asked for it is gone.
"""

from __future__ import annotations

import asyncio
import uuid
import weakref
from collections.abc import Callable

from chat.models import Conversation
from chat.turns import broadcast, store
from chat.turns.engine import run_turn
from chat.turns.group_commit import GroupCommit
from chat.turns.live_turn import LiveTurn
from chat.turns.starting import Asked, StartedTurn, create_retry, create_turn

_runners: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Runner] = weakref.WeakKeyDictionary()


async def start_turn(ask: Callable[[], tuple[Conversation, Asked]]) -> StartedTurn:
    """Store a question and begin to answer it; a repeated `client_id` gives the turn that it started before.

    `ask` authorises and gathers. It runs on the store's thread, so that a start costs one crossing; what it raises
    is raised here. Raises StartRefused while an answer is being written.
    """

    def create() -> StartedTurn:
        conversation, asked = ask()
        return create_turn(conversation, asked, lease_owner=broadcast.PROCESS)

    return await _launch(create)


async def retry_turn(ask: Callable[[], Conversation]) -> StartedTurn:
    """Answer the last question again, after a turn that left nothing. Raises StartRefused otherwise."""

    def create() -> StartedTurn:
        return create_retry(ask(), lease_owner=broadcast.PROCESS)

    return await _launch(create)


async def _launch(create: Callable[[], StartedTurn]) -> StartedTurn:
    runner = Runner.current()
    started = await store.run(create)
    if started.is_new:
        runner.launch(started)
    return started


async def stop_turn(conversation_id: uuid.UUID) -> bool:
    """Stop a conversation's live turn, in whichever process it runs; False if there is none."""
    turn_id = await store.run(store.request_stop, conversation_id)
    if turn_id is None:
        return False
    Runner.current().stop(turn_id)
    return True


class Runner:
    """Tasks by turn."""

    def __init__(self) -> None:
        self._commits = GroupCommit(broadcast.PROCESS)
        self._turns: dict[uuid.UUID, LiveTurn] = {}

    @classmethod
    def current(cls) -> Runner:
        """The runner of the running event loop."""
        loop = asyncio.get_running_loop()
        if loop not in _runners:
            _runners[loop] = cls()
        return _runners[loop]

    def launch(self, started: StartedTurn) -> LiveTurn:
        """Show both messages everywhere and begin to answer."""
        turn = LiveTurn(started)
        broadcast.publish(turn.opening())
        self._turns[turn.turn.pk] = turn
        self._commits.enter(turn)
        turn.task = asyncio.get_running_loop().create_task(run_turn(turn, self._commits))
        turn.task.add_done_callback(lambda _: self._turns.pop(turn.turn.pk, None))
        return turn

    def stop(self, turn_id: uuid.UUID) -> bool:
        """Stop a turn that runs here; False if it does not."""
        turn = self._turns.get(turn_id)
        if turn is None:
            return False
        turn.stop()
        return True

    async def drain(self) -> None:
        """Wait until every turn has ended."""
        while self._turns:
            await asyncio.gather(*(turn.task for turn in self._turns.values() if turn.task), return_exceptions=True)
            await asyncio.sleep(0)
