"""Writing drafts: all of a file's conversations or none, each that is not there yet.

A long file is written in several transactions, so that others can write in between: one alone would close an SQLite
database to everybody for as long as it takes. What a dead process leaves behind is known when the file comes again.
"""

from __future__ import annotations

import hashlib
import json
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models import Model

from attachments.models import Attachment
from attachments.store import NewAttachment, new_pending_many
from chat.imports.drafts import AttachmentDraft, ConversationDraft, MessageDraft
from chat.models import Conversation, Feedback, ImportedConversation, Message, MessageAttachment, Part, Turn
from chat.statements import Insert
from chat.turns.log import part_to_json

BATCH_ROWS = 200
FILES_AT_ONCE = 20
#: Messages and files of one transaction, in all its conversations: half a second's work.
ROWS_AT_ONCE = 1_000
#: Who waits for an SQLite database looks ten times a second whether it is free.
PAUSE_S = 0.12

# Unlike the ORM's own, these let a row have been created when it says.
_NEW_MESSAGE, _NEW_TURN, _NEW_PART = Insert(Message), Insert(Turn), Insert(Part)


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of a file's conversations, in its order."""

    created: tuple[uuid.UUID, ...]
    known: tuple[uuid.UUID, ...]
    """Those that an earlier import had brought."""


def store(drafts: Sequence[ConversationDraft], *, owner_id: int) -> Imported:
    """Write them for their new owner. All or nothing."""
    created: list[uuid.UUID] = []
    known: list[uuid.UUID] = []
    try:
        for number, batch in enumerate(_batches(drafts)):
            if number and connection.vendor == "sqlite":
                time.sleep(PAUSE_S)
            with transaction.atomic():
                found = [_store_new(draft, owner_id) for draft in batch]
            created += [pk for pk, is_new in found if is_new]
            known += [pk for pk, is_new in found if not is_new]
    except BaseException:
        for conversation in Conversation.objects.filter(pk__in=created):
            conversation.delete_with_attachments()
        raise
    return Imported(tuple(created), tuple(dict.fromkeys(known)))


def _batches(drafts: Sequence[ConversationDraft]) -> Iterator[list[ConversationDraft]]:
    batch: list[ConversationDraft] = []
    rows = 0
    for draft in drafts:
        batch.append(draft)
        # Each conversation costs about as much as some messages.
        rows += 5 + len(draft.messages) + len(draft.attachments)
        if rows >= ROWS_AT_ONCE:
            yield batch
            batch, rows = [], 0
    if batch:
        yield batch


def _store_new(draft: ConversationDraft, owner_id: int) -> tuple[uuid.UUID, bool]:
    """A conversation, and whether it is new."""
    earlier = _earlier(owner_id, digest := digest_of(draft))
    if earlier is not None:
        return earlier, False
    try:
        with transaction.atomic():
            conversation = _store(draft, owner_id)
            ImportedConversation.objects.create(owner_id=owner_id, conversation=conversation, digest=digest)
    except IntegrityError:
        # The same file came twice at once, and the other was faster.
        earlier = _earlier(owner_id, digest)
        if earlier is None:
            raise
        return earlier, False
    return conversation.pk, True


def _earlier(owner_id: int, digest: str) -> uuid.UUID | None:
    rows = ImportedConversation.objects.filter(owner_id=owner_id, digest=digest)
    return rows.values_list("conversation_id", flat=True).first()


