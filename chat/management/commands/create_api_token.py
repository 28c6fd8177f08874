"""Makes a token for the REST API."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from chat.models import ApiToken
from chat.models.tokens import TooManyTokens


class Command(BaseCommand):
    """Prints the token and nothing else."""

    help = "Makes a token with which programs act for a person, and prints it; it cannot be read again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Whose, what for, how long."""
        parser.add_argument("username")
        parser.add_argument("--name", default="command line", help="What it is for.")
        parser.add_argument("--days", type=int, help="How long it works; by default for ever.")

    def handle(self, *args: object, username: str, name: str, days: int | None, **options: object) -> None:
        """Raises CommandError."""
        user = User.objects.filter(username=username).first()
        if user is None or not user.is_active:
            raise CommandError(f"There is no active user “{username}”.")
        if days is not None and not 1 <= days <= 36_500:
            raise CommandError("--days must be between 1 and 36500.")
        if not 1 <= len(name.strip()) <= 100:
            raise CommandError("--name must have 1 to 100 characters.")
        try:
            life = None if days is None else timedelta(days=days)
            _, secret = ApiToken.objects.issue(user.pk, name=name.strip(), life=life)
        except TooManyTokens as error:
            raise CommandError(str(error)) from None
        self.stdout.write(secret)
