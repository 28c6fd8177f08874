"""Records which models their provider no longer has: set when an answer fails, cleared when one succeeds."""

from __future__ import annotations

from django.utils import timezone

from chat.models import LanguageModel


def mark_missing(provider: str, endpoint: str, model: str) -> None:
    """Record that the provider reported the model as unknown; an earlier time of the first report is kept."""
    rows = LanguageModel.objects.filter(provider=provider, endpoint=endpoint, name=model)
    rows.filter(missing_since__isnull=True).update(missing_since=timezone.now())


def mark_found(provider: str, endpoint: str, model: str) -> None:
    """Clear the record because the model has just answered; one UPDATE, which rarely changes a row."""
    rows = LanguageModel.objects.filter(provider=provider, endpoint=endpoint, name=model)
    rows.filter(missing_since__isnull=False).update(missing_since=None)
