"""`manage.py create_demo_user`: creates the user `demo`, so that a fresh checkout can be tried at once."""

from __future__ import annotations

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from chat.models import User


class Command(BaseCommand):
    """Creates or resets the demo user. A second run changes nothing."""

    help = "Makes the user demo with the password demo. Only where DEBUG is on."

    def handle(self, *args: object, **options: object) -> None:
        """Create the user. Raise CommandError if DEBUG is off, because the password is known to everybody."""
        if not settings.DEBUG:
            raise CommandError("The demo user has a password that anybody can guess: it is made only with DEBUG=1.")
        user, is_new = User.objects.get_or_create(username__iexact="demo", defaults={"username": "demo"})
        if user.is_active and user.check_password("demo"):
            self.stdout.write("User demo with password demo is there already.")
            return
        user.is_active = True
        user.set_password("demo")
        user.save()
        self.stdout.write(f"{'Made' if is_new else 'Reset'} user demo with password demo.")
