"""Compare the catalogue with a provider's own list of models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Max

from chat.models import LanguageModel
from chat.providers.base import ListedModel

POSITION_STEP = 10


def sync(provider: str, listed: Sequence[ListedModel], *, at: datetime, is_dry_run: bool = False) -> list[str]:
    """Note which models the provider lists at this time; one sentence per change, all of them or none.

    New ones come disabled. Nothing is deleted, and what an operator decides is left alone: limits are filled in where
    they are empty, and cut where the provider's are lower, as it would refuse more.
    """
    with transaction.atomic():
        rows = {row.name: row for row in LanguageModel.objects.select_for_update().filter(provider=provider)}
        by_name = {model.name: model for model in listed}
        done = [
            *_new(provider, [model for name, model in by_name.items() if name not in rows], at),
            *(said for name, row in rows.items() if name in by_name for said in _seen(row, by_name[name], at)),
            *(said for name, row in rows.items() if name not in by_name for said in _gone(row, at)),
        ]
        transaction.set_rollback(is_dry_run)
    return done


def _new(provider: str, listed: Sequence[ListedModel], at: datetime) -> Iterator[str]:
    last = LanguageModel.objects.aggregate(last=Max("position"))["last"] or 0
    for number, model in enumerate(listed, start=1):
        LanguageModel.objects.create(
            provider=provider,
            name=model.name,
            label=model.label[:100],
            description=_sentence(model.description),
            is_enabled=False,
            position=last + number * POSITION_STEP,
            context_tokens=model.context_tokens,
            max_output_tokens=model.max_output_tokens,
            listed_at=at,
        )
        yield f"{model.name}: new, disabled until you enable it in the admin"


def _seen(row: LanguageModel, listed: ListedModel, at: datetime) -> Iterator[str]:
    for field, tokens in (
        ("context_tokens", listed.context_tokens),
        ("max_output_tokens", listed.max_output_tokens),
    ):
        set_to = getattr(row, field)
        if tokens is not None and (set_to is None or tokens < set_to):
            setattr(row, field, tokens)
            yield f"{row.name}: {field} is now {tokens:,}"
    if row.missing_since is not None:
        row.missing_since = None
        yield f"{row.name}: listed again"
    row.listed_at = at
    row.save(update_fields=["context_tokens", "max_output_tokens", "missing_since", "listed_at"])


def _gone(row: LanguageModel, at: datetime) -> Iterator[str]:
    if row.missing_since is None:
        row.missing_since = at
        row.save(update_fields=["missing_since"])
        yield f"{row.name}: no longer listed"


def _sentence(description: str) -> str:
    """The first sentence, if it has room in a row."""
    first = description.strip().partition(". ")[0].strip().rstrip(".")
    return f"{first}." if 0 < len(first) < 200 else ""
