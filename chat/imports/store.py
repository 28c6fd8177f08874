"""Writes parsed conversations: all of a file's conversations or none, except those that were imported before.

A long file is written in several transactions, so that others can write in between: SQLite has one writer at a time. If
the process dies in between, importing the file again adds what is missing.
"""

from __future__ import annotations

import hashlib
import json
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db import IntegrityError, connection, transaction

from attachments.models import Attachment
from attachments.store import NewAttachment, create_attachments
from chat.imports.records import ParsedAttachment, ParsedConversation, ParsedMessage
from chat.models import Conversation, Feedback, ImportedConversation, Message, MessageAttachment, Part, Round, Turn
from chat.models.deletion import delete_conversation
from chat.part_json import part_to_json

BATCH_ROWS = 200
BATCH_FILES = 20
TRANSACTION_ROWS = 1_000
"""Messages and attachments of one transaction, which takes about half a second."""
PAUSE_S = 0.12
"""Pause between two transactions in SQLite, which a waiting writer tries to begin ten times a second."""


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The ids of a file's conversations, in the order of the file."""

    created: tuple[uuid.UUID, ...]
    existing: tuple[uuid.UUID, ...]
    """Those that were imported before."""


def store_conversations(conversations: Sequence[ParsedConversation], *, owner_id: int) -> ImportResult:
    """Store the conversations for their new owner. Either all of them are stored, or none."""
    created: list[uuid.UUID] = []
    existing: list[uuid.UUID] = []
    try:
        for number, batch in enumerate(_batches(conversations)):
            if number and connection.vendor == "sqlite":
                time.sleep(PAUSE_S)
            with transaction.atomic():
                results = [_store_unless_existing(conversation, owner_id) for conversation in batch]
            created += [pk for pk, is_new in results if is_new]
            existing += [pk for pk, is_new in results if not is_new]
    except BaseException:
        for conversation in Conversation.objects.filter(pk__in=created):
            delete_conversation(conversation)
        raise
    return ImportResult(tuple(created), tuple(dict.fromkeys(existing)))


def _batches(conversations: Sequence[ParsedConversation]) -> Iterator[list[ParsedConversation]]:
    """Yield the conversations of each transaction."""
    batch: list[ParsedConversation] = []
    rows = 0
    for conversation in conversations:
        batch.append(conversation)
        # The conversation itself takes about as long as five messages.
        rows += 5 + len(conversation.messages) + len(conversation.attachments)
        if rows >= TRANSACTION_ROWS:
            yield batch
            batch, rows = [], 0
    if batch:
        yield batch


def _store_unless_existing(parsed: ParsedConversation, owner_id: int) -> tuple[uuid.UUID, bool]:
    """Return the id of the conversation, and whether it is new."""
    digest = compute_digest(parsed)
    existing_id = _find_existing(owner_id, digest)
    if existing_id is not None:
        return existing_id, False
    try:
        with transaction.atomic():
            conversation = _store_conversation(parsed, owner_id)
            ImportedConversation.objects.create(owner_id=owner_id, conversation=conversation, digest=digest)
    except IntegrityError:
        # Another process imported the same conversation at the same time.
        existing_id = _find_existing(owner_id, digest)
        if existing_id is None:
            raise
        return existing_id, False
    return conversation.pk, True


def _find_existing(owner_id: int, digest: str) -> uuid.UUID | None:
    rows = ImportedConversation.objects.filter(owner_id=owner_id, digest=digest)
    return rows.values_list("conversation_id", flat=True).first()


def compute_digest(parsed: ParsedConversation) -> str:
    """Return the SHA-256, in hex, of the unique id from the file or, if there is none, of messages, times and files.

    Ids, title and settings do not count, because they may differ between two exports of one conversation.
    """
    if parsed.source_id:
        return hashlib.sha256(parsed.source_id.encode()).hexdigest()
    numbers = {message.key: number for number, message in enumerate(parsed.messages)}
    files = {file.key: file.sha256 for file in parsed.attachments}
    content = [
        [
            None if message.parent is None else numbers[message.parent],
            message.role,
            message.text,
            message.created_at.isoformat(),
            [part_to_json(part) for part in message.parts],
            [[files[placement.key], placement.index, placement.part_index] for placement in message.placements],
            message.turn.model if message.turn else "",
        ]
        for message in parsed.messages
    ]
    return hashlib.sha256(json.dumps([parsed.created_at.isoformat(), content], sort_keys=True).encode()).hexdigest()


