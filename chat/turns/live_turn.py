"""One live turn in this process: its changes that are not stored yet, and its message on open pages."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Iterable
from typing import TypeAlias

from chat.answers.answer import Answer
from chat.answers.assembler import Assembler
from chat.answers.changes import (
    AttachmentAdded,
    Change,
    EngineMoved,
    MessagesLeftOut,
    PartStarted,
    StateSent,
    ToolStarted,
    Waited,
)
from chat.answers.log import coalesce_changes, to_row
from chat.models import Conversation, Turn
from chat.parts import Engine
from chat.prompt.rows import PromptRows
from chat.relay import broadcast
from chat.relay.batching import BatchedCalls
from chat.relay.frame_schedule import next_frame_at
from chat.relay.group_commit import GroupCommit
from chat.stream_events import PartReceived, StreamEvent
from chat.transcript.usage import answer_cost
from chat.turns.answer_size import AnswerSize
from chat.turns.code_times import CodeTimes
from chat.turns.finish import NO_ERROR, Ending, TurnError, closing_at_end
from chat.turns.live_page import LivePage
from chat.turns.start_plan import PlannedTurn
from chat.turns.store import StoreResult, TurnLost, TurnWrite
from chat.turns.thought_times import ThoughtTimes

logger = logging.getLogger(__name__)

Commits: TypeAlias = GroupCommit[TurnWrite, StoreResult]
PromptReads: TypeAlias = BatchedCalls[PlannedTurn, PromptRows]


class AnswerTooLong(Exception):
    """An answer is larger than one message may be."""


class NotStored(Exception):
    """Changes of a turn cannot be stored."""


class LiveTurn:
    """Collects the changes of one answer, has them stored, and then publishes them."""

    def __init__(
        self,
        started: PlannedTurn,
        commits: Commits,
        prompt_reads: PromptReads,
        answer: Answer | None = None,
        seq: int = 0,
    ) -> None:
        """`answer`, `seq`: for a turn that continues after a decision, the content and the last step of its log."""
        self._started = started
        self.turn = started.turn
        """The row as last stored, with its conversation and both messages."""
        self.setup = started.setup
        self._launched_s = time.monotonic()
        self.task: asyncio.Task[None] | None = None
        """Runs the turn."""
        self.is_stopping = False
        """Whether a user has asked to stop the turn."""
        self.interruption = ""
        """The error code of a turn that this process interrupts."""
        self.is_ending = False
        """Whether the end of the turn is being stored."""
        self.has_received = False
        """Whether the provider has sent anything in this attempt."""
        self._commits = commits
        self._prompt_reads = prompt_reads
        self._assembler = Assembler(
            is_code_offered=self.turn.code_execution, new_id=lambda: str(uuid.uuid4()), answer=answer
        )
        self._size = AnswerSize(self.answer)
        self._code_times = CodeTimes()
        self._thought_times = ThoughtTimes()
        self._changes: list[Change] = []
        """Changes that are not stored yet."""
        self._seq = seq
        """The last step of the log."""
        self._has_part = bool(self.answer.part_count)
        self.page = LivePage(started, self.answer)
        self._next_frame_at = 0.0
        self._is_fast = False
        """Whether the last list of events contained several parts."""
        self._unconfirmed: tuple[asyncio.Future[StoreResult], TurnWrite, list[Change]] | None = None
        """Changes that are being stored."""

    @property
    def answer(self) -> Answer:
        """The answer as far as it has been received."""
        return self._assembler.answer

    @property
    def room_chars(self) -> int:
        """How much longer the answer may become."""
        return self._size.room_chars

    @property
    def needs_title(self) -> bool:
        """Whether a model may name the conversation: the answer is complete, and no title was chosen before it."""
        is_unnamed = self.turn.conversation.title_source == Conversation.TitleSource.WORDS
        return is_unnamed and self.turn.status == Turn.Status.DONE and not self.turn.is_own_code

    # --- changes of the answer ------------------------------------------------------------------------------------

    def add(self, events: Iterable[StreamEvent], *, made_by: str = "") -> None:
        """Apply events of the provider, or of the tool that runs the function call `made_by`.

        Events after the one that makes the answer too large are dropped, and the next commit raises AnswerTooLong.
        """
        self.has_received = True
        parts = 0
        for event in events:
            if self._size.is_too_large:
                break
            changes = self._assembler.add(self._code_times.with_duration(event), made_by=made_by)
            self._changes += changes
            self._size.add(event, changes)
            self.note(*self._thought_times.after(changes))
            parts += isinstance(event, PartReceived)
        self._is_fast = parts > 1

    def end_code(self, outcome: str) -> None:
        """Give an outcome to code in the Python session that will get no result."""
        self._changes += self._assembler.end_code(outcome)

    def note(self, *changes: Change) -> None:
        """Apply changes that have no stream event."""
        for change in changes:
            self._changes += self._assembler.note(change)

    def note_left_out(self, messages: int) -> None:
        """Record how many of the oldest messages are left out of the request."""
        if messages != self.answer.messages_left_out:
            self.note(MessagesLeftOut(messages))

    def note_state(self, text: str) -> None:
        """Record what the request says about the tools."""
        if text != self.answer.current_round.state:
            self.note(StateSent(text))

    def restart_attempt(self, sentence: str) -> None:
        """Record that the request is repeated. `sentence` is shown until the next part arrives; it may be empty."""
        self.has_received = False
        self.note(*self._thought_times.end())
        self._changes += self._assembler.restart_attempt()
        if sentence:
            self.note(Waited(sentence))

    def start_round(self) -> None:
        """Begin the next round."""
        self.has_received = False
        self.note(*self._thought_times.end())
        self._changes += self._assembler.start_round()

    def move_to_session(self, reason: str) -> None:
        """Let code run in the Python session from the current round on. `reason`: a sentence for the reader."""
        self.turn.engine = Engine.SESSION
        self.turn.move_reason, self.turn.moved_before_round = reason, self.answer.round_number
        self.note(EngineMoved(reason))

    def start_tool(self, call_id: str) -> None:
        """Record that the tool of a function call begins to run."""
        self.note(ToolStarted(call_id))

    async def read_prompt_rows(self) -> PromptRows:
        """Read the rows from which the prompt is built."""
        return await self._prompt_reads.submit(self._started)

    # --- storing and showing --------------------------------------------------------------------------------------

    async def commit(self) -> None:
        """Store all changes, then publish them. Returns when both are done.

        Raises TurnLost if another process has ended the turn, NotStored if the changes cannot be stored, and
        AnswerTooLong after the changes that made the answer larger than one message may be were stored. A commit
        that is cancelled while its changes are being stored is completed by the next one.
        """
        await self._confirm()
        if self._changes:
            self._submit()
            await self._confirm()
        if self._size.is_too_large:
            raise AnswerTooLong

    async def wait(self) -> None:
        """Store that the turn waits for a person's decision, and give up its lease.

        If a user has asked to stop the turn just before that, end it instead.
        """
        self.is_ending = True
        await self._confirm()
        self.turn.status = Turn.Status.WAITING
        self._submit(waits_after_s=self.turn.run_s + time.monotonic() - self._launched_s)
        await self._confirm()
        if self.is_stopping:
            await self.end(Turn.Status.STOPPED)

    async def end(self, status: Turn.Status, error: TurnError = NO_ERROR) -> None:
        """Store the end of the turn with everything that was received, then publish it. Raises as `commit` does."""
        self.is_ending = True
        self.note(*self._thought_times.end())
        self._changes += self._assembler.close(closing_at_end(status))
        await self._confirm()
        cost = answer_cost(self.answer.usage, self.setup, self.answer.queries)
        self._submit(Ending(status, self.answer, error, cost))
        await self._confirm()

    def _submit(self, ending: Ending | None = None, *, waits_after_s: float | None = None) -> None:
        changes = coalesce_changes(self._changes)
        self._changes = []
        self._size.add_stored(changes)
        rows = [to_row(change) for change in changes]
        if ending:
            rows.append(("status", {"status": ending.status.value}))
        elif waits_after_s is not None:
            rows.append(("waiting", {}))
        batch = TurnWrite(
            turn_id=self.turn.pk,
            conversation_id=self.turn.conversation_id,
            message_id=self.turn.message_id,
            owner_id=self.turn.conversation.owner_id,
            first_seq=self._seq + 1,
            rows=rows,
            attachments=[change.attachment for change in changes if isinstance(change, AttachmentAdded)],
            has_first_part=not self._has_part and any(isinstance(change, PartStarted) for change in changes),
            ending=ending,
            waits_after_s=waits_after_s,
            move=next((change for change in changes if isinstance(change, EngineMoved)), None),
        )
        self._has_part = self._has_part or batch.has_first_part
        self._seq = batch.last_seq
        self._unconfirmed = self._commits.submit(batch), batch, changes

    async def _confirm(self) -> None:
        """Wait until submitted changes are stored, and publish them."""
        if self._unconfirmed is None:
            return
        future, batch, changes = self._unconfirmed
        try:
            # Cancelling this task does not cancel the future, so the changes are still stored.
            stored = await asyncio.shield(future)
        except (TurnLost, asyncio.CancelledError):
            raise
        except Exception as error:
            raise NotStored from error
        self._unconfirmed = None
        loop = asyncio.get_running_loop()
        began_at = loop.time()
        try:
            frame = self.page.frame_of(batch, changes, stored)
        except Exception:
            # The changes are stored, so pages can read a snapshot.
            logger.exception("changes of turn %s could not be rendered", self.turn.pk)
            frame = self.page.give_up()
        now = loop.time()
        self._next_frame_at = next_frame_at(now, render_s=now - began_at, is_fast=self._is_fast)
        broadcast.publish(frame)
        if stored.is_stop_requested:
            self.stop()

    async def wait_for_next_frame(self) -> None:
        """Return when the next frame may be sent. Events that arrive until then are read together."""
        pause_s = self._next_frame_at - asyncio.get_running_loop().time()
        if pause_s > 0:
            await asyncio.sleep(pause_s)

    # --- stopping -------------------------------------------------------------------------------------------------

    def stop(self) -> None:
        """Stop the turn at a user's request. This does not change the status of a turn that is already ending."""
        if not self.is_stopping:
            self.is_stopping = True
            self.cancel()

    def interrupt(self, error_code: str) -> None:
        """End the turn as interrupted. This does not change the status of a turn that is already ending."""
        self.interruption = error_code
        self.cancel()

    def cancel(self) -> None:
        """Cancel the turn's task, which closes the upstream request."""
        if self.task and not self.is_ending:
            self.task.cancel()
