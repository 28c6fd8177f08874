"""Writing drafts: all of a file's conversations in one transaction, each that is not there yet."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import IntegrityError, transaction

from attachments.models import Attachment
from attachments.store import NewAttachment, new_pending_many
from chat.imports.drafts import AttachmentDraft, ConversationDraft, MessageDraft
from chat.models import Conversation, ImportedConversation, Message, MessageAttachment, Part, Turn
from chat.turns.log import part_to_json

BATCH_ROWS = 200
FILES_AT_ONCE = 20


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
    with transaction.atomic():
        for draft in drafts:
            earlier = _earlier(owner_id, digest := digest_of(draft))
            if earlier is not None:
                known.append(earlier)
                continue
            conversation = _store(draft, owner_id)
            try:
                with transaction.atomic():
                    ImportedConversation.objects.create(owner_id=owner_id, conversation=conversation, digest=digest)
            except IntegrityError:
                # The same file came twice at once, and the other was faster.
                conversation.delete_with_attachments()
                known += [found for found in [_earlier(owner_id, digest)] if found is not None]
                continue
            created.append(conversation.pk)
    return Imported(tuple(created), tuple(dict.fromkeys(known)))


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
        )
    Message.objects.bulk_create(rows.values(), batch_size=BATCH_ROWS)
    # Creating them has set the time to now.
    for draft in drafts:
        rows[draft.key].created_at = draft.created_at
    Message.objects.bulk_update(rows.values(), ["created_at"], batch_size=BATCH_ROWS)
    return rows


def _store_turns(conversation: Conversation, drafts: Sequence[MessageDraft], rows: dict[str, Message]) -> None:
    turns = []
    for draft in drafts:
        if draft.turn is not None and draft.parent is not None:
            turn = Turn(
                conversation=conversation,
                user_message=rows[draft.parent],
                message=rows[draft.key],
                status=draft.turn.status,
                provider=draft.turn.provider or settings.CHAT_PROVIDER,
                model=draft.turn.model,
                **draft.turn.columns,
            )
            turns.append((turn, draft.turn.created_at))
    Turn.objects.bulk_create([turn for turn, _ in turns], batch_size=BATCH_ROWS)
    for turn, created_at in turns:
        turn.created_at = created_at
    Turn.objects.bulk_update([turn for turn, _ in turns], ["created_at"], batch_size=BATCH_ROWS)


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
    Part.objects.bulk_create(parts, batch_size=BATCH_ROWS)
    MessageAttachment.objects.bulk_create(places, batch_size=BATCH_ROWS)
