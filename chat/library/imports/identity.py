"""Recognizes conversations that are here already: imported before, or exported from this server by their owner."""

from __future__ import annotations

import hashlib
import json
import uuid

from chat.library.imports.records import ParsedConversation
from chat.models import Conversation, ImportedConversation, Message
from chat.vocabulary.part_json import part_to_json


def find_here(parsed: ParsedConversation, owner_id: int) -> uuid.UUID | None:
    """Return the owner's conversation that a file contains; `None` if it is not here, or was deleted."""
    return _find_own(parsed, owner_id) or _find_imported(parsed, owner_id)


def _find_own(parsed: ParsedConversation, owner_id: int) -> uuid.UUID | None:
    """Return the conversation that was exported from here and is still here, with all messages of the export."""
    try:
        own_id = uuid.UUID(parsed.own_id)
    except ValueError:
        return None
    # A temporary conversation does not count: it is deleted soon, and its owner may import its export to keep it.
    if not Conversation.objects.filter(pk=own_id, owner_id=owner_id, temporary_seen_at=None).exists():
        return None
    texts = {str(pk): text for pk, text in Message.objects.filter(conversation=own_id).values_list("pk", "text")}
    # If an answer was exported while it was being written, the export has only its beginning.
    is_here = all(texts.get(message.key, "").startswith(message.text) for message in parsed.messages)
    return own_id if is_here and texts.keys() >= {message.key for message in parsed.messages} else None


def _find_imported(parsed: ParsedConversation, owner_id: int) -> uuid.UUID | None:
    """Return the conversation that was imported before."""
    marks = ImportedConversation.objects.filter(owner_id=owner_id, conversation__deleted_at__isnull=True)
    ids = marks.values_list("conversation_id", flat=True)
    found = ids.filter(digest=compute_digest(parsed)).first()
    if found is not None or not parsed.earlier_source_id:
        return found
    # Earlier versions of Plotline used a digest of the whole content, which differs in a later export.
    earlier = hashlib.sha256(parsed.earlier_source_id.encode()).hexdigest()
    first = parsed.messages[0]
    outdated = ids.filter(content_digest="")
    return (
        outdated.filter(digest=earlier).first()
        or outdated.filter(
            conversation__created_at=parsed.created_at,
            conversation__messages__parent=None,
            conversation__messages__created_at=first.created_at,
            conversation__messages__text=first.text,
        ).first()
    )


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
