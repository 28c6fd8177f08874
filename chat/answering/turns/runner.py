"""Starts, stops and resumes the live turns of this process. There is one `Runner` for each event loop.

A turn's task does not belong to a socket, so it continues when the tab that started it is closed.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from django.db import OperationalError

from chat.answering.prompt.rows import PromptRows, read_rows
from chat.answering.turns import live_page, store, titles, versions
from chat.answering.turns.database_retries import UNAVAILABLE, LockConflict, is_lock_conflict, retry_while_unavailable
from chat.answering.turns.draining import RESTART, check_not_draining
from chat.answering.turns.engine import run_turn
from chat.answering.turns.leases import LeaseKeeper
from chat.answering.turns.live_turn import LiveTurn, PromptReads
from chat.answering.turns.log_writer import Commits
from chat.answering.turns.resume import decide_call
from chat.answering.turns.start import Start, create_turns
from chat.answering.turns.start_plan import PlannedTurn
from chat.answering.turns.turn_threads import log_folder, prompt_reader, turn_store
from chat.messages.approval import ApprovalDecision
from chat.messages.background_ledgers import begin_ledger
from chat.models import Turn
from chat.page.fragments import socket_message
from chat.page.relay import broadcast
from chat.page.relay.batching import BatchedCalls
from chat.page.relay.frames import Announcement, UnorderedUpdate
from chat.providers.base import Capabilities

logger = logging.getLogger(__name__)

PendingTurn: TypeAlias = asyncio.Future[PlannedTurn] | asyncio.Task[bool] | asyncio.Task[None]
"""A turn that is being started, resumed or run, or a task that follows it, such as the request for a title."""

STARTS_LIMIT = 64
"""Maximum number of turns that are started in one transaction, or whose prompt rows are read together.

