"""`manage.py create_api_token`: creates a token for the REST API."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta

from django.core.management.base import BaseCommand, CommandError

from chat.models import ApiToken, User
from chat.models.tokens import TooManyTokens

DAYS_LIMIT = 36_500
NAME_LIMIT = 100
"""Maximum length of a token's name, in characters."""


class Command(BaseCommand):
    """Creates a token and prints only its secret, so that scripts can use the output."""

    help = "Makes a token with which programs act for a person, and prints it; it cannot be read again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--name", default="command line", help="What it is for.")
        parser.add_argument("--days", type=int, help="How long it works; by default for ever.")

    def handle(self, *args: object, username: str, name: str, days: int | None, **options: object) -> None:
        """Print the secret. Raise CommandError for an inactive user, a bad argument or too many tokens."""
        user = User.objects.named(username)
        if user is None or not user.is_active:
            raise CommandError(f"There is no active user “{username}”.")
        if days is not None and not 1 <= days <= DAYS_LIMIT:
            raise CommandError(f"--days must be between 1 and {DAYS_LIMIT}.")
        if not 1 <= len(name.strip()) <= NAME_LIMIT:
            raise CommandError(f"--name must have 1 to {NAME_LIMIT} characters.")
        try:
            life = None if days is None else timedelta(days=days)
            _, secret = ApiToken.objects.issue(user.pk, name=name.strip(), life=life)
        except TooManyTokens as error:
            raise CommandError(str(error)) from None
        self.stdout.write(secret)