def _store_conversation(parsed: ParsedConversation, owner_id: int) -> Conversation:
    conversation = Conversation.objects.create(
        owner_id=owner_id,
        title=parsed.title,
        title_source=parsed.title_source,
        model=parsed.model,
        code_execution=parsed.code_execution,
        system_instruction=parsed.system_instruction,
        side_tokens=parsed.side_tokens,
        side_cost=parsed.side_cost,
        revision=max((message.last_shown for message in parsed.messages), default=0),
    )
    files = _store_attachments(parsed.attachments, owner_id)
    rows = _store_messages(conversation, parsed.messages)
    _store_turns(conversation, parsed.messages, rows)
    _store_parts(parsed.messages, rows, files)
    _store_feedback(owner_id, parsed.messages, rows)
    # Saving sets these times to now, so they are written by an update.
    Conversation.objects.filter(pk=conversation.pk).update(created_at=parsed.created_at, updated_at=parsed.updated_at)
    return conversation


def _store_attachments(parsed: Sequence[ParsedAttachment], owner_id: int) -> dict[str, Attachment]:
    """Return the stored attachments by their key."""
    stored: dict[str, Attachment] = {}
    for start in range(0, len(parsed), BATCH_FILES):
        batch = parsed[start : start + BATCH_FILES]
        rows = create_attachments(
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


def _store_messages(conversation: Conversation, parsed: Sequence[ParsedMessage]) -> dict[str, Message]:
    """Return the stored messages by their key."""
    rows: dict[str, Message] = {}
    for message in parsed:
        parent = None if message.parent is None else rows[message.parent]
        rows[message.key] = Message(
            conversation=conversation,
            parent=parent,
            index=0 if parent is None else parent.index + 1,
            is_shown=message.is_shown,
            last_shown=message.last_shown,
            role=message.role,
            text=message.text,
            created_at=message.created_at,
        )
    Message.objects.bulk_create(rows.values(), batch_size=BATCH_ROWS)
    return rows


def _store_turns(conversation: Conversation, parsed: Sequence[ParsedMessage], rows: Mapping[str, Message]) -> None:
    turns: list[Turn] = []
    rounds: list[Round] = []
    for message in parsed:
        if message.turn is None or message.parent is None:
            continue
        turn = message.turn
        turn.conversation = conversation
        turn.user_message = rows[message.parent]
        turn.message = rows[message.key]
        turn.provider = turn.provider or settings.CHAT_PROVIDER
        turns.append(turn)
        for index, one in enumerate(message.rounds):
            one.turn, one.index = turn, index
            rounds.append(one)
    Turn.objects.bulk_create(turns, batch_size=BATCH_ROWS)
    Round.objects.bulk_create(rounds, batch_size=BATCH_ROWS)


def _store_parts(parsed: Sequence[ParsedMessage], rows: Mapping[str, Message], files: Mapping[str, Attachment]) -> None:
    """Store the parts of all messages, and the places of their attachments."""
    parts: list[Part] = []
    links: list[MessageAttachment] = []
    for message in parsed:
        row = rows[message.key]
        attachments = {placement.index: files[placement.key] for placement in message.placements}
        parts += [
            Part.from_value(
                part, index=index, message=row, attachment=attachments.get(message.part_attachments.get(index, -1))
            )
            for index, part in enumerate(message.parts)
        ]
        links += [
            MessageAttachment(
                message=row,
                attachment=files[placement.key],
                index=placement.index,
                part_index=placement.part_index,
            )
            for placement in message.placements
        ]
    Part.objects.bulk_create(parts, batch_size=BATCH_ROWS)
    MessageAttachment.objects.bulk_create(links, batch_size=BATCH_ROWS)


def _store_feedback(owner_id: int, parsed: Sequence[ParsedMessage], rows: Mapping[str, Message]) -> None:
    """Store the feedback as the new owner's."""
    given = [(message.feedback, rows[message.key]) for message in parsed if message.feedback is not None]
    feedback = [Feedback(message=row, user_id=owner_id, is_good=one.is_good, reason=one.reason) for one, row in given]
    Feedback.objects.bulk_create(feedback, batch_size=BATCH_ROWS)
    # Creating rows sets their times to now, so these are updated afterwards.
    for stored, (one, _) in zip(feedback, given, strict=True):
        stored.created_at, stored.updated_at = one.created_at, one.updated_at
    Feedback.objects.bulk_update(feedback, ["created_at", "updated_at"], batch_size=BATCH_ROWS)
