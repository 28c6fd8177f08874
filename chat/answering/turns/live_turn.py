"""One live turn in this process: its changes that are not stored yet, and its message on open pages."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from chat.answering.prompt.rows import PromptRows
from chat.answering.turns.answer_size import AnswerSize
from chat.answering.turns.billing import bill_live_answer
from chat.answering.turns.code_times import CodeTimes
from chat.answering.turns.finish import NO_ERROR, Ending, TurnError, closing_at_end
from chat.answering.turns.live_page import LivePage
from chat.answering.turns.start_plan import PlannedTurn
from chat.answering.turns.store import StoreResult, TurnLost, TurnWrite
from chat.answering.turns.thought_times import ThoughtTimes
from chat.messages.answer import Answer
from chat.messages.assembler import Assembler
from chat.messages.changes import Change, EngineMoved, MessagesLeftOut, StateSent, ToolStarted, Waited
from chat.messages.log import coalesce_changes
from chat.models import Conversation, Turn
from chat.page.relay import broadcast
from chat.page.relay.batching import BatchedCalls
from chat.page.relay.frame_schedule import FrameSchedule
from chat.providers.base import Capabilities
from chat.vocabulary.parts import Engine
from chat.vocabulary.stream_events import PartReceived, StreamEvent

logger = logging.getLogger(__name__)

Commits: TypeAlias = BatchedCalls[TurnWrite, StoreResult]
PromptReads: TypeAlias = BatchedCalls[tuple[PlannedTurn, Capabilities | None], PromptRows]
"""A read is given the capabilities of the turn's model, or `None` to read them, too."""


class AnswerTooLong(Exception):
    """An answer is larger than one message may be."""


class NotStored(Exception):
    """Changes of a turn cannot be stored."""


@dataclass(frozen=True, slots=True)
class UnconfirmedWrite:
    """Changes that are being stored."""

    write: TurnWrite
    result: asyncio.Future[StoreResult]


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
        # The rows of the first request are read while the question is rendered.
        asks_now = answer is None and not self.turn.is_own_code
        self._first_read = prompt_reads.submit((started, started.capabilities)) if asks_now else None
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
        self.frame_schedule = FrameSchedule()
        """When the next frame may be sent. Events that arrive until then are read together."""
        self._unconfirmed: UnconfirmedWrite | None = None

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
        self.frame_schedule.is_fast = parts > 1

    def end_code(self, outcome: str) -> None:
        """Give an outcome to code of a tool set that will get no result."""
        self._changes += self._assembler.end_code(outcome)

    def note(self, *changes: Change) -> None:
        """Apply changes that have no stream event."""
        self._changes += self.answer.apply_all(changes)

    def end_thought(self) -> None:
        """Give the thought that is still open, if there is one, its duration: the response has ended."""
        self.note(*self._thought_times.end())

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
        self.end_thought()
        self._changes += self._assembler.restart_attempt()
        if sentence:
            self.note(Waited(sentence))

    def start_round(self) -> None:
        """Begin the next round."""
        self.has_received = False
        self.end_thought()
        self._changes += self._assembler.start_round()

    def move_code(self, reason: str) -> None:
        """Let code run in a tool set from the current round on. `reason`: a sentence for the reader."""
        self.turn.engine = Engine.SESSION
        self.turn.move_reason, self.turn.moved_before_round = reason, self.answer.round_number
        self.note(EngineMoved(reason))

    def start_tool(self, call_id: str) -> None:
        """Record that the tool of a function call begins to run."""
        self.note(ToolStarted(call_id))

    async def read_prompt_rows(self) -> PromptRows:
        """Read the rows from which the next request is built."""
        first, self._first_read = self._first_read, None
        # Later requests read the model's capabilities again, because an earlier one may have taught something.
        return await (first or self._prompt_reads.submit((self._started, None)))

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
        self.end_thought()
        self._changes += self._assembler.close(closing_at_end(status))
        await self._confirm()
        self._submit(
            Ending(status, self.answer, error, await bill_live_answer(self.answer.rounds, self.setup, self.turn))
        )
        await self._confirm()

    def _submit(self, ending: Ending | None = None, *, waits_after_s: float | None = None) -> None:
        """Give all changes to the next transaction."""
        changes = coalesce_changes(self._changes)
        self._changes = []
        self._size.add_stored(changes)
        write = TurnWrite.of(
            self.turn,
            changes,
            first_seq=self._seq + 1,
            had_no_part=not self._has_part,
            ending=ending,
            waits_after_s=waits_after_s,
        )
        self._has_part = self._has_part or write.has_first_part
        self._seq = write.last_seq
        self._unconfirmed = UnconfirmedWrite(write, self._commits.submit(write))

    async def _confirm(self) -> None:
        """Wait until submitted changes are stored, and publish them."""
        if self._unconfirmed is None:
            return
        write = self._unconfirmed.write
        try:
            # Cancelling this task does not cancel the future, so the changes are still stored.
            stored = await asyncio.shield(self._unconfirmed.result)
        except (TurnLost, asyncio.CancelledError):
            raise
        except Exception as error:
            raise NotStored from error
        self._unconfirmed = None
        stored.update_row(self.turn, write)
        self._publish(write, stored)
        if stored.is_stop_requested:
            self.stop()
            if not self.is_ending:
                # Be cancelled here, and not later, while the end of the turn is being stored.
                await asyncio.sleep(0)

    def _publish(self, write: TurnWrite, stored: StoreResult) -> None:
        """Send the frame of stored changes to all pages."""
        began_at = asyncio.get_running_loop().time()
        try:
            frame = self.page.frame(write, stored)
        except Exception:
            # The changes are stored, so pages can read a snapshot.
            logger.exception("changes of turn %s could not be rendered", self.turn.pk)
            frame = self.page.give_up()
        self.frame_schedule.add(began_at)
        broadcast.publish(frame)

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
