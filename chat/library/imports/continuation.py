"""Continues an imported conversation with what a later file has of it: new messages, new versions and missing files.

The messages of the file are compared with those that are here by their parent, role and time. What a person has done
with the conversation since stays: nothing is removed, and the shown path changes only if its end was imported.
"""

from __future__ import annotations

import time
import uuid
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeAlias

from django.db import connection, transaction
from django.db.models import Count

from attachments.models import Attachment
from chat.answering.turns.finish import increment_revision
from chat.answering.turns.versions import SwitchRefused, show
from chat.library.imports.records import ParsedConversation, ParsedMessage
from chat.library.imports.rows import ConversationRows
from chat.models import Conversation, ImportedConversation, Message, MessageAttachment, Part, Turn
from chat.vocabulary.parts import Role

SLICE_MESSAGES = 300
"""New messages of one transaction."""
PAUSE_S = 0.12
"""Pause between two transactions in SQLite, which a waiting writer tries to begin ten times a second."""

_Place: TypeAlias = tuple[uuid.UUID | None, str, datetime]
"""Parent, role and time of a message."""


@dataclass(slots=True)
class Addition:
    """What a file adds to a conversation."""

    parsed: ParsedConversation
    known: dict[str, Message] = field(default_factory=dict)
    """Messages that are here already, by their key in the file."""
    new: list[ParsedMessage] = field(default_factory=list)
    fuller: list[ParsedMessage] = field(default_factory=list)
    """Messages that are here, but of which the file has more files or parts."""
    files: dict[str, Attachment] = field(default_factory=dict)
    """Files of the conversation that are here already, by their key in the file."""
    is_shown_path_imported: bool = False
    """Whether the last shown message is one of the file."""

    @property
    def is_empty(self) -> bool:
        """Whether the file adds nothing."""
        return not self.new and not self.fuller

    def as_conversation(self) -> ParsedConversation:
        """Return the conversation with only what is added, whose texts and files count for the quotas."""
        messages = (*self.new, *self.fuller)
        placed = {placement.key for message in messages for placement in message.placements}
        files = [file for file in self.parsed.attachments if file.key in placed and file.key not in self.files]
        return replace(self.parsed, messages=messages, attachments=tuple(files))


def find_addition(conversation_id: uuid.UUID, parsed: ParsedConversation) -> Addition:
    """Return what a file adds to a conversation. A file of which no message is here adds nothing."""
    mark = ImportedConversation.objects.filter(conversation_id=conversation_id).first()
    if mark is None or parsed.content_digest in ("", mark.content_digest):
        return Addition(parsed)
    state = _State.of(conversation_id)
    addition = Addition(parsed)
    for message in parsed.messages:
        if message.parent is not None and message.parent not in addition.known:
            addition.new.append(message)
            continue
        row, is_only_one = state.take(message, addition.known[message.parent].pk if message.parent else None)
        if row is None:
            addition.new.append(message)
            continue
        addition.known[message.key] = row
        if is_only_one and state.is_fuller(message, row, parsed, is_outdated=not mark.content_digest):
            addition.fuller.append(message)
    if not addition.known:
        return Addition(parsed)
    rows = Attachment.objects.filter(message_attachments__message__conversation_id=conversation_id)
    by_digest = {row.sha256: row for row in rows}
    addition.files = {file.key: by_digest[file.sha256] for file in parsed.attachments if file.sha256 in by_digest}
    known_ids = {row.pk for row in addition.known.values()}
    addition.is_shown_path_imported = state.last_shown is not None and state.last_shown.pk in known_ids
    return addition