Storing 64 turns takes about 0.1 s. During this time no changes of live turns are stored.
"""

_runners: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Runner] = weakref.WeakKeyDictionary()


async def start_turn(start: Start) -> PlannedTurn:
    """Start a turn. A repeated `client_id` returns the turn that it started before.

    Raises the errors of `Start.plan`, for example StartRefused while another answer is being written, and Draining if
    this process is about to end.
    """
    return await Runner.current().start(start)


async def switch_version(authorise: Callable[[], uuid.UUID], message_id: uuid.UUID) -> None:
    """Show another version of a message, in every tab. Raises SwitchRefused, see `versions.show`.

    `authorise`: runs on the database thread, checks that the user may write, and returns the conversation's id.
    """

    def show() -> tuple[uuid.UUID, int]:
        conversation_id = authorise()
        return conversation_id, versions.show(conversation_id, message_id)

    conversation_id, revision = await turn_store.run(show)
    broadcast.publish(Announcement(str(conversation_id), revision))


async def stop_turn(
    conversation_id: uuid.UUID, turn_id: uuid.UUID | None = None, message_id: uuid.UUID | None = None
) -> bool:
    """Stop a conversation's live turn, in whichever process it runs. Returns False if there is none.

    `turn_id`, `message_id`: stop only this turn, or the turn of this answer, and not one that has started since.
    """
    stopped = await turn_store.run(store.note_stop, conversation_id, turn_id, message_id)
    if stopped is not None and stopped.status == Turn.Status.WAITING:
        stopped = await log_folder.run(store.request_stop, conversation_id, turn_id, message_id)
    if stopped is None:
        return False
    Runner.current().stop(stopped.pk)
    if stopped.status == Turn.Status.WAITING:
        # The turn waited for a decision. It runs in no process, so no other code publishes its end.
        broadcast.publish(Announcement(str(conversation_id), None))
    return True


async def decide(authorise: Callable[[], uuid.UUID], decision: ApprovalDecision) -> bool:
    """Continue a waiting turn with a person's decision. Returns False if exactly this decision was made before.

    `authorise`: runs on a database thread, also in the transaction that stores the decision, checks that the user may
    decide, and returns the turn's id. Raises its errors, DecisionRefused if the turn does not wait for the decision,
    CodeRefused if there is no code to change, and Draining if this process is about to end.
    """
    return await Runner.current().resume(authorise, decision)


def live_turns() -> set[uuid.UUID]:
    """Return every turn that runs in this process."""
    return {turn_id for runner in list(_runners.values()) for turn_id in runner.live_turns()}


class Runner:
    """The turns of one event loop."""

    def __init__(self) -> None:
        self._commits: Commits = BatchedCalls(
            lambda writes: retry_while_unavailable(store.write, writes), fails_all=UNAVAILABLE
        )
        self._prompt_reads: PromptReads = BatchedCalls(_read_rows, limit=STARTS_LIMIT, fails_all=UNAVAILABLE)
        self._turns: dict[uuid.UUID, LiveTurn] = {}
        self._leases = LeaseKeeper(self._turns)
        self._starts: BatchedCalls[Start, PlannedTurn] = BatchedCalls(
            _create_turns, limit=STARTS_LIMIT, fails_all=UNAVAILABLE
        )
        self._starting: set[asyncio.Future[PlannedTurn]] = set()
        """Turns that are being stored."""
        self._tasks: set[asyncio.Task[None]] = set()
        """Tasks that ask a model for a title, or trace the numbers of an answer."""
        self._resuming: set[asyncio.Task[bool]] = set()
        """Tasks that store a decision and launch its turn."""

    @classmethod
    def current(cls) -> Runner:
        """Return the runner of the running event loop."""
        loop = asyncio.get_running_loop()
        if loop not in _runners:
            _runners[loop] = cls()
        return _runners[loop]

    async def start(self, start: Start) -> PlannedTurn:
        """Create a turn and launch it. A created turn runs even if the caller is cancelled."""
        check_not_draining()
        created = self._starts.submit(start)
        self._starting.add(created)
        created.add_done_callback(self._launch_created)
        return await asyncio.shield(created)

    def _launch_created(self, created: asyncio.Future[PlannedTurn]) -> None:
        self._starting.discard(created)
        if not created.cancelled() and created.exception() is None and created.result().is_new:
            self._launch(LiveTurn(created.result(), self._commits, self._prompt_reads))

    async def resume(self, authorise: Callable[[], uuid.UUID], decision: ApprovalDecision) -> bool:
        """Store the decision and launch the turn, see `decide`. A claimed turn runs even if the caller is cancelled."""
        check_not_draining()
        task = asyncio.get_running_loop().create_task(self._resume(authorise, decision))
        self._resuming.add(task)
        task.add_done_callback(self._resuming.discard)
        return await asyncio.shield(task)

    async def _resume(self, authorise: Callable[[], uuid.UUID], decision: ApprovalDecision) -> bool:
        resumed = await log_folder.run(decide_call, authorise, decision, lease_owner=broadcast.PROCESS)
        if resumed is None:
            return False
        planned, answer, seq = resumed
        self._launch(LiveTurn(planned, self._commits, self._prompt_reads, answer, seq), is_resumed=True)
        return True

    def _launch(self, turn: LiveTurn, *, is_resumed: bool = False) -> None:
        """Start the task that runs the turn. Publish the question with its empty answer, or that a turn is resumed."""
        loop = asyncio.get_running_loop()
        self._turns[turn.turn.pk] = turn
        turn.task = loop.create_task(run_turn(turn))
        turn.task.add_done_callback(lambda task: self._end(turn, task))
        self._leases.ensure_running()
        if is_resumed:
            broadcast.publish(Announcement(str(turn.turn.conversation_id), None))
        else:
            # This runs after the task's first step, so that the request is prepared while the question is rendered.
            # Changes of the answer are published later, because they must be stored first.
            loop.call_soon(lambda: broadcast.publish(live_page.opening(turn.started)))

    def _end(self, turn: LiveTurn, task: asyncio.Task[None]) -> None:
        # A turn that waited may have been resumed already, as another object.
        if self._turns.get(turn.turn.pk) is turn:
            del self._turns[turn.turn.pk]
        if task.cancelled():
            return
        if task.exception() is not None:
            # The lease of this turn expires, and recovery ends the turn with the content of its log.
            logger.critical("turn %s could not end itself", turn.turn.pk, exc_info=task.exception())
            return
        if turn.needs_title:
            self._start_naming(turn.turn.conversation_id)
        ledger = begin_ledger(turn.turn.message_id, only_with_results=True)
        self._tasks.add(ledger)
        ledger.add_done_callback(self._tasks.discard)

    def _start_naming(self, conversation_id: uuid.UUID) -> None:
        task = asyncio.get_running_loop().create_task(_name(conversation_id))
        self._tasks.add(task)
        task.add_done_callback(lambda task: self._end_naming(conversation_id, task))

    def _end_naming(self, conversation_id: uuid.UUID, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            # Neither the text of the error nor its traceback is logged, because they may quote the conversation.
            logger.error("conversation %s could not be named: %s", conversation_id, type(error).__name__)

    def stop(self, turn_id: uuid.UUID) -> None:
        """Stop a turn, if it runs here."""
        if turn := self._turns.get(turn_id):
            turn.stop()

    def live_turns(self) -> set[uuid.UUID]:
        """Return the turns that run here. May be called from other threads."""
        return set(self._turns)

    def live_conversations(self) -> set[str]:
        """Return the conversations whose turns run here."""
        return {str(turn.turn.conversation_id) for turn in self._turns.values()}

    async def drain(self) -> None:
        """Wait until every turn has ended, and every task that follows it, such as the request for a title."""
        while self._starting or self._resuming or self._turns or self._tasks:
            turns = [turn.task for turn in self._turns.values() if turn.task]
            pending: set[PendingTurn] = {*self._starting, *self._resuming, *turns, *self._tasks}
            await asyncio.wait(pending)
            await asyncio.sleep(0)

    async def interrupt_turns(self) -> int:
        """End every turn as interrupted. Return how many, once all ends are stored."""
        while self._starting or self._resuming:
            starting: set[PendingTurn] = {*self._starting, *self._resuming}
            await asyncio.wait(starting)
        # A task that is cancelled before its first step could not store the end of its turn.
        await asyncio.sleep(0)
        turns = list(self._turns.values())
        for turn in turns:
            turn.interrupt(RESTART)
        if tasks := [turn.task for turn in turns if turn.task]:
            await asyncio.wait(tasks)
        return sum(turn.turn.status == Turn.Status.INTERRUPTED for turn in turns)


async def _create_turns(starts: Sequence[Start]) -> list[PlannedTurn | Exception]:
    try:
        return await turn_store.run(create_turns, starts, lease_owner=broadcast.PROCESS)
    except OperationalError as error:
        if is_lock_conflict(error):
            # Each start is then tried alone: perhaps only one conversation is locked, for example by its deletion.
            raise LockConflict(str(error)) from error
        raise


async def _read_rows(reads: Sequence[tuple[PlannedTurn, Capabilities | None]]) -> list[PromptRows]:
    turns = [one.turn for one, _ in reads]
    without_files = {one.turn.user_message_id for one, _ in reads if one.has_question and not one.attachments}
    known = {one.turn.pk: capabilities for one, capabilities in reads if capabilities}
    read = partial(read_rows, turns, without_files=without_files, known=known)
    return await retry_while_unavailable(prompt_reader.run, read)


async def _name(conversation_id: uuid.UUID) -> None:
    """Have a model name a conversation after its first answer."""
    asked = await turn_store.run(titles.title_request, conversation_id)
    if asked is None:
        return
    request, setup = asked
    result = await titles.ask_title(request, setup)
    swaps = await turn_store.run(titles.save_title, conversation_id, result, setup)
    if swaps:
        broadcast.publish(UnorderedUpdate(str(conversation_id), socket_message(swaps)))
