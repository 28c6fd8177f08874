"""Synchronization of the catalogue with a provider's list of models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Max

from chat.models import LanguageModel
from chat.providers.base import ListedModel

POSITION_STEP = 10


def sync(provider: str, listed_models: Sequence[ListedModel], *, at: datetime, is_dry_run: bool = False) -> list[str]:
    """Record which models the provider lists at this time, in one transaction, and return one sentence per change.

    The list is that of the endpoint which the provider's settings describe; models of its other endpoints are ignored.
    New models are added disabled. Models are never deleted, and an operator's settings are preserved. Empty token
    limits are filled in; limits above the provider's are lowered, since the provider would reject such requests.
    """
    with transaction.atomic():
        known_models = LanguageModel.objects.select_for_update().filter(provider=provider, endpoint="")
        rows = {row.name: row for row in known_models}
        by_name = {model.name: model for model in listed_models}
        changes = [
            *_add(provider, [model for name, model in by_name.items() if name not in rows], at),
            *(change for name, row in rows.items() if name in by_name for change in _update(row, by_name[name], at)),
            *(change for name, row in rows.items() if name not in by_name for change in _mark_unlisted(row, at)),
        ]
        transaction.set_rollback(is_dry_run)
    return changes


def _add(provider: str, new_models: Sequence[ListedModel], at: datetime) -> Iterator[str]:
    last_position = LanguageModel.objects.aggregate(last=Max("position"))["last"] or 0
    for number, model in enumerate(new_models, start=1):
        LanguageModel.objects.create(
            provider=provider,
            name=model.name,
            label=model.label[:100],
            description=_first_sentence(model.description),
            is_enabled=False,
            position=last_position + number * POSITION_STEP,
            context_tokens=model.context_tokens,
            max_output_tokens=model.max_output_tokens,
            listed_at=at,
        )
        yield f"{model.name}: new, disabled until you enable it in the admin"


def _update(row: LanguageModel, listed_model: ListedModel, at: datetime) -> Iterator[str]:
    for field, tokens in (
        ("context_tokens", listed_model.context_tokens),
        ("max_output_tokens", listed_model.max_output_tokens),
    ):
        current_tokens = getattr(row, field)
        if tokens is not None and (current_tokens is None or tokens < current_tokens):
            setattr(row, field, tokens)
            yield f"{row.name}: {field} is now {tokens:,}"
    if row.missing_since is not None:
        row.missing_since = None
        yield f"{row.name}: listed again"
    row.listed_at = at
    row.save(update_fields=["context_tokens", "max_output_tokens", "missing_since", "listed_at"])


def _mark_unlisted(row: LanguageModel, at: datetime) -> Iterator[str]:
    if row.missing_since is None:
        row.missing_since = at
        row.save(update_fields=["missing_since"])
        yield f"{row.name}: no longer listed"


def _first_sentence(description: str) -> str:
    """Return the first sentence, or an empty string if it exceeds the length of the column."""
    sentence = description.strip().partition(". ")[0].strip().rstrip(".")
    return f"{sentence}." if 0 < len(sentence) < 200 else ""
