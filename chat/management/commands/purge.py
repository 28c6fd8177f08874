"""`manage.py purge`: deletes conversations that nothing has happened in for long."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, Sum
from django.utils import timezone

from attachments.models import Attachment
from chat.models import Conversation, ConversationQuerySet, Message, MessageAttachment, Part, Turn
from chat.overview.charts import size, whole

UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
PROGRESS_EVERY_S = 2.0


@dataclass
class Gone:
    """What was deleted, or would be."""

    conversations: int = 0
    messages: int = 0
    attachments: int = 0
    size_bytes: int = 0
    stored: int = 0
    """Of the attachments, those whose bytes stay in storage."""
    stored_bytes: int = 0

    def __str__(self) -> str:
        return (
            f"{_number(self.conversations, 'conversation')}, {_number(self.messages, 'message')},"
            f" {_number(self.attachments, 'attachment')} ({size(self.size_bytes)})"
        )

    def add(self, messages: int, attachments: Sequence[Attachment]) -> None:
        """One more conversation."""
        stored = [attachment for attachment in attachments if attachment.storage_name]
        self.conversations += 1
        self.messages += messages
        self.attachments += len(attachments)
        self.size_bytes += sum(attachment.size_bytes for attachment in attachments)
        self.stored += len(stored)
        self.stored_bytes += sum(attachment.size_bytes for attachment in stored)


class Command(BaseCommand):
    """Each conversation goes in a transaction of its own, the oldest first: killed and run again, it goes on."""

    help = (
        "Deletes conversations in which nothing has happened for a given time, as their owners would: with messages,"
        " turns, and files that no other conversation shows. Pinned ones, and those in which an answer is being"
        " written, are kept unless asked for. Bytes that storage has confirmed stay there: nothing deletes those yet."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Which ones; without an age nothing is deleted."""
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
        """Raises CommandError for an age or a user that is none."""
        rows = Conversation.objects.filter(updated_at__lt=timezone.now() - _age(older_than))
        if user:
            owner = get_user_model()._default_manager.filter(username=user).first()
            if owner is None:
                raise CommandError(f"There is no user “{user}”.")
            rows = rows.owned_by(owner.pk)
        if archived_only:
            rows = rows.archived()
        if not include_pinned:
            rows = rows.filter(pinned_at__isnull=True)
        if not include_live:
            rows = rows.filter(~Exists(Turn.objects.filter(conversation=OuterRef("pk"), status__in=Turn.LIVE)))
        gone = _counted(rows) if dry_run else self._deleted(rows, is_locked=not include_live)
        self.stdout.write(f"{'Would delete' if dry_run else 'Deleted'} {gone}.")
        if gone.stored:
            stay = "would stay" if dry_run else "stay"
            self.stdout.write(
                f"{_number(gone.stored, 'file')} of them ({size(gone.stored_bytes)}) {stay} in storage, where nothing"
                " refers to them any more."
            )

    def _deleted(self, rows: ConversationQuerySet, *, is_locked: bool) -> Gone:
        gone = Gone()
        ids = list(rows.order_by("updated_at", "pk").values_list("pk", flat=True))
        told_at = time.monotonic()
        for number, pk in enumerate(ids, 1):
            with transaction.atomic():
                # It may have been used, pinned or deleted meanwhile. Who uses it now holds it, or waits and finds
                # it gone; a live turn is locked before its conversation, so there it must be done in that order.
                again = rows.filter(pk=pk)
                conversation = (again.select_for_update(skip_locked=True) if is_locked else again).first()
                if conversation is not None:
                    messages = conversation.messages.count()
                    gone.add(messages, conversation.delete_with_attachments())
            if time.monotonic() - told_at > PROGRESS_EVERY_S:
                told_at = time.monotonic()
                self.stderr.write(f"{whole(number)} of {whole(len(ids))} conversations")
        return gone


def _age(text: str) -> timedelta:
    found = re.fullmatch(r"([1-9][0-9]{0,5})([hdw])", text.strip())
    if found is None:
        raise CommandError(f"“{text}” is no age: write it as 180d, 26w or 12h.")
    return int(found[1]) * UNITS[found[2]]


def _counted(rows: ConversationQuerySet) -> Gone:
    """What would go. A file goes when no conversation is left that shows it."""
    kept = ~Q(message__conversation__in=rows.values("pk"))
    links = MessageAttachment.objects.filter(attachment=OuterRef("pk"))
    parts = Part.objects.filter(attachment=OuterRef("pk"))
    files = Attachment.objects.filter(
        Exists(links) | Exists(parts), ~Exists(links.filter(kept)), ~Exists(parts.filter(kept))
    )
    is_stored = ~Q(storage_name="")
    found = files.aggregate(
        attachments=Count("pk"),
        every_byte=Sum("size_bytes", default=0),
        stored=Count("pk", filter=is_stored),
        stored_bytes=Sum("size_bytes", filter=is_stored, default=0),
    )
    messages = Message.objects.filter(conversation__in=rows.values("pk")).count()
    return Gone(rows.count(), messages, size_bytes=found.pop("every_byte"), **found)


def _number(number: int, noun: str) -> str:
    return f"{whole(number)} {noun}{'' if number == 1 else 's'}"
