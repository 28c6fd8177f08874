"""Adds new messages and versions, and missing parts, text and files, from a later export to an imported conversation.

`matching` compares the messages of the file with those that are here. Changes of the conversation's owner are kept: no
message is removed, messages that a link shows do not change, and the shown path changes only if its last message was
imported.
"""

from __future__ import annotations

import unicodedata
import uuid
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from django.db import transaction
from django.db.models import Count

from attachments.models import Attachment
from chat.answering.turns.finish import increment_revision
from chat.answering.turns.versions import SwitchRefused, show
from chat.library.imports.matching import Match, match_messages
from chat.library.imports.records import ParsedConversation, ParsedMessage
from chat.library.imports.rows import ConversationRows
from chat.models import Conversation, ImportedConversation, Message, MessageAttachment, Part, Share, Turn
from chat.models.write_pauses import WritePauses

SLICE_MESSAGES = 300
"""Maximum number of messages that one transaction stores."""


@dataclass(slots=True)
class Addition:
    """The content that a file adds to a conversation."""

    parsed: ParsedConversation
    known: dict[str, Message] = field(default_factory=dict)
    """Key of a message in the file -> the same message that is here already."""
    new: list[ParsedMessage] = field(default_factory=list)
    fuller: list[ParsedMessage] = field(default_factory=list)
    """Messages that are here already, but with fewer files or parts than in the file."""
    files: dict[str, Attachment] = field(default_factory=dict)
    """Key of a file in the imported file -> the attachment that is here already."""
    is_shown_path_imported: bool = False
    """True if the last shown message of the conversation is also in the file."""

    @property
    def is_empty(self) -> bool:
        """True if the file adds no message, part or file."""
        return not self.new and not self.fuller

    def as_conversation(self) -> ParsedConversation:
        """Return the conversation with only the added messages and files, which count for the quotas."""
        messages = (*self.new, *self.fuller)
        placed = {placement.key for message in messages for placement in message.placements}
        files = [file for file in self.parsed.attachments if file.key in placed and file.key not in self.files]
        return replace(self.parsed, messages=messages, attachments=tuple(files))


def find_addition(conversation_id: uuid.UUID, parsed: ParsedConversation) -> Addition:
    """Return what a file adds to a conversation.

    It adds nothing if the conversation was not imported, if the file has no digest of its content or was imported last,
    or if no message matches.
    """
    mark = ImportedConversation.objects.filter(conversation_id=conversation_id).first()
    if mark is None or parsed.content_digest in ("", mark.content_digest):
        return Addition(parsed)
    state = _State.of(conversation_id)
    matches = match_messages(parsed.messages, state.rows, state.empty_answers)
    if not matches:
        return Addition(parsed)
    is_outdated = not mark.content_digest
    files = Attachment.objects.filter(message_attachments__message__conversation_id=conversation_id)
    by_digest = {row.sha256: row for row in files}
    shown_ids = [row.pk for row in state.rows if row.is_shown]
    return Addition(
        parsed,
        known={key: match.row for key, match in matches.items()},
        new=[message for message in parsed.messages if message.key not in matches],
        fuller=[
            message
            for message in parsed.messages
            if (match := matches.get(message.key)) and state.is_fuller(message, match, parsed, is_outdated=is_outdated)
        ],
        files={file.key: by_digest[file.sha256] for file in parsed.attachments if file.sha256 in by_digest},
        is_shown_path_imported=bool(shown_ids) and shown_ids[-1] in {match.row.pk for match in matches.values()},
    )


@dataclass(slots=True)
class _State:
    """The messages of a conversation."""

    rows: list[Message]
    part_counts: dict[uuid.UUID, int]
    digests: dict[uuid.UUID, set[str]]
    """Id of a message -> digests of its files."""
    empty_answers: dict[uuid.UUID | None, Message]
    """Id of a question -> the empty answer that an import has made for it."""
    shared_ids: set[uuid.UUID]
    """Ids of the messages that links show. They do not change."""

    @classmethod
    def of(cls, conversation_id: uuid.UUID) -> _State:
        """Read the state of a conversation."""
        messages = Message.objects.filter(conversation_id=conversation_id).order_by("index", "created_at", "pk")
        rows = [
            *messages.only("parent_id", "index", "role", "text", "created_at", "is_shown", "reruns", "conversation_id")
        ]
        counts = Part.objects.filter(message__conversation_id=conversation_id).values_list("message_id")
        digests: dict[uuid.UUID, set[str]] = defaultdict(set)
        links = MessageAttachment.objects.filter(message__conversation_id=conversation_id)
        for message_id, digest in links.values_list("message_id", "attachment__sha256"):
            digests[message_id].add(digest)
        # An import gives an unanswered question an empty answer, which has no provider.
        empty = messages.filter(
            turn__status=Turn.Status.INTERRUPTED, turn__client_id=None, turn__provider="", parts__isnull=True
        )
        empty_ids = set(empty.values_list("pk", flat=True))
        return cls(
            rows,
            dict(counts.annotate(Count("pk"))),
            digests,
            {row.parent_id: row for row in rows if row.pk in empty_ids},
            _shared_ids(conversation_id, rows),
        )

    def is_fuller(self, message: ParsedMessage, match: Match, parsed: ParsedConversation, *, is_outdated: bool) -> bool:
        """Return whether the file should replace a stored message, because it has more files, parts or text.

        `is_outdated`: an earlier version of Plotline imported it. Then it is replaced, unless the file has only the
        beginning of its text.
        """
        row = match.row
        # Parts with verdicts of blocks that were run again must not change.
        if not match.is_sure or row.reruns or row.pk in self.shared_ids:
            return False
        sha256 = {file.key: file.sha256 for file in parsed.attachments} if message.placements else {}
        new, old = {sha256[one.key] for one in message.placements}, self.digests.get(row.pk, set())
        if not old <= new:
            return False
        if is_outdated:
            # Several old parts may be one now, so they are not counted. An older export must not shorten the text.
            return not _is_longer(row.text, message.text)
        more_parts = len(message.parts) - self.part_counts.get(row.pk, 0)
        return more_parts >= 0 and (new != old or more_parts > 0 or match.has_grown)


