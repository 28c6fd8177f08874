"""`manage.py sync_models`: notes in the catalogue which models a provider lists now."""

from __future__ import annotations

import asyncio

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from chat.catalogue.sync import sync
from chat.providers import get_provider
from chat.providers.base import ListedModel, Provider, ProviderError


class Command(BaseCommand):
    """Safe to run again and again, e.g. every night."""

    help = (
        "Asks a provider for its models. New ones are added disabled, so that nobody meets a surprise: enable them in"
        " the admin. Those that it no longer lists are marked as missing. Nothing is deleted, and names, prices,"
        " settings and order are left as they are."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Which provider, and whether to write."""
        parser.add_argument(
            "--provider", default=settings.CHAT_PROVIDER, help="One of CHAT_PROVIDERS; %(default)s if none is named."
        )
        parser.add_argument("--dry-run", action="store_true", help="Say what would change, and change nothing.")

    def handle(self, *args: object, provider: str, dry_run: bool, **options: object) -> None:
        """Raises CommandError, so exit code 1, where there is no list to compare with."""
        if provider not in settings.CHAT_PROVIDERS:
            known = ", ".join(settings.CHAT_PROVIDERS)
            raise CommandError(f"There is no provider “{provider}” here. Known: {known}.")
        if provider == settings.CHAT_PROVIDER and settings.GEMINI_EMULATED:
            raise CommandError("There is no key: the emulator answers, whose list is no catalogue. Set GEMINI_API_KEY.")
        try:
            listed = asyncio.run(_listed(get_provider(provider)))
        except ProviderError as error:
            raise CommandError(f"Provider {provider} gave no list of models. {error.sentence} ({error})") from error
        if not listed:
            raise CommandError(f"Provider {provider} lists no models at all. Nothing was changed.")
        changes = sync(provider, listed, at=timezone.now(), is_dry_run=dry_run)
        for change in changes:
            self.stdout.write(change)
        done = "would change" if dry_run else "changed"
        self.stdout.write(f"{provider} lists {len(listed)} models; {len(changes)} things {done}.")


async def _listed(provider: Provider) -> list[ListedModel]:
    """The list; connections belong to the loop of this one call."""
    try:
        return await provider.list_models()
    finally:
        await provider.aclose()
