"""Synchronization of the catalogue with the list of models of a provider's endpoint."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

from asgiref.sync import async_to_sync
from django.conf import settings
from django.db import transaction
from django.db.models import Max

from chat.models import ENDPOINT_PROVIDER, LanguageModel
from chat.providers import get_provider, is_demo
from chat.providers.base import ListedModel, Provider
from chat.providers.catalogue.endpoints import StoredEndpoints, remember_listed
from chat.providers.provider_errors import ProviderError
from chat.vocabulary.sanitize import one_line

POSITION_STEP = 10
NAME_LIMIT = 200
TOKENS_LIMIT = 2**31 - 1
"""Maximum number that the columns for tokens can hold."""


class ListUnavailable(Exception):
    """The endpoint gives no list of models. The text is a sentence for the operator."""


def sync_with_server(provider: str, endpoint: str, *, at: datetime, is_dry_run: bool = False) -> list[str]:
    """Ask an endpoint for its models, update the catalogue, and return what has changed, in sentences.

    Facts about the models of `openai_compatible` are stored too. Raises ListUnavailable if the endpoint gives no list.
    """
    server = f"{provider} (endpoint “{endpoint}”)" if endpoint else provider
    if is_demo(provider, endpoint):
        raise ListUnavailable(
            "There is no key, so the demo model answers: no models can be listed. Set GEMINI_API_KEY."
        )
    try:
        store_entry = StoredEndpoints().find(endpoint) if provider == ENDPOINT_PROVIDER else None
        # Ask in a new event loop, because the connections of the server's loop belong to live answers.
        listed = async_to_sync(_list_models, force_new_loop=True)(get_provider(provider, endpoint))
    except LookupError as error:
        raise ListUnavailable(str(error) if provider == ENDPOINT_PROVIDER else f"There is no {server} here.") from error
    except ProviderError as error:
        raise ListUnavailable(
            f"Provider {server} gave no list of models. {error.sentence} ({error.detail or error})"
        ) from error
    listed = [model for model in listed if _is_storable(model.name)]
    if not listed:
        raise ListUnavailable(f"Provider {server} lists no models at all. Nothing was changed.")
    with transaction.atomic():
        if store_entry and not is_dry_run:
            remember_listed(store_entry, listed)
        changes = sync(provider, listed, endpoint=endpoint, at=at, is_dry_run=is_dry_run)
    done = "would change" if is_dry_run else "changed"
    return [*changes, f"{server} lists {len(listed)} models; {len(changes)} things {done}."]


async def _list_models(provider: Provider) -> list[ListedModel]:
    """Return the list and close the provider, whose connections belong to the event loop of this call."""
    try:
        return await provider.list_models()
    finally:
        await provider.aclose()


def _is_storable(name: str) -> bool:
    """Return whether a name fits into its column and has neither control nor invisible characters."""
    return 0 < len(name) <= NAME_LIMIT and name.isprintable()


def sync(
    provider: str, listed_models: Sequence[ListedModel], *, at: datetime, endpoint: str = "", is_dry_run: bool = False
) -> list[str]:
    """Record which models an endpoint lists at this time, in one transaction, and return one sentence per change.

    Models of other endpoints are ignored. New models are added disabled, except those of OPENAI_MODELS. Models are
    never deleted, and an operator's settings are preserved. Empty token limits are filled in; limits above the
    provider's are lowered, since the provider would reject such requests.
    """
    is_in_settings = provider == ENDPOINT_PROVIDER and not endpoint
    offered = settings.OPENAI_MODELS if is_in_settings else ()
    with transaction.atomic():
        known_models = LanguageModel.objects.select_for_update().filter(provider=provider, endpoint=endpoint)
        rows = {row.name: row for row in known_models}
        by_name = {model.name: model for model in listed_models}
        new_models = [model for name, model in by_name.items() if name not in rows]
        changes = [
            *_add(provider, endpoint, new_models, offered, at),
            *(change for name, row in rows.items() if name in by_name for change in _update(row, by_name[name], at)),
            *(change for name, row in rows.items() if name not in by_name for change in _mark_unlisted(row, at)),
        ]
        transaction.set_rollback(is_dry_run)
    return changes


def _add(
    provider: str, endpoint: str, new_models: Sequence[ListedModel], offered: Collection[str], at: datetime
) -> Iterator[str]:
    """Add the models. `offered`: ids of the models that users can choose already."""
    last_position = LanguageModel.objects.aggregate(last=Max("position"))["last"] or 0
    for number, model in enumerate(new_models, start=1):
        is_enabled = model.name in offered
        LanguageModel.objects.create(
            provider=provider,
            endpoint=endpoint,
            name=model.name,
            label=one_line(model.label)[:100],
            description=_first_sentence(one_line(model.description)),
            is_enabled=is_enabled,
            position=last_position + number * POSITION_STEP,
            context_tokens=_column_value(model.context_tokens),
            max_output_tokens=_column_value(model.max_output_tokens),
            listed_at=at,
        )
        yield f"{model.name}: new" if is_enabled else f"{model.name}: new, disabled until you enable it in the admin"


def _update(row: LanguageModel, listed_model: ListedModel, at: datetime) -> Iterator[str]:
    for field, tokens in (
        ("context_tokens", _column_value(listed_model.context_tokens)),
        ("max_output_tokens", _column_value(listed_model.max_output_tokens)),
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


def _column_value(tokens: int | None) -> int | None:
    """Return the count, or `None` if it is negative or too large for the column."""
    return tokens if tokens is None or 0 <= tokens <= TOKENS_LIMIT else None


def _first_sentence(description: str) -> str:
    """Return the first sentence, or an empty string if it exceeds the length of the column."""
    sentence = description.strip().partition(". ")[0].strip().rstrip(".")
    return f"{sentence}." if 0 < len(sentence) < 200 else ""
