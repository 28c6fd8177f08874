"""Starts, stops and resumes the live turns of this process. There is one `Runner` for each event loop.

A turn's task does not belong to a socket, so it continues when the tab that started it is closed.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
import weakref
from collections.abc import Callable, Coroutine, Sequence

from chat.fragments import socket_message
from chat.models import Turn
from chat.prompt.rows import PromptRows, read_rows
from chat.relay import broadcast
from chat.relay.batching import BatchedCalls
from chat.relay.frames import Frame
from chat.relay.group_commit import UNAVAILABLE, GroupCommit
from chat.turns import store, titles, versions
from chat.turns.database_thread import prompt_reader, turn_store
from chat.turns.engine import run_turn
from chat.turns.leases import LeaseKeeper
from chat.turns.live_turn import Commits, LiveTurn, PromptReads
from chat.turns.resume import decide_call
from chat.turns.start import Start, create_turns
from chat.turns.start_plan import StartedTurn
from chat.turns.store import Stored, TurnChanges

logger = logging.getLogger(__name__)

STARTS_LIMIT = 64
"""The most turns that are started in one transaction.

Storing 64 turns takes about 0.1 s. During this time no changes of live turns are stored.
"""

_runners: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Runner] = weakref.WeakKeyDictionary()


async def start_turn(start: Start) -> StartedTurn:
    """Start a turn. A repeated `client_id` returns the turn that it started before.

    Raises the errors of `Start.plan`, for example StartRefused while another answer is being written.
    """
    return await Runner.current().start(start)


async def switch_version(authorise: Callable[[], uuid.UUID], message_id: uuid.UUID) -> None:
    """Show another version of a message, in every tab. Raises SwitchRefused.

    `authorise`: runs on the database thread, checks that the user may write, and returns the conversation's id.
    """

    def show() -> tuple[uuid.UUID, int]:
        conversation_id = authorise()
        return conversation_id, versions.show(conversation_id, message_id)

    conversation_id, revision = await turn_store.run(show)
    broadcast.publish(Frame.announcement(conversation_id, revision))


async def stop_turn(conversation_id: uuid.UUID, turn_id: uuid.UUID | None = None) -> bool:
    """Stop a conversation's live turn, in whichever process it runs; return False if there is none.

    `turn_id`: only this turn, and not one that has started since.
    """
    stopped = await turn_store.run(store.request_stop, conversation_id, turn_id)
    if stopped is None:
        return False
    Runner.current().stop(stopped.pk)
    if stopped.status == Turn.Status.WAITING:
        # It runs in no process, so no other code publishes its end.
        broadcast.publish(Frame.outdated(conversation_id))
    return True


async def decide(turn_id: uuid.UUID, call_id: str, *, is_approved: bool) -> bool:
    """Continue a waiting turn with a person's decision about a function call.

    Return False if the turn does not wait for this decision.
    """
    return await Runner.current().resume(turn_id, call_id, is_approved=is_approved)


def live_turns() -> set[uuid.UUID]:
    """Return every turn that runs in this process."""
    return {turn_id for runner in list(_runners.values()) for turn_id in runner.live_turns()}


class Runner:
    """The turns of one event loop."""

    def __init__(self) -> None:
        self._commits: Commits = GroupCommit(_write)
        self._prompt_reads: PromptReads = BatchedCalls(_read_rows, limit=STARTS_LIMIT, fails_all=UNAVAILABLE)
        self._turns: dict[uuid.UUID, LiveTurn] = {}
        self._leases = LeaseKeeper(self._turns)
        self._starts: BatchedCalls[Start, StartedTurn] = BatchedCalls(
            _create_turns, limit=STARTS_LIMIT, fails_all=UNAVAILABLE
        )
        self._tasks: set[asyncio.Task[None]] = set()
        """Tasks that ask a model for a title."""

    @classmethod
    def current(cls) -> Runner:
        """Return the runner of the running event loop."""
        loop = asyncio.get_running_loop()
        if loop not in _runners:
            _runners[loop] = cls()
        return _runners[loop]

    async def start(self, start: Start) -> StartedTurn:
        """Create a turn and launch it. A created turn runs even if the caller is cancelled."""
        created = self._starts.submit(start)
        created.add_done_callback(self._launch_created)
        return await asyncio.shield(created)

    def _launch_created(self, created: asyncio.Future[StartedTurn]) -> None:
        if not created.cancelled() and created.exception() is None and created.result().is_new:
            self._launch(LiveTurn(created.result(), self._commits, self._prompt_reads))

    async def resume(self, turn_id: uuid.UUID, call_id: str, *, is_approved: bool) -> bool:
        """Claim a waiting turn, store the decision, and launch the turn."""
        resumed = await turn_store.run(
            decide_call, turn_id, call_id, is_approved=is_approved, lease_owner=broadcast.PROCESS
        )
        if resumed is None:
            return False
        self._launch(
            LiveTurn(resumed.started, self._commits, self._prompt_reads, resumed.answer, resumed.seq), is_resumed=True
        )
        return True

    def _launch(self, turn: LiveTurn, *, is_resumed: bool = False) -> None:
        """Start the task that runs the turn, and publish the question with its empty answer."""
        loop = asyncio.get_running_loop()
        self._turns[turn.turn.pk] = turn
        turn.task = loop.create_task(run_turn(turn))
        turn.task.add_done_callback(lambda task: self._end(turn, task))
        self._leases.ensure_running()
        if is_resumed:
            broadcast.publish(Frame.outdated(turn.turn.conversation_id))
        else:
            # This runs after the task's first step, so that the request is prepared while the question is rendered.
            # Changes of the answer are published later, because they must be stored first.
            loop.call_soon(lambda: broadcast.publish(turn.page.opening()))

    def _end(self, turn: LiveTurn, task: asyncio.Task[None]) -> None:
        self._turns.pop(turn.turn.pk, None)
        if task.cancelled():
            return
        if task.exception() is not None:
            # The lease of this turn expires, and recovery ends the turn with the content of its log.
            logger.critical("turn %s could not end itself", turn.turn.pk, exc_info=task.exception())
        elif turn.needs_title:
            self._spawn(_name(turn.turn.conversation_id))

    def _spawn(self, coroutine: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def stop(self, turn_id: uuid.UUID) -> None:
        """Stop a turn, if it runs here."""
        if turn := self._turns.get(turn_id):
            turn.stop()

    def live_turns(self) -> set[uuid.UUID]:
        """Return the turns that run here. May be called from other threads."""
        return set(self._turns)

    async def drain(self) -> None:
        """Wait until every turn has ended, and every title has been asked for."""
        while self._turns or self._tasks:
            tasks = [turn.task for turn in self._turns.values() if turn.task]
            await asyncio.gather(*tasks, *self._tasks, return_exceptions=True)
            await asyncio.sleep(0)


async def _create_turns(starts: Sequence[Start]) -> list[StartedTurn | Exception]:
    return await turn_store.run(create_turns, starts, lease_owner=broadcast.PROCESS)


async def _read_rows(turns: Sequence[Turn]) -> list[PromptRows]:
    return await prompt_reader.run(read_rows, turns)


async def _write(changes: Sequence[TurnChanges]) -> list[Stored | Exception]:
    return await store.write(changes, lease_owner=broadcast.PROCESS)


async def _name(conversation_id: uuid.UUID) -> None:
    """Have a model name a conversation after its first answer."""
    asked = await turn_store.run(titles.title_request, conversation_id)
    if asked is None:
        return
    request, setup = asked
    result = await titles.ask_title(request, setup)
    swaps = await turn_store.run(titles.save_title, conversation_id, result, setup)
    if swaps:
        broadcast.publish(Frame.unordered(conversation_id, socket_message(swaps)))
