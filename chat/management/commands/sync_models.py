"""`manage.py sync_models`: updates the catalogue with the models that a provider lists now."""

from __future__ import annotations

import asyncio

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from chat.catalogue.sync import sync
from chat.providers import get_provider, is_demo
from chat.providers.base import ListedModel, Provider, ProviderError


class Command(BaseCommand):
    """Compares the catalogue with a provider's list. It is safe to run regularly, such as every night."""

    help = (
        "Asks a provider for its models. New ones are added disabled, so that nobody meets a surprise: enable them in"
        " the admin. Those that it no longer lists are marked as missing. Nothing is deleted, and names, prices,"
        " settings and order are left as they are."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument(
            "--provider", default=settings.CHAT_PROVIDER, help="One of CHAT_PROVIDERS; %(default)s if none is named."
        )
        parser.add_argument("--dry-run", action="store_true", help="Say what would change, and change nothing.")

    def handle(self, *args: object, provider: str, dry_run: bool, **options: object) -> None:
        """Update the catalogue and print each change. Raise CommandError if the provider gives no list."""
        if provider not in settings.CHAT_PROVIDERS:
            known = ", ".join(settings.CHAT_PROVIDERS)
            raise CommandError(f"There is no provider “{provider}” here. Known: {known}.")
        if is_demo(provider):
            raise CommandError(
                "There is no key, so the demo model answers: no models can be listed. Set GEMINI_API_KEY."
            )
        try:
            listed = asyncio.run(_list_models(get_provider(provider)))
        except ProviderError as error:
            raise CommandError(f"Provider {provider} gave no list of models. {error.sentence} ({error})") from error
        if not listed:
            raise CommandError(f"Provider {provider} lists no models at all. Nothing was changed.")
        changes = sync(provider, listed, at=timezone.now(), is_dry_run=dry_run)
        for change in changes:
            self.stdout.write(change)
        done = "would change" if dry_run else "changed"
        self.stdout.write(f"{provider} lists {len(listed)} models; {len(changes)} things {done}.")


async def _list_models(provider: Provider) -> list[ListedModel]:
    """Return the list and close the provider, whose connections belong to the event loop of this call."""
    try:
        return await provider.list_models()
    finally:
        await provider.aclose()
