"""`manage.py import_conversations`: imports conversations from a file."""

from __future__ import annotations

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError, CommandParser

from chat.library.imports.importer import IMPORT_LIMIT_BYTES, import_file
from chat.library.imports.large_files import import_large_file
from chat.library.imports.refusal import RefusedImport
from chat.management.users import find_user


class Command(BaseCommand):
    """Imports one file. It can be run again safely: conversations that exist already only get new messages."""

    help = (
        "Imports a JSON or zip export of Plotline, conversations.json of ChatGPT or Claude or the zip it comes in, the"
        " activity of Gemini of Google Takeout as zip, HTML or JSON, or a Jupyter notebook. All new conversations of a"
        f" file of at most {IMPORT_LIMIT_BYTES // 1024**2} MB are imported, or none; those of a larger file one after"
        " the other, and broken ones are left out."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--user", required=True, help="The user who will own the conversations.")

    def handle(self, *args: object, file: Path, user: str, **options: object) -> None:
        """Import the file. Raise CommandError for an unknown user, an unreadable file or a refused one."""
        owner = find_user(user)
        try:
            # No quota applies, because the operator of the server chose the file.
            if file.stat().st_size > IMPORT_LIMIT_BYTES:
                self._import_large(file, owner.pk)
                return
            result = import_file(file.read_bytes(), owner_id=owner.pk, name=file.name, has_quota=False)
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}.") from error
        except RefusedImport as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(f"Imported {len(result.created)}; {len(result.existing)} were there already.")
        if result.continued:
            self.stdout.write(f"Continued {len(result.continued)} of these.")

    def _import_large(self, file: Path, owner_id: int) -> None:
        with file.open("rb") as data:
            done = import_large_file(
                data, owner_id=owner_id, name=file.name, report=lambda progress, result: None, has_quota=False
            )
        here = done.seen - done.created - done.left_out
        self.stdout.write(f"Imported {done.created}; {here} were there already.")
        if done.continued:
            self.stdout.write(f"Continued {done.continued} of these.")
        for subject, reason in done.reasons:
            self.stdout.write(f"Left out: {subject}: {reason}")
        if done.left_out > len(done.reasons):
            self.stdout.write(f"Left out: {done.left_out - len(done.reasons)} others.")
