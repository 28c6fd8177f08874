"""Rows of a catalogue for tests; what they hold is of no importance unless a test gives it."""

from __future__ import annotations

from typing import Any

from chat.models import LanguageModel, Preset


def make_model(name: str = "some-model", **fields: Any) -> LanguageModel:  # noqa: ANN401 - as `create` takes them
    """A model that can do everything."""
    can = {"code_execution": True, "google_search": True, "url_context": True}
    return LanguageModel.objects.create(name=name, **{**can, **fields})


def make_preset(slug: str = "some-preset", **fields: Any) -> Preset:  # noqa: ANN401 - as `create` takes them
    """A preset over a model of its own, unless one is given."""
    model = fields.pop("language_model", None) or make_model(f"model-of-{slug}")
    return Preset.objects.create(slug=slug, label=fields.pop("label", slug.title()), language_model=model, **fields)
