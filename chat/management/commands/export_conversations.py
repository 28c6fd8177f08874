"""`manage.py export_conversations`: writes conversations to files."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from chat.library.exports.download import Download
from chat.library.exports.export_format import RefusedExport
from chat.library.exports.file_names import file_label
from chat.library.exports.registry import FORMATS, export_all, export_conversation
from chat.management.users import find_user
from chat.messages.records import Deleted
from chat.models import Conversation, ConversationQuerySet


class Command(BaseCommand):
    """Writes one file per conversation, or one archive. Files are replaced atomically."""

    help = (
        "Writes conversations to files: into a folder, one file each, or with --format zip and an --output that ends"
        " with .zip, all into one archive."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--user", default="", help="Only conversations of this user.")
        parser.add_argument(
            "--since", default="", help="Only conversations whose messages changed since this time: 2026-01-31."
        )
        parser.add_argument("--format", default="json", choices=FORMATS, help="Default: %(default)s.")
        parser.add_argument("--output", required=True, type=Path, help="A folder, or a name that ends with .zip.")

    def handle(self, *args: object, user: str, since: str, format: str, output: Path, **options: object) -> None:
        """Write the files. Raise CommandError for an unknown user or an invalid time."""
        conversations = Conversation.objects.all()
        if user:
            conversations = conversations.owned_by(find_user(user).pk)
        if since:
            conversations = conversations.filter(updated_at__gte=_parse_time(since))
        now = timezone.now()
        if format == "zip" and output.suffix == ".zip":
            _write(output, export_all(conversations, exported_at=now))
            self.stdout.write(f"Wrote {output}.")
            return
        count = self._write_files(conversations, output, format, now)
        self.stdout.write(f"Wrote {count} conversation{'' if count == 1 else 's'} into {output}.")

    def _write_files(
        self, conversations: ConversationQuerySet, output: Path, format: str, exported_at: datetime
    ) -> int:
        """Write a file for each conversation that has messages, into a folder for each user. Return their number."""
        count = 0
        rows = conversations.kept().filter(messages__isnull=False).distinct().order_by("pk")
        for pk in list(rows.values_list("pk", flat=True)):
            conversation = Conversation.objects.select_related("owner").filter(pk=pk).first()
            if conversation is None:  # The conversation was deleted meanwhile.
                continue
            folder = output / file_label(conversation.owner.get_username())
            with suppress(Deleted):
                try:
                    download = export_conversation(conversation, format, exported_at=exported_at)
                except RefusedExport as error:
                    self.stderr.write(f"{conversation.pk}: {error}")
                    continue
                _write(folder / f"{conversation.pk.hex[:12]}-{download.name}", download)
                count += 1
        return count


def _parse_time(text: str) -> datetime:
    """Parse an ISO 8601 date or time; without an offset it is UTC. Raise CommandError for other text."""
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        raise CommandError(f"“{text}” is no time: write it as 2026-01-31 or 2026-01-31T12:00+00:00.") from None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def _write(path: Path, download: Download) -> None:
    """Write a file under a temporary name and rename it, so that other programs never see a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.part")
    try:
        with temporary.open("wb") as file:
            file.writelines(download.chunks)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
