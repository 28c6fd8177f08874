"""Which model of the catalogue answered, if it was another one than was asked."""

from __future__ import annotations

from datetime import date

from chat.models import ENDPOINT_PROVIDER, LanguageModel
from chat.providers.catalogue.published import end_of
from chat.providers.catalogue.setups import Setup

ALIAS = "-latest"
"""Models whose names end so stand for another one, so it is no news which one answered."""
_VERSION_WORDS = frozenset({"latest", "preview", "exp"})


def may_be_another(setup: Setup, version: str) -> bool:
    """Return whether a version of a model, as a response names it, is not known to be one of the model that was asked.

    Paths, dates and other endings that only tell versions apart do not count. Names of models of endpoints are often
    aliases that their operator has chosen, so none of them is another model.
    """
    return setup.provider != ENDPOINT_PROVIDER and bool(version) and _family(version) != _family(setup.model)


def find_other_model(setup: Setup, version: str) -> LanguageModel | None:
    """Return the model of the same endpoint that a response names, if it is another one than the one that was asked.

    `None` also if the catalogue has no such model. One query, but none for a version of the asked model.
    """
    if not may_be_another(setup, version):
        return None
    name, family = _last_name(version), _family(version)
    models = LanguageModel.objects.filter(provider=setup.provider, endpoint=setup.endpoint)
    named = [row for row in models if _family(row.name) == family]
    # Of a model and its preview, the one whose name begins as the version does.
    return max(named, key=lambda row: len(row.name) if name.startswith(_last_name(row.name)) else 0, default=None)


def other_model_sentence(setup: Setup, other: LanguageModel, day: date) -> str:
    """Return that another model answered on a day. At most one query."""
    if setup.model.endswith(ALIAS):
        return f"{other} answered as {setup.model}."
    identity = {"provider": setup.provider, "endpoint": setup.endpoint, "name": setup.model}
    end = end_of(LanguageModel.objects.filter(**identity).first() or LanguageModel(**identity))
    if end is not None and end.on <= day:
        return f"{other} answered: the service no longer offers {setup.model}."
    return f"{other} answered in place of {setup.model}."


def _last_name(name: str) -> str:
    return name.lower().rpartition("/")[2].partition("@")[0]


def _family(name: str) -> str:
    """Return the name of a model without its path and without the endings that only tell versions apart."""
    words = _last_name(name).split("-")
    while len(words) > 1 and (words[-1] in _VERSION_WORDS or (words[-1].isdecimal() and len(words[-1]) > 1)):
        words.pop()
    return "-".join(words)
