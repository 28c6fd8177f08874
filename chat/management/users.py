"""Looks up users for management commands."""

from __future__ import annotations

from django.contrib.auth import get_user_model
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.management.base import CommandError


def find_user(username: str) -> AbstractBaseUser:
    """Return the user with this name, whatever its case. Raise CommandError if there is none."""
    user = get_user_model()._default_manager.filter(username__iexact=username).first()
    if user is None:
        raise CommandError(f"There is no user “{username}”.")
    return user
