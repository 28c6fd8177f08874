"""`manage.py purge`: deletes old conversations, and old files that were never sent."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum
from django.utils import timezone

from attachments.models import Attachment
from chat.management.users import find_user
from chat.models import Conversation, ConversationQuerySet, Message, Turn
from chat.models.deletion import SLICE_FILES, delete_conversation, delete_unsent_files, find_unsent_files
from chat.models.deletion_counts import attachments_only_of
from chat.models.write_pauses import WritePauses
from chat.people.account.number_format import format_bytes, format_count, format_integer

UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
PROGRESS_INTERVAL_S = 2.0


@dataclass
class PurgeTotals:
    """Numbers and sizes of what was deleted, or would be deleted."""

    conversations: int = 0
    messages: int = 0
    attachments: int = 0
    size_bytes: int = 0
    stored_attachments: int = 0
    """Attachments whose bytes the worker must delete from storage."""
    stored_bytes: int = 0

    def __str__(self) -> str:
        return (
            f"{format_count(self.conversations, 'conversation')}, {format_count(self.messages, 'message')},"
            f" {format_count(self.attachments, 'attachment')} ({format_bytes(self.size_bytes)})"
        )

    def add_attachments(self, attachments: Sequence[Attachment]) -> None:
        """Add deleted attachments."""
        stored = [attachment for attachment in attachments if attachment.storage_name]
        self.attachments += len(attachments)
        self.size_bytes += sum(attachment.size_bytes for attachment in attachments)
        self.stored_attachments += len(stored)
        self.stored_bytes += sum(attachment.size_bytes for attachment in stored)


class Command(BaseCommand):
    """Deletes each conversation in its own transaction, the oldest first, so that a killed run can be continued."""

    help = (
        "Deletes conversations in which nothing has happened for a given time, as their owners would: with messages,"
        " turns, and files that no other conversation shows. Pinned ones, and those in which an answer is being"
        " written, are kept unless asked for. Files of this age that were uploaded and never sent are deleted too,"
        " except with --archived-only. The attachments worker then deletes the files from storage."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments. The age is required, so that no conversation is deleted by mistake."""
        parser.add_argument("--older-than", required=True, help="An age: 180d, 26w or 12h since the last change.")
        parser.add_argument("--user", default="", help="Of this user alone; of all users if none is named.")
        parser.add_argument("--archived-only", action="store_true", help="Those alone that their owner put away.")
        parser.add_argument("--include-pinned", action="store_true", help="Pinned ones too.")
        parser.add_argument("--include-live", action="store_true", help="Also those in which an answer is written.")
        parser.add_argument("--dry-run", action="store_true", help="Say what would go, and delete nothing.")

    def handle(
        self,
        *args: object,
        older_than: str,
        user: str,
        archived_only: bool,
        include_pinned: bool,
        include_live: bool,
        dry_run: bool,
        **options: object,
    ) -> None:
        """Delete the conversations and print the totals. Raise CommandError for an invalid age or an unknown user."""
        changed_before = timezone.now() - _parse_age(older_than)
        rows, files = Conversation.objects.filter(updated_at__lt=changed_before), find_unsent_files(changed_before)
        if user:
            owner_id = find_user(user).pk
            rows, files = rows.owned_by(owner_id), files.filter(owner=owner_id)
        if archived_only:
            rows, files = rows.archived(), files.none()
        if not include_pinned:
            rows = rows.filter(pinned_at__isnull=True)
        if not include_live:
            rows = rows.filter(~Exists(Turn.objects.filter(conversation=OuterRef("pk"), status__in=Turn.LIVE)))
        if dry_run:
            totals = _count(rows)
            totals.add_attachments(list(files))
        else:
            totals = self._delete(rows, is_locked=not include_live)
            _delete_files(files, totals)
        self.stdout.write(f"{'Would delete' if dry_run else 'Deleted'} {totals}.")
        if totals.stored_attachments:
            stored = f"{format_count(totals.stored_attachments, 'file')} of them ({format_bytes(totals.stored_bytes)})"
            verb = "would be" if dry_run else "are"
            self.stdout.write(f"{stored} {verb} in storage, from which the attachments worker deletes them.")

    def _delete(self, rows: ConversationQuerySet, *, is_locked: bool) -> PurgeTotals:
        """Delete the conversations and report the progress on stderr.

        `is_locked`: lock each conversation first, and skip it if another transaction holds the lock. It must be False
        if there may be live turns: a turn locks its own row before its conversation, so this order could deadlock.
        """
        totals = PurgeTotals()
        ids = list(rows.order_by("updated_at", "pk").values_list("pk", flat=True))
        reported_at, pauses = time.monotonic(), WritePauses()
        for number, pk in enumerate(ids, 1):
            with transaction.atomic():
                # Check again: the conversation may have been used, pinned or deleted since the ids were read.
                row = rows.filter(pk=pk)
                conversation = (row.select_for_update(skip_locked=True) if is_locked else row).first()
                if conversation is not None:
                    totals.conversations += 1
                    totals.messages += conversation.messages.count()
                    totals.add_attachments(delete_conversation(conversation))
            pauses.pause_if_due()
            if time.monotonic() - reported_at > PROGRESS_INTERVAL_S:
                reported_at = time.monotonic()
                self.stderr.write(f"{format_integer(number)} of {format_integer(len(ids))} conversations")
        return totals


def _delete_files(files: QuerySet[Attachment], totals: PurgeTotals) -> None:
    """Delete files that were never sent, in short transactions."""
    ids, pauses = list(files.order_by().values_list("pk", flat=True)), WritePauses()
    for start in range(0, len(ids), SLICE_FILES):
        totals.add_attachments(delete_unsent_files(ids[start : start + SLICE_FILES]))
        pauses.pause_if_due()


def _parse_age(text: str) -> timedelta:
    """Parse an age such as `180d`. Raise CommandError for other text."""
    match = re.fullmatch(r"([1-9][0-9]{0,5})([hdw])", text.strip())
    if match is None:
        raise CommandError(f"“{text}” is no age: write it as 180d, 26w or 12h.")
    return int(match[1]) * UNITS[match[2]]


def _count(rows: ConversationQuerySet) -> PurgeTotals:
    """Return what would be deleted. An attachment is deleted if all conversations that show it are deleted, and no
    project and no run on a newer file has it.
    """
    is_stored = ~Q(storage_name="")
    counts = attachments_only_of(rows).aggregate(
        attachments=Count("pk"),
        total_bytes=Sum("size_bytes", default=0),
        stored_attachments=Count("pk", filter=is_stored),
        stored_bytes=Sum("size_bytes", filter=is_stored, default=0),
    )
    messages = Message.objects.filter(conversation__in=rows.values("pk")).count()
    return PurgeTotals(rows.count(), messages, size_bytes=counts.pop("total_bytes"), **counts)
