"""`manage.py import_conversations`: imports conversations from a file."""

from __future__ import annotations

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError, CommandParser

from chat.library.imports.importer import IMPORT_LIMIT_BYTES, import_file
from chat.library.imports.refusal import RefusedImport
from chat.management.users import find_user


class Command(BaseCommand):
    """Imports one file. It can be run again safely: conversations that are here already are only continued."""

    help = (
        "Imports a JSON or zip export of Plotline, conversations.json of ChatGPT or Claude or the zip it comes in, the"
        " activity of Gemini of Google Takeout as zip, HTML or JSON, or a Jupyter notebook, of at most"
        f" {IMPORT_LIMIT_BYTES // 1024**2} MB. All new conversations of it are imported, or none."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("file", type=Path)
        parser.add_argument("--user", required=True, help="The user who will own the conversations.")

    def handle(self, *args: object, file: Path, user: str, **options: object) -> None:
        """Import the file. Raise CommandError for an unknown user, an unreadable file or a refused one."""
        owner = find_user(user)
        try:
            data = file.read_bytes()
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}.") from error
        try:
            # No quota: the operator of the server chose the file.
            result = import_file(data, owner_id=owner.pk, name=file.name, has_quota=False)
        except RefusedImport as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(f"Imported {len(result.created)}; {len(result.existing)} were there already.")
        if result.continued:
            self.stdout.write(f"Continued {len(result.continued)} of these.")
