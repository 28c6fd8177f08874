"""The endpoints of the provider `openai_compatible`: the one of the settings, and those of the admin."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from django.conf import settings
from django.db import transaction

from chat.models import ENDPOINT_PROVIDER, EndpointModel, LanguageModel, ModelEndpoint
from chat.models.plain_sql import find_row, select_rows
from chat.providers.base import ListedModel
from chat.providers.openai_compatible.endpoint import Endpoint, ModelFacts
from chat.providers.openai_compatible.listing import facts_of_listed
from chat.vocabulary.parts import JSON, JSONObject

T = TypeVar("T", int, bool)


class StoredEndpoints:
    """The endpoints in the settings and in the database, and the stored facts about their models."""

    def find(self, name: str) -> Endpoint:
        """Return the endpoint of the settings (empty name) or of a row. At most one query.

        Raises LookupError if it does not exist, or is turned off.
        """
        if not name:
            if not settings.OPENAI_BASE_URL:
                raise LookupError("The settings describe no endpoint: OPENAI_BASE_URL and OPENAI_API_KEY are not set.")
            return Endpoint("", settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY)
        row = find_row(ModelEndpoint, "name = %s AND is_enabled", name)
        if row is None:
            raise LookupError(f"There is no endpoint “{name}” here, or it is turned off.")
        return endpoint_of(row)

    def facts(self, endpoint: Endpoint, model: str) -> ModelFacts:
        """Return the stored facts about a model, in which values of the operator replace stored ones. Two queries."""
        stored, override = load_facts(endpoint, model).get(model, ModelFacts()), _override(endpoint, model)
        return replace(
            stored,
            context_tokens=_first(override.context_tokens, stored.context_tokens),
            functions=_first(override.functions, stored.functions),
            images=_first(override.images, stored.images),
        )

    def remember(self, endpoint: Endpoint, model: str, facts: ModelFacts) -> None:
        """Store what the server has said or shown about a model.

        A value that the operator has set is not stored as if the server had said it: callers usually pass what the
        method `facts` returned, with changes, and it contains the operator's values.
        """
        with transaction.atomic():
            stored, override = load_facts(endpoint, model).get(model, ModelFacts()), _override(endpoint, model)
            said = replace(
                facts,
                context_tokens=_said(facts.context_tokens, override.context_tokens, stored.context_tokens),
                functions=_said(facts.functions, override.functions, stored.functions),
                images=_said(facts.images, override.images, stored.images),
            )
            values = {"account": endpoint.account, "facts": facts_to_json(said)}
            EndpointModel.objects.update_or_create(endpoint=endpoint.name, model=model, defaults=values)


def _override(endpoint: Endpoint, model: str) -> ModelFacts:
    """Return what the operator has set for a model."""
    row = find_row(
        LanguageModel, "provider = %s AND endpoint = %s AND name = %s", ENDPOINT_PROVIDER, endpoint.name, model
    )
    return ModelFacts(row.context_tokens, row.function_calling, row.image_input) if row else ModelFacts()


def _first(override: T | None, stored: T | None) -> T | None:
    return stored if override is None else override


def _said(given: T | None, override: T | None, stored: T | None) -> T | None:
    """Return the given value, or the stored one if the given one only repeats what the operator has set."""
    return given if override is None or given != override else stored


# --- facts


def load_facts(endpoint: Endpoint, *models: str) -> dict[str, ModelFacts]:
    """Return what the server said about these models, or about all, by id. Facts of another account are ignored."""
    condition, values = "endpoint = %s AND account = %s", [endpoint.name, endpoint.account]
    if models:
        rows = select_rows(EndpointModel, f"{condition} AND model IN %s", *values, list(models))
    else:
        rows = select_rows(EndpointModel, condition, *values)
    return {row.model: facts_from_json(row.facts) for row in rows}


def remember_listed(endpoint: Endpoint, listed_models: Sequence[ListedModel]) -> None:
    """Store what the server's list says about its models. What was learned in other ways is kept. Two queries."""
    known = load_facts(endpoint)
    rows = []
    for listed in {model.name: model for model in listed_models}.values():
        before = known.get(listed.name, ModelFacts())
        after = facts_of_listed(listed, before)
        if after != before:
            rows.append(
                EndpointModel(
                    endpoint=endpoint.name, model=listed.name, account=endpoint.account, facts=facts_to_json(after)
                )
            )
    EndpointModel.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["endpoint", "model"],
        update_fields=["account", "facts", "updated_at"],
    )


def facts_to_json(facts: ModelFacts) -> JSONObject:
    """Return the fields that differ from their default."""
    values: JSONObject = {
        "context_tokens": facts.context_tokens,
        "functions": facts.functions,
        "images": facts.images,
        "refuses": [*sorted(facts.refuses)],
        "demands": [*sorted(facts.demands)],
        "is_probed": facts.is_probed or None,
    }
    return {name: value for name, value in values.items() if value not in (None, [])}


def facts_from_json(values: JSONObject) -> ModelFacts:
    """Return the facts that `facts_to_json` wrote. Fields of another version are ignored."""
    context_tokens, functions, images = (values.get(name) for name in ("context_tokens", "functions", "images"))
    return ModelFacts(
        context_tokens=context_tokens if isinstance(context_tokens, int) else None,
        functions=functions if isinstance(functions, bool) else None,
        images=images if isinstance(images, bool) else None,
        refuses=_words(values.get("refuses")),
        demands=_words(values.get("demands")),
        is_probed=values.get("is_probed") is True,
    )


def _words(value: JSON) -> frozenset[str]:
    return frozenset(word for word in value if isinstance(word, str)) if isinstance(value, list) else frozenset()


# --- endpoints


def endpoint_of(row: ModelEndpoint) -> Endpoint:
    """Return the endpoint with its key. The key is empty if its variable is not set."""
    key = settings.ENDPOINT_API_KEYS.get(row.api_key_variable, "")
    return Endpoint(row.name, row.base_url, key, row.dialect, row.protocol)


def endpoint_exists(name: str) -> bool:
    """Return whether there is such an endpoint, even if it is turned off. At most one query."""
    return ModelEndpoint.objects.filter(name=name).exists() if name else bool(settings.OPENAI_BASE_URL)


# --- their models


def settings_models(rows: Iterable[LanguageModel]) -> list[LanguageModel]:
    """Return an unsaved row for each model of OPENAI_MODELS that has no row in `rows`."""
    stored = {row.name for row in rows if row.provider == ENDPOINT_PROVIDER and not row.endpoint}
    return [
        LanguageModel(provider=ENDPOINT_PROVIDER, name=name)
        for name in dict.fromkeys(settings.OPENAI_MODELS)
        if name not in stored
    ]


def usable_endpoints(rows: Iterable[LanguageModel]) -> dict[str, str]:
    """Return the base URLs of those endpoints of these models that exist and are turned on, by name.

    At most one query.
    """
    names = {row.endpoint for row in rows if row.provider == ENDPOINT_PROVIDER and row.endpoint}
    enabled = ModelEndpoint.objects.filter(is_enabled=True, name__in=names).values_list("name", "base_url")
    of_settings = {"": settings.OPENAI_BASE_URL} if settings.OPENAI_BASE_URL else {}
    return of_settings | dict(enabled if names else ())


def has_usable_endpoint(row: LanguageModel, usable: Collection[str]) -> bool:
    """Return whether a model can be reached. `usable`: as `usable_endpoints` returned them."""
    return row.provider != ENDPOINT_PROVIDER or row.endpoint in usable
