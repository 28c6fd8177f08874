"""`manage.py import_conversations`: takes conversations in from a file."""

from __future__ import annotations

from pathlib import Path

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser

from chat.imports.importing import IMPORT_LIMIT_BYTES, import_file
from chat.imports.refusal import RefusedImport


class Command(BaseCommand):
    """Safe to run again: what is there already is not taken twice."""

    help = (
        "Imports a JSON or zip export of Plotline, ChatGPT's conversations.json or the zip it comes in, or a Jupyter"
        f" notebook, of at most {IMPORT_LIMIT_BYTES // 1024**2} MB. All of the file is imported, or nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """What, and for whom."""
        parser.add_argument("file", type=Path)
        parser.add_argument("--user", required=True, help="Whose conversations they become.")

    def handle(self, *args: object, file: Path, user: str, **options: object) -> None:
        """Raises CommandError, so exit code 1, for a file that is refused."""
        owner = get_user_model()._default_manager.filter(username=user).first()
        if owner is None:
            raise CommandError(f"There is no user “{user}”.")
        try:
            data = file.read_bytes()
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}.") from error
        try:
            # No quota: whoever runs the server has chosen the file.
            imported = import_file(data, owner_id=owner.pk, name=file.name, has_quota=False)
        except RefusedImport as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(f"Imported {len(imported.created)}; {len(imported.known)} were there already.")
