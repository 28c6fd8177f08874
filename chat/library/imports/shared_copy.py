"""Copies the messages of a share into a conversation of its reader, through the export and the import as JSON.

The copy has the content that the reader was shown, and the parts as the provider sent them. It does not have the
owner's settings, costs, token counts, ratings and names of endpoints. A reader who copies the same share again gets the
existing copy.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from django.utils import timezone

from chat.library.exports import as_json
from chat.library.exports.source import BATCH_MESSAGES, ExportSource
from chat.library.imports.importer import IMPORT_LIMIT_BYTES, import_document
from chat.library.imports.refusal import RefusedImport
from chat.messages.records import MessageRecord
from chat.models import Conversation, Share
from chat.page.transcript.shared_pages import shared_records

TOO_LARGE = "This conversation is too large to be copied: its messages and files have more than {limit_mb} MB."


@dataclass(frozen=True, slots=True)
class _SharedSource(ExportSource):
    """The messages of a share, in the form in which an export reads them."""

    share: Share

    def messages(self, *, shown_only: bool) -> Iterator[MessageRecord]:
        """Yield the messages of the share."""
        stop = self.share.last_message.index + 1
        ids = self.share.message_ids(0, stop)
        for start in range(0, len(ids), BATCH_MESSAGES):
            yield from map(_without_owner, shared_records(self.share, ids[start : start + BATCH_MESSAGES]))

    def is_live(self) -> bool:
        """Return False: a share has no live answer."""
        return False


def copy_share(share: Share, *, owner_id: int) -> uuid.UUID:
    """Return the reader's conversation with a copy of the share's messages.

    Raises RefusedImport if the share is too large, and QuotaExceeded.
    """
    result = import_document(partial(_document, share), owner_id=owner_id, name=str(share))
    [conversation_id] = result.created + result.existing
    return conversation_id


def _document(share: Share) -> bytes:
    """Return the share's messages as a document of an export. Raises RefusedImport if it is too large."""
    now = timezone.now()
    # With the time of the share, copies of different shares are different conversations.
    is_private = share.conversation.is_private
    conversation = Conversation(title=share.title, private_data=is_private, created_at=share.created_at, updated_at=now)
    document = bytearray()
    for chunk in as_json.chunks(_SharedSource(conversation, now, share)):
        document += chunk
        if len(document) > IMPORT_LIMIT_BYTES:
            raise RefusedImport(TOO_LARGE.format(limit_mb=IMPORT_LIMIT_BYTES // 1024**2))
    return bytes(document)


def _without_owner(record: MessageRecord) -> MessageRecord:
    """Return the message as a shown message, without data that belong only to its owner. No row is saved."""
    record.message.is_shown = True
    record.feedback = None
    record.decisions = []
    if record.turn is not None:
        record.turn.endpoint = record.turn.response_id = record.turn.code_reason = ""
        record.turn.usage = {}
        record.turn.cost = None
        for one in record.rounds:
            # The state names variables and files of the session, which the guest did not see.
            one.state = ""
        label = record.turn.parameters.get("label")
        record.turn.parameters = {"label": label} if label else {}
    return record
