"""Models that their provider no longer has: noted when an answer fails for it, forgotten when one works."""

from __future__ import annotations

from django.utils import timezone

from chat.models import LanguageModel


def mark_missing(provider: str, model: str) -> None:
    """The provider has just said that it has no such model; since when is kept from the first time."""
    LanguageModel.objects.filter(provider=provider, name=model, missing_since__isnull=True).update(
        missing_since=timezone.now()
    )


def mark_found(provider: str, model: str) -> None:
    """The model has just answered; one UPDATE, which nearly always finds no row."""
    LanguageModel.objects.filter(provider=provider, name=model, missing_since__isnull=False).update(missing_since=None)
