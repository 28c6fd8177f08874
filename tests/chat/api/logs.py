"""Writes logs of turns as the product does, for tests of event streams."""

from __future__ import annotations

import itertools
import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field

from attachments.store import NewAttachment, create_attachments
from chat.answering.turns.finish import Ending, end_turn
from chat.messages.assembler import Assembler
from chat.messages.changes import AttachmentAdded, Change
from chat.messages.log import Row, to_row
from chat.models import Turn, TurnEvent
from chat.vocabulary.parts import Part
from chat.vocabulary.stream_events import Finish, Finished, PartReceived, StreamEvent, Usage, UsageReported
from tests.factories import make_conversation, make_model_message

_ids = itertools.count(1)


def new_id() -> str:
    """Return an id that no other call returns."""
    return str(uuid.UUID(int=next(_ids)))


@dataclass
class LiveTurn:
    """A running turn in the database. The test writes its log and its end."""

    turn: Turn
    assembler: Assembler = field(default_factory=lambda: Assembler(is_code_offered=True, new_id=new_id))

    @classmethod
    def create(cls) -> LiveTurn:
        """Return a turn with an empty log."""
        message = make_model_message(make_conversation(), parts=(), status=Turn.Status.RUNNING)
        TurnEvent.objects.filter(turn=message.turn).delete()
        return cls(message.turn)

    def receive(self, *items: Part | StreamEvent, made_by: str = "") -> None:
        """Write the log rows of parts and events that a provider or a tool sends."""
        for item in items:
            event = PartReceived(item) if isinstance(item, Part) else item
            self.write(self.assembler.add(event, made_by=made_by))

    def write(self, changes: Sequence[Change]) -> None:
        """Write changes, and store the attachments that they add."""
        for change in changes:
            if isinstance(change, AttachmentAdded):
                self._store(change)
            self.write_row(to_row(change))

    def write_row(self, row: Row) -> None:
        """Append one row to the log."""
        name, data = row
        # Store the row in the form that the database returns.
        TurnEvent.objects.create(
            turn=self.turn, seq=self.turn.events.count() + 1, name=name, data=json.loads(json.dumps(data))
        )

    def end(self, status: Turn.Status = Turn.Status.DONE) -> Turn:
        """End the turn, store the answer that was written, and return the turn."""
        self.receive(UsageReported(Usage(prompt=3, candidates=4, total=7)), Finished(Finish.STOP, "STOP"))
        self.write_row(("status", {"status": status.value}))
        ending = Ending(status, self.assembler.answer)
        end_turn(self.turn, ending)
        return Turn.objects.select_related("conversation").get(pk=self.turn.pk)

    def _store(self, change: AttachmentAdded) -> None:
        added = change.attachment
        assert added.data is not None
        new = NewAttachment(
            attachment_id=uuid.UUID(added.attachment_id),
            owner_id=self.turn.conversation.owner_id,
            data=added.data,
            name=added.name,
            mime_type=added.mime_type,
            width=added.width,
            height=added.height,
            is_graph=added.is_graph,
        )
        create_attachments([new])
