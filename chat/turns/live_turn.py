"""One live turn in this process: what came and is not stored yet, and what the tabs have seen."""

from __future__ import annotations

import asyncio
import uuid

from django.utils.safestring import SafeString

from chat.fragments import conversations_swaps, frame, message_html, partial
from chat.models import Turn
from chat.parts import PartReceived, StreamEvent
from chat.turns.assembler import Answer, Assembler, AttachmentFound, Change
from chat.turns.broadcast import Frame
from chat.turns.live_message import LiveMessage
from chat.turns.log import coalesced, to_row
from chat.turns.starting import StartedTurn
from chat.turns.store import Batch, Ending
from chat.turns.transcript import answer_view, attachment_view, user_message_view


class LiveTurn:
    """Collects changes between two rounds of group commit and turns a stored round into a frame."""

    def __init__(self, started: StartedTurn) -> None:
        self.turn = started.turn
        """As last stored; its conversation and both messages are at hand."""
        self.task: asyncio.Task[None] | None = None
        """Runs the turn."""
        self.is_stopping = False
        """Whether a user asked for its end."""
        self.text_chars = 0
        """Of all that came, but for bytes of files."""
        self.data_bytes = 0
        """Of files that came."""
        self.due_at = 0.0
        """When its next round may be written, on the event loop's clock."""
        self.settled = asyncio.Event()
        """Set once its end is stored, or it was lost."""
        self._assembler = Assembler(code_execution=self.turn.code_execution, new_id=lambda: str(uuid.uuid4()))
        self._changes: list[Change] = []
        self._ending: Ending | None = None
        self._seq = 0
        self._page = LiveMessage(self.turn.message_id)
        self._is_unseen = False
        self._started = started

    @property
    def answer(self) -> Answer:
        """The answer as far as it has come, stored or not."""
        return self._assembler.answer

    @property
    def has_news(self) -> bool:
        """Whether there is anything to store."""
        return bool(self._changes or self._ending)

    def add(self, event: StreamEvent) -> None:
        """Take one event of the provider."""
        self._changes += self._assembler.add(event)
        if isinstance(event, PartReceived):
            part = event.part
            self.text_chars += len(part.text or "") + (len(str(part.fields)) if part.fields else 0)
            self.data_bytes += len(part.data or b"")

    def end(self, status: Turn.Status, *, error_code: str = "", error_detail: str = "") -> None:
        """No event follows."""
        self._ending = Ending(status, self.answer, error_code, error_detail)

    def stop(self) -> None:
        """End it because a user asked for that; a turn that is ending already ends as it would."""
        if not self.is_stopping:
            self.is_stopping = True
            self.cancel()

    def cancel(self) -> None:
        """End its task, which closes the upstream request."""
        if self.task and not self._ending:
            self.task.cancel()

    def take(self) -> tuple[Batch, list[Change]]:
        """What is new since the last call, for the store and for the page."""
        changes = coalesced(self._changes)
        self._changes = []
        rows = [to_row(change) for change in changes]
        if self._ending:
            rows.append(("status", {"status": self._ending.status.value}))
        batch = Batch(
            turn_id=self.turn.pk,
            conversation_id=self.turn.conversation_id,
            message_id=self.turn.message_id,
            owner_id=self.turn.conversation.owner_id,
            first_seq=self._seq + 1,
            rows=rows,
            attachments=[change.attachment for change in changes if isinstance(change, AttachmentFound)],
            ending=self._ending,
        )
        self._seq += len(rows)
        return batch, changes

    def opening(self) -> Frame:
        """The frame that adds the question and its empty answer to the transcript."""
        html = message_html(answer_view(self.turn.message, self.turn, self.answer))
        if self._started.asks:
            files = [attachment_view(attachment, index) for index, attachment in enumerate(self._started.attachments)]
            html = message_html(user_message_view(self.turn.user_message, files)) + html
        content = partial("transcript", "beforeend", html)
        if self._started.listed is not None:
            content += conversations_swaps(self.turn.conversation, self._started.listed)
        return self._frame(content, after=-1, seq=0)

    def frame_of(self, batch: Batch, changes: list[Change], revision: int | None) -> Frame:
        """The frame of a stored round; `revision`: the conversation's new one, where the turn has ended.

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
            if revision is not None:
                self.turn.conversation.revision = revision
            article = message_html(answer_view(self.turn.message, self.turn, self.answer))
            content = partial(f"message-{self.turn.message_id}", "outerMorph", article)
        seq = batch.first_seq + len(batch.rows) - 1
        return self._frame(content, after=batch.first_seq - 1, seq=seq)

    def _frame(self, content: SafeString, *, after: int, seq: int) -> Frame:
        turn_id = str(self.turn.pk)
        return Frame(
            conversation_id=str(self.turn.conversation_id),
            revision=self.turn.conversation.revision,
            turn_id=turn_id,
            after=after,
            seq=seq,
            text=frame(content, turn=turn_id, seq=seq),
        )
