"""`manage.py export_conversations`: writes conversations to files."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from chat.exports.download import Download
from chat.exports.names import file_label
from chat.exports.registry import FORMATS, export_all, export_conversation
from chat.models import Conversation


class Command(BaseCommand):
    """Files appear whole or not at all; what was there under the same name is replaced."""

    help = (
        "Writes conversations to files: into a folder, one file each, or with --format zip and an --output that ends"
        " with .zip, all into one archive."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Whose, since when, how and where."""
        parser.add_argument("--user", default="", help="Of this user alone; of all users if none is named.")
        parser.add_argument("--since", default="", help="Those changed since then, as in 2026-01-31.")
        parser.add_argument("--format", default="json", choices=FORMATS, help="%(default)s if none is named.")
        parser.add_argument("--output", required=True, type=Path, help="A folder, or an archive that ends with .zip.")

    def handle(self, *args: object, user: str, since: str, format: str, output: Path, **options: object) -> None:
        """Raises CommandError for a user or a time that is none."""
        conversations = Conversation.objects.all()
        if user:
            owner = get_user_model()._default_manager.filter(username=user).first()
            if owner is None:
                raise CommandError(f"There is no user “{user}”.")
            conversations = conversations.owned_by(owner.pk)
        if since:
            conversations = conversations.filter(updated_at__gte=_moment(since))
        now = timezone.now()
        if format == "zip" and output.suffix == ".zip":
            _write(output, export_all(conversations, exported_at=now))
            self.stdout.write(f"Wrote {output}.")
            return
        number = 0
        rows = conversations.filter(messages__isnull=False).distinct().order_by("pk")
        for pk in list(rows.values_list("pk", flat=True)):
            conversation = Conversation.objects.select_related("owner").filter(pk=pk).first()
            if conversation is None:
                continue
            found = export_conversation(conversation, format, exported_at=now)
            folder = output / file_label(conversation.owner.get_username())
            _write(folder / f"{conversation.pk.hex[:12]}-{found.name}", found)
            number += 1
        self.stdout.write(f"Wrote {number} conversation{'' if number == 1 else 's'} into {output}.")


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise CommandError(f"“{text}” is no time: write it as 2026-01-31 or 2026-01-31T12:00+00:00.") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _write(path: Path, download: Download) -> None:
    """Under another name first: whoever looks meanwhile sees no half of a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.part")
    try:
        with unfinished.open("wb") as file:
            file.writelines(download.chunks)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
