"""Reads facts that providers have published about their models (`published.toml`), such as when a model ends."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from urllib.parse import urlsplit

from chat.models import ENDPOINT_PROVIDER, LanguageModel

_FACTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_IGNORES_TEMPERATURE = tuple(_FACTS["ignores_temperature"])


@dataclass(frozen=True, slots=True)
class ModelEnd:
    """The end of a model at its provider."""

    on: date
    """The first day on which the provider no longer offers the model."""
    successor: str = ""
    """The id of the model that then answers in its place. Empty: no model does, or it is not known."""


_ENDS = {(server, name): ModelEnd(**end) for server, models in _FACTS["ends"].items() for name, end in models.items()}


def end_of(row: LanguageModel, address: str = "") -> ModelEnd | None:
    """Return when a model ends; `None` if no end is known. `address`: the base URL of the model's endpoint, if any.

    An end that the row itself names is preferred to a published one.
    """
    if row.ends_on:
        return ModelEnd(row.ends_on, row.successor)
    server = urlsplit(address).hostname or "" if row.provider == ENDPOINT_PROVIDER else row.provider
    return _ENDS.get((server, row.name))


def ignores_temperature(name: str) -> bool:
    """Return whether the model with this name ignores the temperature of a request."""
    return name.rpartition("/")[2].startswith(_IGNORES_TEMPERATURE)
