"""Finds the model of the catalogue that answered, if this is not the model that was asked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from chat.models import ENDPOINT_PROVIDER, LanguageModel
from chat.providers.catalogue.published import end_of
from chat.providers.catalogue.setups import Setup

ALIAS = "-latest"
"""Ending of the names of aliases, such as `gemini-flash-latest`. An alias stands for a model that may change."""
_VERSION_WORDS = frozenset({"latest", "preview", "exp"})


@dataclass(frozen=True, slots=True)
class OtherModel:
    """The model that answered in place of the one that was asked."""

    row: LanguageModel
    asked: LanguageModel | None
    """The row of the model that was asked; `None` if the catalogue does not have it."""


def may_be_another(setup: Setup, version: str) -> bool:
    """Return whether a response may come from another model than the one that was asked.

    `version`: the name of the model in the response. Paths, dates and endings that only name a version are ignored.
    For a model of an endpoint, the result is False, because operators often give models names of their own.
    """
    return setup.provider != ENDPOINT_PROVIDER and bool(version) and _family(version) != _family(setup.model)


def find_other_model(setup: Setup, version: str) -> OtherModel | None:
    """Return the model that a response names, if this is not the model that was asked.

    `version`: the name of the model in the response. The function looks for it among the models of the same provider
    and endpoint, and returns `None` if none of them has this name. It runs one query, or none if the response names the
    asked model.
    """
    if not may_be_another(setup, version):
        return None
    name, family = _last_name(version), _family(version)
    models = list(LanguageModel.objects.filter(provider=setup.provider, endpoint=setup.endpoint))
    named = [row for row in models if _family(row.name) == family]
    # A model and its preview have the same family. Choose the one whose name is the beginning of `version`.
    found = max(named, key=lambda row: len(row.name) if name.startswith(_last_name(row.name)) else 0, default=None)
    return OtherModel(found, next((row for row in models if row.name == setup.model), None)) if found else None


def other_model_sentence(setup: Setup, other: OtherModel, day: date) -> str:
    """Return a sentence that says which model answered on this day. Runs no query."""
    if setup.model.endswith(ALIAS):
        return f"{other.row} answered as {setup.model}."
    end = end_of(other.asked or LanguageModel(provider=setup.provider, endpoint=setup.endpoint, name=setup.model))
    if end is not None and end.on <= day:
        return f"{other.row} answered: the service no longer offers {setup.model}."
    return f"{other.row} answered in place of {setup.model}."


def _last_name(name: str) -> str:
    return name.lower().rpartition("/")[2].partition("@")[0]


def _family(name: str) -> str:
    """Return the name of a model without its path and without endings that only name a version."""
    words = _last_name(name).split("-")
    while len(words) > 1 and (words[-1] in _VERSION_WORDS or (words[-1].isdecimal() and len(words[-1]) > 1)):
        words.pop()
    return "-".join(words)