def _is_longer(text: str, beginning: str) -> bool:
    """Return whether a text continues after a beginning, and the rest has no private-use character (citation mark)."""
    rest = text.removeprefix(beginning)
    return rest not in ("", text) and not any(unicodedata.category(character) == "Co" for character in rest)


def _shared_ids(conversation_id: uuid.UUID, rows: Sequence[Message]) -> set[uuid.UUID]:
    """Return the ids of the messages that links show: the last message of each link, and all messages above it."""
    parents = {row.pk: row.parent_id for row in rows}
    shared: set[uuid.UUID] = set()
    for last in Share.objects.filter(conversation_id=conversation_id).values_list("last_message_id", flat=True):
        above: uuid.UUID | None = last
        while above is not None and above not in shared:
            shared.add(above)
            above = parents.get(above)
    return shared


def continue_conversation(
    conversation_id: uuid.UUID,
    parsed: ParsedConversation,
    digest: str,
    confirm: Callable[[], None],
    continued: list[uuid.UUID],
) -> None:
    """Store what a file adds to a conversation. Once a message is stored, add the conversation's id to `continued`.

    A long addition is stored in several transactions, so that others can write in between. If one fails, the next
    import adds the rest. `digest`: digest of the source. `confirm`: called in the last transaction; if it raises, that
    is rolled back.
    """
    marks = ImportedConversation.objects.filter(conversation_id=conversation_id)
    if not parsed.content_digest or marks.filter(content_digest=parsed.content_digest).exists():
        return
    work: _Work | None = None
    pauses = WritePauses()
    while work is None or not work.is_done:
        pauses.pause_if_due()
        with transaction.atomic():
            conversation = Conversation.objects.select_for_update().filter(pk=conversation_id).first()
            if conversation is None:
                return
            if work is None or conversation.messages.count() != work.message_count:
                # A person, or another process that imports the same file, may have added messages meanwhile.
                work = _Work.begin(conversation, parsed, work)
            work.write_slice()
            if work.is_done:
                _finish(conversation, parsed, digest, has_changed=work.has_changed)
                confirm()
        if work.has_changed and conversation_id not in continued:
            continued.append(conversation_id)
    if work.has_changed:
        _show_new_end(conversation_id, work)


@dataclass(slots=True)
class _Work:
    """The part of an addition that is not stored yet."""

    addition: Addition
    rows: ConversationRows
    new: list[ParsedMessage]
    fuller: list[ParsedMessage]
    added_keys: set[str]
    """Keys of all new messages, also of those that are stored already."""
    message_count: int
    """Number of messages in the conversation, including those that were stored by this work."""
    has_changed: bool
    is_done: bool = False

    @classmethod
    def begin(cls, conversation: Conversation, parsed: ParsedConversation, earlier: _Work | None) -> _Work:
        """Compare the file with the messages that are here now. `earlier`: the work before, which is partly done."""
        addition = find_addition(conversation.pk, parsed)
        return cls(
            addition,
            ConversationRows(conversation, parsed, messages=dict(addition.known), files=dict(addition.files)),
            [replace(one, is_shown=False, last_shown=0) for one in addition.new],
            list(addition.fuller),
            {one.key for one in addition.new} | (earlier.added_keys if earlier else set()),
            conversation.messages.count(),
            has_changed=not addition.is_empty or bool(earlier and earlier.has_changed),
        )

    def write_slice(self) -> None:
        """Write the next messages: first new messages, then messages that the file extends."""
        new, self.new = self.new[:SLICE_MESSAGES], self.new[SLICE_MESSAGES:]
        room = SLICE_MESSAGES - len(new)
        fuller, self.fuller = self.fuller[:room], self.fuller[room:]
        self.rows.write(new)
        self.rows.rewrite(fuller)
        self.message_count += len(new)
        self.is_done = not (self.new or self.fuller)


def _finish(conversation: Conversation, parsed: ParsedConversation, digest: str, *, has_changed: bool) -> None:
    marks = ImportedConversation.objects.filter(conversation=conversation)
    if has_changed:
        marks.update(digest=digest, content_digest=parsed.content_digest)
        updated_at = max(conversation.updated_at, parsed.updated_at)
        Conversation.objects.filter(pk=conversation.pk).update(updated_at=updated_at)
        increment_revision(conversation.pk)
    else:
        # The file is an earlier export. Its digest must not replace that of the export that was read last.
        marks.filter(content_digest="").update(digest=digest, content_digest=parsed.content_digest)


def _show_new_end(conversation_id: uuid.UUID, work: _Work) -> None:
    """Show the path of the file, unless a person has continued the conversation here."""
    shown = [message for message in work.addition.parsed.messages if message.is_shown]
    if not shown or not work.addition.is_shown_path_imported or shown[-1].key not in work.added_keys:
        return
    # While an answer is being written, the new messages are versions that can be shown later.
    with suppress(SwitchRefused):
        show(conversation_id, work.rows.messages[shown[-1].key].pk)
