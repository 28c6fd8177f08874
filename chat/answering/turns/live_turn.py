"""One live turn in this process: its task, and how an answer is received, stored and then shown."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Iterable
from functools import partial
from typing import TypeAlias

from django.conf import settings

from chat.answering.prompt.context_window import answer_tokens
from chat.answering.prompt.rows import PromptRows
from chat.answering.turns import live_page
from chat.answering.turns.answer_cost import bill_live_answer
from chat.answering.turns.finish import NO_ERROR, Ending, TurnError, closing_at_end
from chat.answering.turns.log_writer import Commits, LogWriter
from chat.answering.turns.redraw_pause import redraw_pause_s
from chat.answering.turns.start_plan import PlannedTurn
from chat.messages.answer import Answer
from chat.messages.assembler import Assembler
from chat.messages.changes import Change, EngineMoved, MessagesLeftOut, Reported, StateSent, Waited
from chat.models import Conversation, Turn
from chat.page.relay import broadcast
from chat.page.relay.batching import BatchedCalls
from chat.page.relay.frame_schedule import next_frame_at, wait_until
from chat.page.relay.frames import Announcement, Step
from chat.providers.base import Capabilities
from chat.vocabulary.parts import Engine
from chat.vocabulary.stream_events import PartReceived, StreamEvent, Usage, UsageReported

PromptReads: TypeAlias = BatchedCalls[tuple[PlannedTurn, Capabilities | None], PromptRows]
"""Batched reads of prompt rows, each for a turn and its model's capabilities, or `None` to read them, too."""


class AnswerTooLong(Exception):
    """An answer is larger than one message may be, or its turn has run for too long."""


