"""One live turn in this process: what came and is not stored yet, and what the tabs have seen."""

from __future__ import annotations

import asyncio
import functools
import uuid
from collections.abc import Mapping
from types import MappingProxyType

from django.utils.safestring import SafeString

from chat.fragments import MessageView, delete, frame, joined, message_html, partial, title_swaps, usage_html
from chat.models import Conversation, Turn
from chat.parts import PartReceived, StreamEvent
from chat.providers.base import ProviderError
from chat.turns.answer import Answer, AttachmentFound, Change, LeftOut, PartStarted, Waited
from chat.turns.assembler import Assembler
from chat.turns.broadcast import Frame
from chat.turns.cadence import FAST_INTERVAL_S, FAST_TICK_LIMIT_S
from chat.turns.live_message import Halves, LiveMessage
from chat.turns.log import coalesced, to_row
from chat.turns.spending import answer_cost
from chat.turns.starting import StartedTurn
from chat.turns.store import Batch, Ended, Ending
from chat.turns.transcript import answer_view, attachment_view, user_message_view

REST_LIMIT_S = 1.2 * (FAST_INTERVAL_S + FAST_TICK_LIMIT_S)
"""Longer than between two frames of a turn; one whose frames are so long that they come less often is read on."""


class LiveTurn:
    """Collects changes between two rounds of group commit and turns a stored round into a frame."""

    def __init__(self, started: StartedTurn) -> None:
        self.turn = started.turn
        """As last stored; its conversation and both messages are at hand."""
        self.setup = started.setup
        self.task: asyncio.Task[None] | None = None
        """Runs the turn."""
        self.is_stopping = False
        """Whether a user asked for its end."""
        self.text_chars = 0
        """Of all that came, but for bytes of files."""
        self.data_bytes = 0
        """Of files that came."""
        self.due_at = 0.0
        """When its next round may be written, on the event loop's clock; see `wait_until`."""
        self.has_heard = False
        """Whether the provider has said anything in this attempt."""
        self.is_fast = False
        """Whether its provider says more than once between two rounds."""
        self.settled = asyncio.Event()
        """Set once its end is stored, or it was lost."""
        self._assembler = Assembler(code_execution=self.turn.code_execution, new_id=lambda: str(uuid.uuid4()))
        self._changes: list[Change] = []
        self._parts_waiting = 0
        self._ending: Ending | None = None
        self._seq = 0
        self._has_part = False
        self._page = LiveMessage(self.turn)
        self._is_unseen = False
        self._resting: asyncio.Future[None] | None = None
        self._started = started
        self._turn_id = str(self.turn.pk)
        self._conversation_id = str(self.turn.conversation_id)
        self._new_batch = functools.partial(
            Batch,
            turn_id=self.turn.pk,
            conversation_id=self.turn.conversation_id,
            message_id=self.turn.message_id,
            owner_id=self.turn.conversation.owner_id,
        )

    @property
    def answer(self) -> Answer:
        """The answer as far as it has come, stored or not."""
        return self._assembler.answer

    @property
    def names_conversation(self) -> bool:
        """Whether a title may be made now: nobody had named it when this turn began, and its answer is whole."""
        is_unnamed = self.turn.conversation.title_source == Conversation.TitleSource.WORDS
        return is_unnamed and self.turn.status == Turn.Status.DONE

    @property
    def has_news(self) -> bool:
        """Whether there is anything to store."""
        return bool(self._changes or self._ending)

    def add(self, event: StreamEvent) -> None:
        """Take one event of the provider."""
        self.has_heard = True
        self._changes += self._assembler.add(event)
        if isinstance(event, PartReceived):
            part = event.part
            self._parts_waiting += 1
            self.text_chars += len(part.text or "") + (len(str(part.fields)) if part.fields else 0)
            self.data_bytes += len(part.data or b"")

    async def rest(self) -> None:
        """Return when what came is stored and the next round may be written, or when none can be for now.

        Reading on before would show nothing earlier; read together, what comes until then costs a good deal less. A
        slow provider, which says nothing until then, is read on.
        """
        if self.is_fast and self.has_news:
            self._resting = asyncio.get_running_loop().create_future()
            self._wake_in_time()
            await self._resting

    def wake(self) -> None:
        """End its rest."""
        if self._resting and not self._resting.done():
            self._resting.set_result(None)

    def wait_until(self, due_at: float) -> None:
        """Have its next round written no earlier than this."""
        self.due_at = due_at
        self._wake_in_time()

    def _wake_in_time(self) -> None:
        """If it rests and is due later; one that is due now is waited for until it has been stored."""
        loop = asyncio.get_running_loop()
        if self._resting and not self._resting.done() and self.due_at > loop.time():
            loop.call_at(min(self.due_at, loop.time() + REST_LIMIT_S), self.wake)

    def restart(self, sentence: str) -> None:
        """The provider is asked again; `sentence` is what the reader is told until something comes, or empty."""
        self.has_heard = False
        self._changes += self._assembler.restart()
        if sentence:
            self._changes += self._assembler.note(Waited(sentence))

    def note_left_out(self, messages: int) -> None:
        """So many of the oldest messages are not sent."""
        if messages != self.answer.left_out:
            self._changes += self._assembler.note(LeftOut(messages))

    def fail(self, error: ProviderError) -> None:
        """The provider failed, and no event follows."""
        self.end(
            Turn.Status.FAILED,
            error_code=error.code,
            error_detail=error.detail,
            retry_after_s=error.retry_after_s,
        )

    def end(
        self,
        status: Turn.Status,
        *,
        error_code: str = "",
        error_detail: str = "",
        retry_after_s: float | None = None,
    ) -> None:
        """No event follows."""
        cost = answer_cost(self.answer.usage, self.setup)
        self._ending = Ending(status, self.answer, error_code, error_detail, retry_after_s, cost)

    def stop(self) -> None:
        """End it because a user asked for that; a turn that is ending already ends as it would."""
        if not self.is_stopping:
            self.is_stopping = True
            self.cancel()

    def cancel(self) -> None:
        """End its task, which closes the upstream request."""
        if self.task and not self._ending:
            self.task.cancel()

    def take(self, *, renews_lease: bool) -> tuple[Batch, list[Change]]:
        """What is new since the last call, for the store and for the page."""
        changes = coalesced(self._changes)
        self._changes = []
        self.is_fast = self._parts_waiting > 1
        self._parts_waiting = 0
        rows = [to_row(change) for change in changes]
        if self._ending:
            rows.append(("status", {"status": self._ending.status.value}))
        batch = self._new_batch(
            first_seq=self._seq + 1,
            rows=rows,
            attachments=[change.attachment for change in changes if isinstance(change, AttachmentFound)],
            ending=self._ending,
            renews_lease=renews_lease,
            brings_first_part=not self._has_part and any(isinstance(change, PartStarted) for change in changes),
        )
        self._has_part = self._has_part or batch.brings_first_part
        self._seq += len(rows)
        return batch, changes

    def opening(self) -> Frame:
        """The frame that adds the question and its empty answer to the transcript."""
        started = self._started
        html = message_html(self._view())
        if started.asks:
            files = [attachment_view(attachment, index) for index, attachment in enumerate(started.attachments)]
            html = message_html(user_message_view(self.turn.user_message, files, started.question_versions)) + html
        content = joined(delete(f"message-{hidden}") for hidden in started.hidden)
        content += partial("transcript", "beforeend", html)
        if started.names:
            content += title_swaps(self.turn.conversation)
        return self._frame(content, after=-1, seq=0)

    def frame_of(self, batch: Batch, changes: list[Change], ended: Ended | None) -> Frame:
        """The frame of a stored round; `ended`: what the conversation is then, where the turn has ended.

        The frame of the end shows the whole message, as every later page will.
        """
        if batch.ending is None:
            if self._is_unseen:
                return Frame.unseen(self.turn.conversation_id)
            # Until it has been made: after a failure in the middle, what the tabs have seen is not known.
            self._is_unseen = True
            content = self._page.update(changes)
            self._is_unseen = False
        else:
            for name, value in batch.ending.turn_fields().items():
                setattr(self.turn, name, value)
            content = partial(
                f"message-{self.turn.message_id}", "outerMorph", message_html(self._view(self._shown(changes)))
            )
            if ended is not None:
                self.turn.conversation.revision = ended.revision
                content += partial("conversation-usage", "outerMorph", usage_html(ended.usage))
        seq = batch.first_seq + len(batch.rows) - 1
        return self._frame(content, after=batch.first_seq - 1, seq=seq)

    def _shown(self, changes: list[Change]) -> Mapping[int, Halves]:
        """What is rendered already once the last changes are; nothing after a failure in the middle."""
        if self._is_unseen:
            return {}
        self._page.update(changes)
        return self._page.halves()

    def _view(self, halves: Mapping[int, Halves] = MappingProxyType({})) -> MessageView:
        return answer_view(self.turn.message, self.turn, self.answer, self._started.answer_versions, halves)

    def _frame(self, content: SafeString, *, after: int, seq: int) -> Frame:
        return Frame(
            conversation_id=self._conversation_id,
            revision=self.turn.conversation.revision,
            turn_id=self._turn_id,
            after=after,
            seq=seq,
            text=frame(content, turn=self._turn_id, seq=seq),
        )
