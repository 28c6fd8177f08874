"""API tokens, with which programs act on behalf of a user. The database stores only a digest of each token."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta
from typing import ClassVar

from django.conf import settings
from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone

from chat.models.user import lock_user

TOKEN_PREFIX = "plt_"
"""Prefix of every token, by which people and secret scanners recognise a leaked one."""

RANDOM_BYTES = 32
STORED_PREFIX_CHARS = len(TOKEN_PREFIX) + 6
LAST_USED_PRECISION = timedelta(minutes=1)
TOKENS_LIMIT = 50
"""Maximum number of usable tokens of one user."""


class TooManyTokens(Exception):
    """A user already has `TOKENS_LIMIT` usable tokens. The text is a sentence for the user."""


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    """Finds, issues and checks tokens."""

    def usable(self) -> ApiTokenQuerySet:
        """Return the tokens that grant access now: not revoked, not expired, of an active user without a planned
        deletion.
        """
        is_current = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
        return self.filter(is_current, revoked_at=None, owner__is_active=True, owner__deletion_at=None)

    def issue(self, owner_id: int, *, name: str, life: timedelta | None) -> tuple[ApiToken, str]:
        """Create a token. Return it with its secret, which cannot be read again.

        A token without `life` never expires. Raises TooManyTokens if the user has `TOKENS_LIMIT` usable tokens.
        """
        secret = TOKEN_PREFIX + secrets.token_urlsafe(RANDOM_BYTES)
        with transaction.atomic():
            lock_user(owner_id)
            if self.usable().filter(owner_id=owner_id).count() >= TOKENS_LIMIT:
                raise TooManyTokens(f"You have {TOKENS_LIMIT} tokens already. Revoke one that you do not need.")
            token = self.create(
                owner_id=owner_id,
                name=name,
                digest=_hash(secret),
                prefix=secret[:STORED_PREFIX_CHARS],
                expires_at=None if life is None else timezone.now() + life,
            )
        return token, secret

    def authenticate(self, secret: str) -> ApiToken | None:
        """Return the usable token with this secret; `None` if there is none. Update `last_used_at` at most once a
        minute.
        """
        token = self.usable().select_related("owner").filter(digest=_hash(secret)).first()
        if token is not None:
            now = timezone.now()
            if token.last_used_at is None or token.last_used_at < now - LAST_USED_PRECISION:
                self.filter(pk=token.pk).update(last_used_at=now)
        return token


def _hash(secret: str) -> str:
    # A salted or slow hash is not necessary: a token is 256 random bits and cannot be guessed.
    return hashlib.sha256(secret.encode()).hexdigest()


class ApiToken(models.Model):
    """One token of a user."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100, help_text="What the token is for, in its owner's words.")
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the token, in hex.")
    prefix = models.CharField(
        max_length=20, help_text="First characters of the token, by which its owner recognises it."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True, help_text="Empty: the token never expires.")
    last_used_at = models.DateTimeField(null=True, blank=True, help_text="Accurate to a minute.")
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
        """Revoke the token. Revoking it again changes nothing."""
        if self.revoked_at is None:
            self.revoked_at = timezone.now()
            self.save(update_fields=["revoked_at"])
