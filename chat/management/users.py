"""Looks up users for management commands."""

from __future__ import annotations

from django.core.management.base import CommandError

from chat.models import User


def find_user(username: str) -> User:
    """Return the user with this name, ignoring case. Raise CommandError if there is none."""
    user = User.objects.named(username)
    if user is None:
        raise CommandError(f"There is no user “{username}”.")
    return user