def digest_of(draft: ConversationDraft) -> str:
    """Of its source where that tells all, else of what was said, when and with what files.

    Ids, title and settings may differ in the same conversation.
    """
    if draft.source:
        return hashlib.sha256(draft.source.encode()).hexdigest()
    numbers = {message.key: number for number, message in enumerate(draft.messages)}
    files = {attachment.key: attachment.sha256 for attachment in draft.attachments}
    said = [
        [
            None if message.parent is None else numbers[message.parent],
            message.role,
            message.text,
            message.created_at.isoformat(),
            [part_to_json(part) for part in message.parts],
            [[files[placed.key], placed.index, placed.part_index] for placed in message.attachments],
            message.turn.model if message.turn else "",
        ]
        for message in draft.messages
    ]
    whole = json.dumps([draft.created_at.isoformat(), said], sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()


def _store(draft: ConversationDraft, owner_id: int) -> Conversation:
    conversation = Conversation.objects.create(owner_id=owner_id, title=draft.title, **draft.columns)
    files = _store_files(draft.attachments, owner_id)
    rows = _store_messages(conversation, draft.messages)
    _store_turns(conversation, draft.messages, rows)
    _store_parts(draft.messages, rows, files)
    _store_feedback(owner_id, draft.messages, rows)
    revision = max((message.last_shown for message in draft.messages), default=0)
    times: dict[str, datetime] = {"created_at": draft.created_at, "updated_at": draft.updated_at}
    Conversation.objects.filter(pk=conversation.pk).update(revision=revision, **times)
    return conversation


def _store_files(drafts: Sequence[AttachmentDraft], owner_id: int) -> dict[str, Attachment]:
    stored: dict[str, Attachment] = {}
    for start in range(0, len(drafts), FILES_AT_ONCE):
        batch = drafts[start : start + FILES_AT_ONCE]
        rows = new_pending_many(
            [
                NewAttachment(
                    owner_id=owner_id,
                    data=file.data,
                    name=file.name,
                    mime_type=file.mime_type,
                    width=file.width,
                    height=file.height,
                    is_graph=file.is_graph,
                )
                for file in batch
            ]
        )
        stored.update((file.key, row) for file, row in zip(batch, rows, strict=True))
    return stored


def _store_messages(conversation: Conversation, drafts: Sequence[MessageDraft]) -> dict[str, Message]:
    rows: dict[str, Message] = {}
    for draft in drafts:
        parent = None if draft.parent is None else rows[draft.parent]
        rows[draft.key] = Message(
            conversation=conversation,
            parent=parent,
            index=0 if parent is None else parent.index + 1,
            is_shown=draft.is_shown,
            last_shown=draft.last_shown,
            role=draft.role,
            text=draft.text,
            created_at=draft.created_at,
        )
    _NEW_MESSAGE.many(map(_columns, rows.values()))
    return rows


def _columns(row: Model) -> dict[str, Any]:
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


def _store_turns(conversation: Conversation, drafts: Sequence[MessageDraft], rows: dict[str, Message]) -> None:
    turns = [
        Turn(
            conversation=conversation,
            user_message=rows[draft.parent],
            message=rows[draft.key],
            status=draft.turn.status,
            provider=draft.turn.provider or settings.CHAT_PROVIDER,
            model=draft.turn.model,
            created_at=draft.turn.created_at,
            **draft.turn.columns,
        )
        for draft in drafts
        if draft.turn is not None and draft.parent is not None
    ]
    _NEW_TURN.many(map(_columns, turns))


def _store_parts(drafts: Sequence[MessageDraft], rows: dict[str, Message], files: dict[str, Attachment]) -> None:
    parts: list[Part] = []
    places: list[MessageAttachment] = []
    for draft in drafts:
        message = rows[draft.key]
        by_index = {placed.index: files[placed.key] for placed in draft.attachments}
        parts += [
            Part(
                message=message,
                index=index,
                kind=part.kind,
                text=part.text,
                language=part.language,
                outcome=part.outcome,
                call_id=part.call_id,
                mime_type=part.mime_type,
                attachment=by_index.get(draft.part_attachments.get(index, -1)),
                fields=dict(part.fields),
                thought_signature=part.thought_signature,
            )
            for index, part in enumerate(draft.parts)
        ]
        places += [
            MessageAttachment(
                message=message, attachment=files[placed.key], index=placed.index, part_index=placed.part_index
            )
            for placed in draft.attachments
        ]
    _NEW_PART.many(map(_columns, parts))
    MessageAttachment.objects.bulk_create(places, batch_size=BATCH_ROWS)


def _store_feedback(owner_id: int, drafts: Sequence[MessageDraft], rows: dict[str, Message]) -> None:
    """As their new owner's."""
    given = [(draft.feedback, rows[draft.key]) for draft in drafts if draft.feedback is not None]
    feedback = [
        Feedback(message=message, user_id=owner_id, is_good=said.is_good, reason=said.reason) for said, message in given
    ]
    Feedback.objects.bulk_create(feedback, batch_size=BATCH_ROWS)
    for row, (said, _) in zip(feedback, given, strict=True):
        row.created_at, row.updated_at = said.created_at, said.updated_at
    Feedback.objects.bulk_update(feedback, ["created_at", "updated_at"], batch_size=BATCH_ROWS)
