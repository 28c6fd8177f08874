"""Tokens with which programs act for a person; of each only a digest is kept."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

MARK = "plt_"
"""What every token begins with, so that one that was left lying about can be recognised."""

RANDOM_BYTES = 32
PREFIX_CHARS = len(MARK) + 6
USE_NOTED_EVERY = timedelta(minutes=1)
TOKENS_LIMIT = 50
"""Of one person, those that can still be used."""


class TooManyTokens(Exception):
    """A person has as many as they may; the text is a sentence."""


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    """Reading and making tokens."""

    def usable(self) -> ApiTokenQuerySet:
        """Those that let somebody in now: not revoked, not expired, of an active person."""
        is_current = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
        return self.filter(is_current, revoked_at=None, owner__is_active=True)

    def issue(self, owner_id: int, *, name: str, life: timedelta | None) -> tuple[ApiToken, str]:
        """A new token and its secret, which can never be read again. Raises TooManyTokens."""
        if self.usable().filter(owner_id=owner_id).count() >= TOKENS_LIMIT:
            raise TooManyTokens(f"You have {TOKENS_LIMIT} tokens already. Revoke one that you do not need.")
        secret = MARK + secrets.token_urlsafe(RANDOM_BYTES)
        token = self.create(
            owner_id=owner_id,
            name=name,
            digest=_digest(secret),
            prefix=secret[:PREFIX_CHARS],
            expires_at=None if life is None else timezone.now() + life,
        )
        return token, secret

    def used(self, secret: str) -> ApiToken | None:
        """The token of this secret, if it lets somebody in; its use is noted, at most once a minute."""
        token = self.usable().select_related("owner").filter(digest=_digest(secret)).first()
        if token is not None:
            now = timezone.now()
            if token.last_used_at is None or token.last_used_at < now - USE_NOTED_EVERY:
                self.filter(pk=token.pk).update(last_used_at=now)
        return token


def _digest(secret: str) -> str:
    # Not salted and not slow: a token is 256 random bits, which nobody guesses.
    return hashlib.sha256(secret.encode()).hexdigest()


class ApiToken(models.Model):
    """One token of a person."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100, help_text="What it is for, in its owner's words.")
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the token, in hex.")
    prefix = models.CharField(max_length=20, help_text="How the token begins, to tell it from others.")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True, help_text="None: never.")
    last_used_at = models.DateTimeField(null=True, blank=True, help_text="Exact to a minute.")
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = ApiTokenQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    @property
    def state(self) -> str:
        """`active`, `expired` or `revoked`."""
        if self.revoked_at is not None:
            return "revoked"
        is_expired = self.expires_at is not None and self.expires_at <= timezone.now()
        return "expired" if is_expired else "active"

    def revoke(self) -> None:
        """It lets nobody in any more; harmless to repeat."""
        if self.revoked_at is None:
            self.revoked_at = timezone.now()
            self.save(update_fields=["revoked_at"])
