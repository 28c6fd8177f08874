"""Finds the presets and models that users can choose, their names, and the default.

A preset takes precedence over a model of the same name, and a model of CHAT_PROVIDER over another provider's, unless
the demo model replaces it. The endpoint of the settings takes precedence over other endpoints.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeAlias

from django.conf import settings

from chat.models import LanguageModel, Preset
from chat.providers import is_demo
from chat.providers.catalogue.endpoints import has_usable_endpoint, settings_models, usable_endpoints
from chat.vocabulary.demo_model import DEMO_MODEL

Row: TypeAlias = Preset | LanguageModel

NAMES_LIMIT = 40
"""Maximum number of names that a sentence lists."""


class Offers:
    """The rows of the catalogue, read with at most three queries."""

    def __init__(self) -> None:
        models = list(LanguageModel.objects.all())
        models += settings_models(models)
        presets = list(Preset.objects.select_related("language_model"))
        usable = usable_endpoints(models)
        self.addresses = usable
        """The base URLs of the endpoints that can be used, by name."""

        def is_offered(model: LanguageModel) -> bool:
            # Leave out models that the demo model replaces. The demo model itself is added later, as one choice.
            return may_answer(model, usable) and not is_demo(model.provider, model.endpoint)

        enabled = [preset for preset in presets if preset.is_enabled and is_offered(preset.language_model)]
        self.rows = rows_by_name(enabled, filter(is_offered, models))
        """What users can choose: name -> row, in order."""
        if settings.DEFAULT_MODEL:
            defaults = [model for model in models if may_answer(model, usable, is_default=True)]
            self.default = rows_by_name(presets, defaults).get(settings.DEFAULT_MODEL)
        else:
            self.default = default_row(presets, models, is_offered)
        """The row of the server's default. `None` if there is no default, or if DEFAULT_MODEL has no row."""

    def names(self) -> list[str]:
        """Return all names that users can choose, in order."""
        return [*dict.fromkeys([*self.rows, *([DEMO_MODEL] if is_demo() else [])])]


def may_answer(model: LanguageModel, usable: Collection[str], *, is_default: bool = False) -> bool:
    """Return whether a model is enabled and can be reached. `usable`: as `usable_endpoints` returned them.

    `is_default`: whether the model is asked for as DEFAULT_MODEL. Then a disabled model of CHAT_PROVIDER may answer
    too, because the operator configured it. A disabled model of an endpoint may not: it only has the same name, and
    its server would get the conversation.
    """
    if not model.name.isprintable():
        # This name cannot be used. The row was stored by an earlier version, which did not validate names.
        return False
    if is_default and model.provider == settings.CHAT_PROVIDER and not model.endpoint:
        return True
    return model.is_enabled and has_usable_endpoint(model, usable)


def rows_by_name(presets: Iterable[Preset], models: Iterable[LanguageModel]) -> dict[str, Row]:
    """Return the row that each name stands for, in order."""
    rows: dict[str, Row] = {row.slug: row for row in presets}
    for row in models:
        existing = rows.get(row.name)
        if existing is None or (isinstance(existing, LanguageModel) and precedence(row) < precedence(existing)):
            rows[row.name] = row
    return rows


def precedence(row: LanguageModel) -> tuple[bool, bool, bool]:
    """Return the key by which models of the same name are sorted; the first one is used."""
    return is_demo(row.provider, row.endpoint), row.provider != settings.CHAT_PROVIDER, bool(row.endpoint)


def default_row(
    presets: Iterable[Preset], models: Iterable[LanguageModel], is_offered: Callable[[LanguageModel], bool]
) -> Row | None:
    """Return the row of the default if DEFAULT_MODEL is not set; `None` if nothing is offered.

    The preset that is marked as the default works even if it is disabled, because the operator chose it. Without a
    mark, the oldest offered preset is the default, or else the oldest offered model. Positions do not matter: they
    only order lists.
    """
    presets = list(presets)
    marked = next((preset for preset in presets if preset.is_default), None)
    if marked is not None:
        return marked
    offered: Sequence[Row] = [preset for preset in presets if preset.is_enabled and is_offered(preset.language_model)]
    offered = offered or [model for model in models if is_offered(model)]
    # Models of the settings have no primary key, and come after those that have one.
    return min(offered, key=lambda row: (row.pk is None, row.pk or 0), default=None)


def known_names_sentence() -> str:
    """Return the sentence that lists the names that users can choose. At most three queries."""
    names = Offers().names()
    if not names:
        return "No model is offered here yet."
    more = f" and {len(names) - NAMES_LIMIT} more" if len(names) > NAMES_LIMIT else ""
    return f"Choose one of these: {', '.join(names[:NAMES_LIMIT])}{more}."
