"""Which model of the catalogue answered, if it was another one than was asked."""

from __future__ import annotations

import re
from datetime import date

from chat.catalogue.endpoints import usable_endpoints
from chat.catalogue.published import end_of
from chat.catalogue.setups import Setup
from chat.models import LanguageModel

ALIAS = "-latest"
"""Models whose names end so stand for another one, so it is no news which one answered."""
_VERSION = re.compile(r"(?:-(?:latest|preview|exp|\d{3,8}|\d{2}-\d{2}|\d{2}-\d{4}|\d{4}-\d{2}-\d{2}))+$")


def may_be_another(setup: Setup, version: str) -> bool:
    """Return whether a version of a model, as a response names it, is not known to be one of the model that was asked.

    Paths, variants (`:free`), dates and other endings that only tell versions apart do not count.
    """
    return bool(version) and _key(version) != _key(setup.model)


def find_other_model(setup: Setup, version: str) -> LanguageModel | None:
    """Return the model of the same endpoint that a response names, if it is another one than the one that was asked.

    `None` also if the catalogue has no such model. One query, but none for a version of the asked model.
    """
    if not may_be_another(setup, version):
        return None
    models = LanguageModel.objects.filter(provider=setup.provider, endpoint=setup.endpoint)
    named = [row for row in models if _key(row.name) == _key(version)]
    return min(named, key=lambda row: row.name != version, default=None)


def other_model_sentence(setup: Setup, other: LanguageModel, day: date) -> str:
    """Return that another model answered on a day; empty if the asked one stands for another. At most two queries."""
    if setup.model.endswith(ALIAS):
        return ""
    place = {"provider": setup.provider, "endpoint": setup.endpoint, "name": setup.model}
    asked = LanguageModel.objects.filter(**place).first() or LanguageModel(**place)
    end = end_of(asked, usable_endpoints([asked]).get(setup.endpoint, ""))
    if end is not None and end.on <= day:
        return f"{other} answered: the service no longer offers {setup.model}."
    return f"{other} answered in place of {setup.model}."


def _key(name: str) -> str:
    return _VERSION.sub("", re.split("[:@]", name.lower().rpartition("/")[2])[0])
