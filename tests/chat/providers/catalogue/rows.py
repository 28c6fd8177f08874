"""Factories for rows of the catalogue; tests pass the fields that matter to them."""

from __future__ import annotations

from typing import Any

from chat.models import ENDPOINT_PROVIDER, LanguageModel, ModelEndpoint, Preset


def make_model(name: str = "some-model", **fields: Any) -> LanguageModel:
    """Create a model with all tools."""
    tools = {"code_execution": True, "web_search": True, "url_context": True}
    return LanguageModel.objects.create(name=name, **{**tools, **fields})


def make_preset(slug: str = "some-preset", **fields: Any) -> Preset:
    """Create a preset, with a new model unless `language_model` is passed."""
    model = fields.pop("language_model", None) or make_model(f"model-of-{slug}")
    return Preset.objects.create(slug=slug, label=fields.pop("label", slug.title()), language_model=model, **fields)


def make_endpoint(name: str = "local", **fields: Any) -> ModelEndpoint:
    """Create an endpoint."""
    return ModelEndpoint.objects.create(name=name, **{"base_url": "http://localhost:8000/v1", **fields})


def make_endpoint_model(endpoint: str, name: str = "llama", **fields: Any) -> LanguageModel:
    """Create a model of an endpoint."""
    return LanguageModel.objects.create(provider=ENDPOINT_PROVIDER, endpoint=endpoint, name=name, **fields)
