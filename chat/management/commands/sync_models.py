"""`manage.py sync_models`: updates the catalogue with the models that an endpoint lists now."""

from __future__ import annotations

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from chat.providers.catalogue.sync import ListUnavailable, sync_with_server
from chat.vocabulary.log_lines import escape_line


class Command(BaseCommand):
    """Compares the catalogue with a provider's list. It is safe to run regularly, such as every night."""

    help = (
        "Asks a provider for its models. New ones are added disabled, so that nobody meets a surprise: enable them in"
        " the admin. Those that it no longer lists are marked as missing. Nothing is deleted, and names, prices,"
        " settings and order are left as they are."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--provider", default=settings.CHAT_PROVIDER, help="One of CHAT_PROVIDERS; %(default)s if none is named."
        )
        parser.add_argument(
            "--endpoint", default="", help="An endpoint of openai_compatible, by its name. Empty: that of the settings."
        )
        parser.add_argument("--dry-run", action="store_true", help="Say what would change, and change nothing.")

    def handle(self, *args: object, provider: str, endpoint: str, dry_run: bool, **options: object) -> None:
        """Update the catalogue and print each change. Raise CommandError for an unknown provider, or without a list."""
        if provider not in settings.CHAT_PROVIDERS:
            known = ", ".join(settings.CHAT_PROVIDERS)
            raise CommandError(f"There is no provider “{provider}” here. Known: {known}.")
        try:
            sentences = sync_with_server(provider, endpoint, at=timezone.now(), is_dry_run=dry_run)
        except ListUnavailable as error:
            raise CommandError(escape_line(str(error))) from error
        for sentence in sentences:
            self.stdout.write(escape_line(sentence))