class LiveTurn:
    """The task of one turn.

    Its answer is in three objects: the assembler has what was received, the log writer what is being stored, and the
    live message what open pages show.
    """

    task: asyncio.Task[None] | None = None
    """The task that runs the turn."""
    is_stopping = False
    """True if a user has asked to stop the turn."""
    interruption = ""
    """The error code if this process interrupts the turn; otherwise empty."""
    is_ending = False
    """True once it is being stored that the turn ends or waits."""
    has_received = False
    """True if the provider or a tool has sent anything in this attempt at the round."""
    request_tokens = 0
    """An estimate of the tokens of the last request; 0 if no model was asked."""

    def __init__(
        self,
        started: PlannedTurn,
        commits: Commits,
        prompt_reads: PromptReads,
        answer: Answer | None = None,
        seq: int = 0,
    ) -> None:
        """`answer`, `seq`: the content and the last step of the log, for a turn that continues after a decision."""
        self.started = started
        self.turn = started.turn
        """The row, with its conversation and both messages."""
        self.setup = started.setup
        self.has_refused_tools = False
        self._launched_s = time.monotonic()
        self._prompt_reads = prompt_reads
        # The rows of the first request are read while the question is rendered.
        asks_now = answer is None and not self.turn.is_own_code
        self._first_read = prompt_reads.submit((started, started.capabilities)) if asks_now else None
        self._assembler = Assembler(
            is_code_offered=self.turn.engine == Engine.NATIVE, new_id=lambda: str(uuid.uuid4()), answer=answer
        )
        self._log = LogWriter(self.turn, commits, seq=seq, has_part=bool(self.answer.part_count))
        self._message = live_page.open_message(self.turn, self.answer)
        self._rendering: asyncio.Future[Step | Announcement] | None = None
        """The frame that a thread renders, until it is published."""
        self._next_frame_at = 0.0
        """The time of the event loop's clock at which the next frame may be sent. Until then, events gather."""
        self._is_fast = False
        """True if several parts have arrived for the last frame."""

    @property
    def answer(self) -> Answer:
        """The answer as far as it has been received."""
        return self._assembler.answer

    @property
    def room_chars(self) -> int:
        """Number of characters that the answer may still grow by."""
        limit: int = settings.ANSWER_LIMIT_CHARS
        return limit - self.answer.size_chars - self._log.usage_chars

    @property
    def _is_too_long(self) -> bool:
        answer = self.answer
        return (
            self.room_chars < 0
            or answer.data_bytes > settings.ANSWER_DATA_LIMIT_BYTES
            # A live plot may store many more graphs than the answer shows at its end.
            or answer.stored_bytes > 4 * settings.ANSWER_DATA_LIMIT_BYTES
            or answer.part_count > settings.ANSWER_PARTS_LIMIT
        )

    @property
    def needs_title(self) -> bool:
        """Return whether a model may write the title: its answer is complete, and the title is the first words."""
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
            if self._is_too_long:
                break
            self._log.add(self._assembler.add(event, made_by=made_by))
            parts += isinstance(event, PartReceived)
        self._is_fast = parts > 1

    def end_code(self, outcome: str) -> None:
        """Give an outcome to code of a tool set that will get no result."""
        self._log.add(self._assembler.end_code(outcome))

    def note(self, *changes: Change) -> None:
        """Apply changes that do not come from a stream event."""
        self._log.add(self.answer.apply_all(changes))

    def end_response(self) -> None:
        """Give an open thought, if any, its duration, and estimate the tokens if none were reported."""
        self._log.add(self._assembler.end_thought())
        self._estimate_tokens()

    def _estimate_tokens(self) -> None:
        """Record an estimate of the tokens of a response, if its provider has not reported them.

        Many servers report tokens with the last chunk, which does not come if the answer is stopped.
        """
        current = self.answer.current_round
        if self.request_tokens and self.has_received and not current.is_counted:
            tokens = self.request_tokens + answer_tokens(self.answer.parts_of_round)
            self.note(Reported(UsageReported(Usage(estimated=tokens), current.provider_usage)))

    def note_left_out(self, messages: int) -> None:
        """Record how many of the oldest messages are left out of the request."""
        if messages != self.answer.messages_left_out:
            self.note(MessagesLeftOut(messages))

    def note_state(self, text: str) -> None:
        """Record the text in the request about what the tools hold."""
        if text != self.answer.current_round.state:
            self.note(StateSent(text))

    def restart_attempt(self, sentence: str) -> None:
        """Record that the request is repeated. `sentence` is shown until the next part arrives; it may be empty."""
        self.has_received = False
        self._log.add(self._assembler.restart_attempt())
        if sentence:
            self.note(Waited(sentence))

    def start_round(self) -> None:
        """Begin the next round."""
        self.has_received = False
        self._log.add(self._assembler.start_round())

    def move_code(self, reason: str) -> None:
        """Let code run in a tool set from the current round on. `reason`: a sentence for the reader."""
        self.turn.engine = Engine.SESSION
        self.turn.move_reason, self.turn.moved_before_round = reason, self.answer.round_number
        self.note(EngineMoved(reason))

    def turn_tools_off(self, reason: str) -> None:
        """Turn tools off for the rest of the answer. `reason`: a sentence for the reader."""
        self.turn.engine, self.turn.move_reason = "", reason
        self.turn.code_execution = self.turn.offers_session = False
        self.has_refused_tools = True
        self._assembler.withdraw_code()
        self.note(EngineMoved(reason, is_off=True))

    async def read_prompt_rows(self) -> PromptRows:
        """Read the rows from which the next request is built."""
        first, self._first_read = self._first_read, None
        # Later requests read the model's capabilities again, because an earlier request may have changed them.
        return await (first or self._prompt_reads.submit((self.started, None)))

    # --- storing and showing --------------------------------------------------------------------------------------

    async def commit(self) -> None:
        """Store all changes, then publish them. Returns when both are done.

        Raises TurnLost if another process has ended the turn, NotStored if the changes cannot be stored, and
        AnswerTooLong after the changes that made the answer larger than one message may be were stored. A commit
        that is cancelled while its changes are being stored is completed by the next one.
        """
        await self._confirm()
        if self._log.has_changes:
            self._log.submit()
            await self._confirm()
        if self._is_too_long:
            raise AnswerTooLong

    async def wait_for_frame(self) -> None:
        """Return when the next frame may be sent."""
        await wait_until(self._next_frame_at)

    async def wait(self) -> None:
        """Store that the turn waits for a person's decision, and release its lease.

        If a user has asked to stop the turn just before that, end it instead.
        """
        self.is_ending = True
        await self._confirm()
        self.turn.status = Turn.Status.WAITING
        self._log.submit(waits_after_s=self.turn.run_s + time.monotonic() - self._launched_s)
        await self._confirm()
        if self.is_stopping:
            await self.end(Turn.Status.STOPPED)

    async def end(self, status: Turn.Status, error: TurnError = NO_ERROR) -> None:
        """Store the end of the turn with all that was received, then publish it. Raises as `LogWriter.confirm` does."""
        self.is_ending = True
        self._estimate_tokens()
        self._log.add(self._assembler.close(closing_at_end(self.turn, status)))
        await self._confirm()
        billing = await bill_live_answer(self.answer.rounds, self.setup, self.turn)
        self._log.submit(Ending(status, self.answer, error, billing))
        await self._confirm()

    async def _confirm(self) -> None:
        """Wait until submitted changes are stored, and publish them. Raises as `LogWriter.confirm` does."""
        await self._publish_rendered()
        confirmed = await self._log.confirm()
        if confirmed is None:
            return
        write, stored = confirmed
        if stored.is_stop_requested:
            self.stop()
        loop = asyncio.get_running_loop()
        began_at = loop.time()
        render = partial(live_page.frame, self._message, self.started, self.answer, write, stored)
        if live_page.is_quick(write, self.answer):
            broadcast.publish(render())
        else:
            self._rendering = asyncio.ensure_future(asyncio.to_thread(render))
            await self._publish_rendered()
        now = loop.time()
        self._next_frame_at = next_frame_at(now, render_s=now - began_at, is_fast=self._is_fast)
        self._next_frame_at += redraw_pause_s(write)
        if stored.is_stop_requested and not self.is_ending:
            # A cancelled task gets CancelledError here, and not later while the end of the turn is being stored.
            await asyncio.sleep(0)

    async def _publish_rendered(self) -> None:
        """Publish the frame that a thread renders, if any. If this is cancelled, the next call publishes it."""
        if self._rendering is not None:
            rendered = await asyncio.shield(self._rendering)
            self._rendering = None
            broadcast.publish(rendered)

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
        """Cancel the turn's task, which closes the upstream request. A turn that is already ending is not cancelled."""
        if self.task and not self.is_ending:
            self.task.cancel()
