"""Stores parsed conversations: either all new conversations of a file, or none.

A long file or conversation is written in several transactions, so that others can write in between: SQLite has only one
writer at a time. If the process dies between them, importing the file again adds what is missing. Until a long
conversation is complete, it is in the archive.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone

from chat.library.imports.identity import compute_digest, find_here
from chat.library.imports.later_export import continue_conversation, find_addition
from chat.library.imports.records import ParsedConversation, ParsedMessage
from chat.library.imports.refusal import RefusedImport
from chat.library.imports.rows import ConversationRows, create_conversation, lock_projects
from chat.models import Conversation, ImportedConversation, Project
from chat.models.deletion import claim_deletion, delete_conversation
from chat.models.write_pauses import WritePauses

TRANSACTION_ROWS = 1_000
"""Maximum sum of the `_row_count` of conversations in one transaction, which takes about half a second."""
SLICE_MESSAGES = 300
"""Maximum number of messages in one transaction of a long conversation; fewer if they have large files."""
UNFINISHED_LIMIT = timedelta(minutes=1)
"""An import that has written nothing for this time is considered dead. A transaction takes at most half of it."""
ONE_AT_A_TIME = "Another file of yours is being imported just now. Wait until it is done, then send this one again."
ROW_BYTES = 8 * 1024
"""Size of a file whose storing takes about as long as that of a message."""


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The ids of a file's conversations, in the order of the file."""

    created: tuple[uuid.UUID, ...]
    existing: tuple[uuid.UUID, ...]
    """The ids of conversations that an earlier import has created, or that were exported from here."""
    continued: tuple[uuid.UUID, ...] = ()
    """The ids of existing conversations to which the file has added something."""


def plan_import(
    conversations: Sequence[ParsedConversation], owner_id: int
) -> tuple[list[ParsedConversation], dict[uuid.UUID, ParsedConversation]]:
    """Return the conversations that are not here yet, and by the ids of existing ones the content that they get."""
    new: list[ParsedConversation] = []
    additions: dict[uuid.UUID, ParsedConversation] = {}
    for parsed in conversations:
        existing_id = find_here(parsed, owner_id)
        if existing_id is None:
            new.append(parsed)
        elif not (addition := find_addition(existing_id, parsed)).is_empty:
            additions[existing_id] = addition.as_conversation()
    return new, additions


def without_doubles(conversations: Sequence[ParsedConversation]) -> list[ParsedConversation]:
    """Return each conversation once. Of several with the same id, take the one with the most messages."""
    longest: dict[str, ParsedConversation] = {}
    for parsed in conversations:
        digest = compute_digest(parsed)
        if digest not in longest or len(longest[digest].messages) < len(parsed.messages):
            longest[digest] = parsed
    return [*longest.values()]


def store_conversations(
    conversations: Sequence[ParsedConversation],
    *,
    owner_id: int,
    confirm: Callable[[], None] = lambda: None,
    continued: list[uuid.UUID] | None = None,
) -> ImportResult:
    """Store the conversations for their new owner. Either all new ones are stored, or none.

    `conversations`: each once, see `without_doubles`. Existing ones get new content, each in separate transactions.
    `confirm`: called when the new conversations are stored, and for each existing one that gets content. If it raises,
    these are not stored. `continued`: list to which the ids of extended conversations are added, also if the import
    fails later.
    """
    created: list[uuid.UUID] = []
    existing: list[uuid.UUID] = []
    continued = [] if continued is None else continued
    here = [(parsed, find_here(parsed, owner_id)) for parsed in conversations]
    known = [(parsed, pk) for parsed, pk in here if pk is not None]
    pauses = WritePauses()
    try:
        for number, batch in enumerate(_batches([parsed for parsed, pk in here if pk is None])):
            if number:
                pauses.pause_if_due()
            if _row_count(batch[0]) > TRANSACTION_ROWS:
                existing += _store_in_slices(batch[0], owner_id, created)
                continue
            results = _store_batch(batch, owner_id)
            created += [pk for pk, is_new in results if is_new]
            existing += [pk for pk, is_new in results if not is_new]
        if created:
            confirm()
        _continue(known, owner_id, confirm, continued)
    except BaseException:
        for conversation in Conversation.with_deleted.filter(pk__in=created):
            delete_conversation(conversation)
        raise
    existing = [*existing, *(pk for _, pk in known)]
    return ImportResult(tuple(created), tuple(dict.fromkeys(existing)), tuple(continued))


def _continue(
    known: Sequence[tuple[ParsedConversation, uuid.UUID]],
    owner_id: int,
    confirm: Callable[[], None],
    continued: list[uuid.UUID],
) -> None:
    """Add new content to existing conversations, and the ids of those that have changed to `continued`."""
    # A deleted copy may have the digest that one of these conversations gets, and a digest is unique for its owner.
    _delete_hidden(owner_id, [compute_digest(parsed) for parsed, _ in known])
    pauses = WritePauses()
    for parsed, pk in known:
        continue_conversation(pk, parsed, compute_digest(parsed), confirm, continued)
        pauses.pause_if_due()


def _batches(conversations: Sequence[ParsedConversation]) -> Iterator[list[ParsedConversation]]:
    """Yield the conversations of each transaction. A long conversation, which needs several, is yielded alone."""
    batch: list[ParsedConversation] = []
    rows = 0
    for conversation in conversations:
        if batch and rows + _row_count(conversation) > TRANSACTION_ROWS:
            yield batch
            batch, rows = [], 0
        batch.append(conversation)
        rows += _row_count(conversation)
    if batch:
        yield batch