@dataclass(slots=True)
class _State:
    """The messages of a conversation that the file has not named yet."""

    rows: dict[_Place, list[Message]]
    part_counts: dict[uuid.UUID, int]
    digests: dict[uuid.UUID, set[str]]
    """Id of a message -> digests of its files."""
    unanswered: dict[uuid.UUID | None, Message]
    """Id of a question -> the empty answer that an import has made for it."""
    last_shown: Message | None

    @classmethod
    def of(cls, conversation_id: uuid.UUID) -> _State:
        """Read the state of a conversation, without the texts."""
        columns = ("parent_id", "index", "role", "created_at", "is_shown", "reruns", "conversation_id")
        messages = Message.objects.filter(conversation_id=conversation_id).order_by("index", "created_at", "pk")
        rows: dict[_Place, list[Message]] = defaultdict(list)
        last_shown = None
        for row in messages.only(*columns):
            rows[row.parent_id, row.role, row.created_at].append(row)
            last_shown = row if row.is_shown else last_shown
        counts = Part.objects.filter(message__conversation_id=conversation_id).values_list("message_id")
        digests: dict[uuid.UUID, set[str]] = defaultdict(set)
        links = MessageAttachment.objects.filter(message__conversation_id=conversation_id)
        for message_id, digest in links.values_list("message_id", "attachment__sha256"):
            digests[message_id].add(digest)
        # An import gives an unanswered question an empty answer, which no provider of this server has tried to write.
        empty = messages.filter(
            turn__status=Turn.Status.INTERRUPTED, turn__client_id=None, turn__provider="", parts__isnull=True
        )
        return cls(
            rows,
            dict(counts.annotate(Count("pk"))),
            digests,
            {row.parent_id: row for row in empty.only(*columns)},
            last_shown,
        )

    def take(self, message: ParsedMessage, parent_id: uuid.UUID | None) -> tuple[Message | None, bool]:
        """Return the row of a message of the file, if it is here, and whether no other row could be meant."""
        rows = self.rows[parent_id, message.role, message.created_at]
        if rows:
            is_only_one, row = len(rows) == 1, rows.pop(0)
            if self.unanswered.get(parent_id) == row:
                del self.unanswered[parent_id]
            return row, is_only_one
        if message.role is Role.MODEL and message.parts and (empty := self.unanswered.pop(parent_id, None)):
            return empty, True
        return None, False

    def is_fuller(self, message: ParsedMessage, row: Message, parsed: ParsedConversation, *, is_outdated: bool) -> bool:
        """Return whether the file has more of a message. `is_outdated`: an earlier version of Plotline has read it."""
        sha256 = {file.key: file.sha256 for file in parsed.attachments} if message.placements else {}
        new, old = {sha256[one.key] for one in message.placements}, self.digests.get(row.pk, set())
        parts = self.part_counts.get(row.pk, 0)
        # The verdicts of blocks that were run again belong to the parts as they are.
        if row.reruns or not old <= new or len(message.parts) < parts:
            return False
        return is_outdated or new != old or len(message.parts) > parts


def continue_conversation(
    conversation_id: uuid.UUID, parsed: ParsedConversation, digest: str, confirm: Callable[[], None]
) -> bool:
    """Store what a file adds to a conversation, and return whether it adds anything.

    A long addition is stored in several transactions, so that others can write in between. If one fails, the next
    import adds the rest. `digest`: of the source. `confirm`: may raise in the last transaction, which is rolled back.
    """
    marks = ImportedConversation.objects.filter(conversation_id=conversation_id)
    if not parsed.content_digest or marks.filter(content_digest=parsed.content_digest).exists():
        return False
    has_changed = False
    while True:
        if has_changed and connection.vendor == "sqlite":
            time.sleep(PAUSE_S)
        with transaction.atomic():
            conversation = Conversation.objects.select_for_update().filter(pk=conversation_id).first()
            if conversation is None:
                return has_changed
            addition = find_addition(conversation_id, parsed)
            rows = ConversationRows(conversation, parsed, messages=dict(addition.known), files=dict(addition.files))
            rows.write([replace(one, is_shown=False, last_shown=0) for one in addition.new[:SLICE_MESSAGES]])
            has_changed = has_changed or not addition.is_empty
            if len(addition.new) <= SLICE_MESSAGES:
                rows.rewrite(addition.fuller)
                _finish(conversation, parsed, digest, has_changed=has_changed)
                confirm()
                break
    if has_changed:
        _show_new_end(conversation_id, addition, rows)
    return has_changed


def _finish(conversation: Conversation, parsed: ParsedConversation, digest: str, *, has_changed: bool) -> None:
    marks = ImportedConversation.objects.filter(conversation=conversation)
    if has_changed:
        marks.update(digest=digest, content_digest=parsed.content_digest)
        updated_at = max(conversation.updated_at, parsed.updated_at)
        Conversation.objects.filter(pk=conversation.pk).update(updated_at=updated_at)
        increment_revision(conversation.pk)
    else:
        # An earlier export has nothing to add. Its digest would hide that the last one was read.
        marks.filter(content_digest="").update(digest=digest, content_digest=parsed.content_digest)


def _show_new_end(conversation_id: uuid.UUID, addition: Addition, rows: ConversationRows) -> None:
    """Show the path of the file, unless a person has continued the conversation here."""
    shown = [message for message in addition.parsed.messages if message.is_shown]
    new_keys = {message.key for message in addition.new}
    if not shown or not addition.is_shown_path_imported or shown[-1].key not in new_keys:
        return
    # While an answer is being written, the new messages are versions that can be shown later.
    with suppress(SwitchRefused):
        show(conversation_id, rows.messages[shown[-1].key].pk)
