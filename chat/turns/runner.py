"""The live turns of this process: started, found, stopped. One `Runner` for each event loop.

A task here belongs to no socket: it goes on when the tab that asked for it is gone.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
import weakref
from collections.abc import Callable, Sequence

from chat.fragments import frame
from chat.turns import branches, broadcast, history, store, titles
from chat.turns.broadcast import Frame
from chat.turns.engine import run_turn
from chat.turns.group_commit import GroupCommit
from chat.turns.history import Prepared
from chat.turns.live_turn import LiveTurn
from chat.turns.starting import Start, StartedTurn, create_turns
from chat.turns.together import Together

logger = logging.getLogger(__name__)

_runners: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Runner] = weakref.WeakKeyDictionary()


Authorise = Callable[[], uuid.UUID]
"""Checks who may write, and gives the conversation's id. Runs on the store's thread; what it raises is raised."""


async def start_turn(start: Start) -> StartedTurn:
    """Have an answer written; a repeated `client_id` gives the turn that it started before.

    Raises what `Start.plan` raises, above all StartRefused while an answer is being written.
    """
    return await Runner.current().start(start)


async def switch_version(authorise: Authorise, message_id: uuid.UUID) -> None:
    """Bring another version of a message into view, in every tab. Raises SwitchRefused."""

    def show() -> tuple[uuid.UUID, int]:
        conversation_id = authorise()
        return conversation_id, branches.show(conversation_id, message_id)

    conversation_id, revision = await store.run(show)
    broadcast.publish(Frame.at_revision(conversation_id, revision))


async def stop_turn(conversation_id: uuid.UUID, turn_id: uuid.UUID | None = None) -> bool:
    """Stop a conversation's live turn, in whichever process it runs; False if there is none.

    `turn_id`: that one alone, not one that has begun since.
    """
    stopped = await store.run(store.request_stop, conversation_id, turn_id)
    if stopped is None:
        return False
    Runner.current().stop(stopped)
    return True


def live_turns() -> set[uuid.UUID]:
    """Every turn that runs in this process."""
    return {turn_id for runner in list(_runners.values()) for turn_id in runner.live_turns()}


class Runner:
    """Tasks by turn."""

    def __init__(self) -> None:
        self._commits = GroupCommit(broadcast.PROCESS)
        self._turns: dict[uuid.UUID, LiveTurn] = {}
        self._starts = Together(_created)
        self._starting: set[asyncio.Task[StartedTurn]] = set()
        self._naming: set[asyncio.Task[None]] = set()

    @classmethod
    def current(cls) -> Runner:
        """The runner of the running event loop."""
        loop = asyncio.get_running_loop()
        if loop not in _runners:
            _runners[loop] = cls()
        return _runners[loop]

    async def start(self, start: Start) -> StartedTurn:
        """Create a turn on the store's thread and launch it; once created it runs, whoever asked may be gone."""
        task = asyncio.get_running_loop().create_task(self._start(start))
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)
        return await asyncio.shield(task)

    async def _start(self, start: Start) -> StartedTurn:
        started, prepared = await self._starts.run(start)
        if started.is_new:
            self._launch(started, prepared)
        return started

    def _launch(self, started: StartedTurn, prepared: Prepared | None) -> None:
        """Show both messages everywhere and begin to answer."""
        loop = asyncio.get_running_loop()
        turn = LiveTurn(started)
        self._turns[turn.turn.pk] = turn
        turn.task = loop.create_task(run_turn(turn, self._commits, prepared))
        turn.task.add_done_callback(lambda task: self._ended(turn, task))
        # The question is shown while it is on its way to the model: the task's first step comes first, and whatever
        # it brings comes after, as a frame of it has to be stored before.
        loop.call_soon(self._open, turn)

    def _open(self, turn: LiveTurn) -> None:
        # In this order: whatever becomes of the frame, the turn's lease is kept and its end is stored.
        self._commits.enter(turn)
        broadcast.publish(turn.opening())

    def _ended(self, turn: LiveTurn, task: asyncio.Task[None]) -> None:
        self._turns.pop(turn.turn.pk, None)
        if not task.cancelled() and task.exception() is not None:
            # It could not even end itself: its lease runs out, and what its log holds is kept.
            logger.critical("turn %s ended by a defect", turn.turn.pk, exc_info=task.exception())
            self._commits.give_up(turn)
            return
        if turn.names_conversation:
            task = asyncio.get_running_loop().create_task(_name(turn.turn.conversation_id))
            self._naming.add(task)
            task.add_done_callback(self._naming.discard)

    def stop(self, turn_id: uuid.UUID) -> None:
        """Stop a turn, if it runs here."""
        if turn := self._turns.get(turn_id):
            turn.stop()

    def live_turns(self) -> set[uuid.UUID]:
        """What runs here; also from other threads."""
        return set(self._turns)

    async def drain(self) -> None:
        """Wait until every turn has ended, and every title has come."""
        while self._turns or self._naming:
            tasks = [turn.task for turn in self._turns.values() if turn.task]
            await asyncio.gather(*tasks, *self._naming, return_exceptions=True)
            await asyncio.sleep(0)


def _created(starts: Sequence[Start]) -> list[tuple[StartedTurn, Prepared | None] | Exception]:
    """Turns, each with its request where that takes no further crossing to another thread."""
    outcomes = create_turns(starts, lease_owner=broadcast.PROCESS)
    return [
        outcome if isinstance(outcome, Exception) else (outcome, history.prepare_at_once(outcome))
        for outcome in outcomes
    ]


async def _name(conversation_id: uuid.UUID) -> None:
    """Have a model name a conversation after its first answer."""
    asked = await store.run(titles.title_request, conversation_id)
    if asked is None:
        return
    request, setup = asked
    made = await titles.ask_title(request, setup.provider)
    swaps = await store.run(titles.give_title, conversation_id, made, setup)
    if swaps:
        broadcast.publish(Frame.aside(conversation_id, frame(swaps)))