def _row_count(conversation: ParsedConversation) -> int:
    # Storing the row of the conversation takes about as long as five messages.
    return 5 + len(conversation.messages) + len(conversation.attachments) + conversation.file_bytes // ROW_BYTES


def _store_batch(batch: Sequence[ParsedConversation], owner_id: int) -> list[tuple[uuid.UUID, bool]]:
    """Store conversations in one transaction. Return the id of each, and whether it is new."""
    digests = [compute_digest(parsed) for parsed in batch]
    _delete_hidden(owner_id, digests)
    with transaction.atomic():
        projects = lock_projects(batch, owner_id)
        return [
            _store_unless_existing(parsed, digest, owner_id, projects)
            for parsed, digest in zip(batch, digests, strict=True)
        ]


def _store_in_slices(parsed: ParsedConversation, owner_id: int, created: list[uuid.UUID]) -> list[uuid.UUID]:
    """Store a long conversation in several transactions, and add its id to `created` with the first one.

    If it was imported before, store nothing and return its id. Until it is complete, it has a special digest, by which
    the next import finds and deletes what a dead process has left. Raises RefusedImport if another process is importing
    it now.
    """
    digest = compute_digest(parsed)
    unfinished = hashlib.sha256(f"unfinished {digest}".encode()).hexdigest()
    _delete_hidden(owner_id, [digest])
    if (existing_id := _find_existing(owner_id, digest)) is not None:
        return [existing_id]
    marks = ImportedConversation.objects.filter(owner_id=owner_id, digest=unfinished)
    if marks.filter(created_at__gt=timezone.now() - UNFINISHED_LIMIT).exists():
        raise RefusedImport(ONE_AT_A_TIME)
    for left in Conversation.with_deleted.filter(imported__in=marks):
        delete_conversation(left)
    try:
        with transaction.atomic():
            conversation = create_conversation(parsed, owner_id, lock_projects([parsed], owner_id))
            Conversation.objects.filter(pk=conversation.pk).update(archived_at=timezone.now())
            mark = ImportedConversation.objects.create(owner_id=owner_id, conversation=conversation, digest=unfinished)
    except IntegrityError:
        # Another process has begun to import it at the same time.
        raise RefusedImport(ONE_AT_A_TIME) from None
    created.append(conversation.pk)
    rows = ConversationRows(conversation, parsed)
    pauses = WritePauses()
    for messages in _slices(parsed):
        pauses.pause_if_due()
        with transaction.atomic():
            rows.write(messages)
            marks.update(created_at=timezone.now())
    with transaction.atomic():
        rows.write_other_files()
        _set_times(conversation, parsed, archived_at=None)
        mark.digest, mark.content_digest = digest, parsed.content_digest
        mark.save(update_fields=["digest", "content_digest"])
    return []


def _slices(parsed: ParsedConversation) -> Iterator[list[ParsedMessage]]:
    """Yield the messages of each transaction of a long conversation."""
    sizes = {file.key: len(file.data) for file in parsed.attachments}
    messages: list[ParsedMessage] = []
    rows = 0
    for message in parsed.messages:
        messages.append(message)
        rows += 1 + sum(sizes[placement.key] for placement in message.placements) // ROW_BYTES
        if rows >= SLICE_MESSAGES:
            yield messages
            messages, rows = [], 0
    if messages:
        yield messages


def _store_unless_existing(
    parsed: ParsedConversation, digest: str, owner_id: int, projects: Mapping[str, Project]
) -> tuple[uuid.UUID, bool]:
    """Return the id of the conversation, and whether it is new."""
    existing_id = _find_existing(owner_id, digest)
    if existing_id is not None:
        return existing_id, False
    try:
        with transaction.atomic():
            conversation = create_conversation(parsed, owner_id, projects)
            rows = ConversationRows(conversation, parsed)
            rows.write(parsed.messages)
            rows.write_other_files()
            _set_times(conversation, parsed)
            ImportedConversation.objects.create(
                owner_id=owner_id, conversation=conversation, digest=digest, content_digest=parsed.content_digest
            )
    except IntegrityError:
        # Another process imported the same conversation at the same time.
        existing_id = _find_existing(owner_id, digest)
        if existing_id is None:
            raise
        return existing_id, False
    return conversation.pk, True


def _delete_hidden(owner_id: int, digests: Collection[str]) -> None:
    """Delete conversations that were imported before, and that their owner has deleted, but that can still be restored.

    Each is deleted in separate transactions, before the import holds a lock.
    """
    imported = Conversation.with_deleted.filter(imported__owner_id=owner_id, imported__digest__in=digests)
    for conversation in imported.filter(deleted_at__isnull=False):
        # The owner may restore the conversation at the same time.
        if claim_deletion(Conversation.with_deleted.filter(pk=conversation.pk)):
            delete_conversation(conversation)


def _find_existing(owner_id: int, digest: str) -> uuid.UUID | None:
    """Return the id of the conversation that was imported before; `None` if there is none."""
    rows = ImportedConversation.objects.filter(owner_id=owner_id, digest=digest)
    return rows.values_list("conversation_id", flat=True).first()


def _set_times(conversation: Conversation, parsed: ParsedConversation, **fields: datetime | None) -> None:
    """Set the times of a conversation by an update, because saving it would set them to now."""
    times = {"created_at": parsed.created_at, "updated_at": parsed.updated_at}
    Conversation.objects.filter(pk=conversation.pk).update(**times, **fields)
