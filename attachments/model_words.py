"""Translates the names of models and columns, help texts and choices when the admin shows them.

Django makes most of these names from the names of classes and columns. Names that were written into the columns for
translation would change the columns, and so need migrations. Texts that are translated already are not changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from django.apps import AppConfig
from django.conf import settings
from django.db.models import Field, Model
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

Text: TypeAlias = "str | _StrPromise"
ChangeText: TypeAlias = Callable[[Any], Text]


def translate_model_words(config: AppConfig) -> None:
    """Make the words of an app's models depend on the active language."""
    for model in config.get_models():
        change_model_words(model, _translated)


def change_model_words(model: type[Model], change: ChangeText) -> None:
    """Replace the names of a model, the names, help texts and choices of its columns, and messages of constraints."""
    options = model._meta
    if "verbose_name_plural" not in options.original_attrs:
        # Django appends an “s” to the name, also to a translated one.
        options.verbose_name_plural = f"{options.verbose_name_raw}s"
    options.verbose_name_plural = change(options.verbose_name_plural)
    options.verbose_name = change(options.verbose_name)
    for field in (*options.local_fields, *options.local_many_to_many):
        field.verbose_name = change(field.verbose_name)
        field.help_text = change(field.help_text)
        if _has_english_choices(field):
            field.choices = [(value, change(label)) for value, label in field.choices or ()]
    for constraint in options.constraints:
        if constraint.violation_error_message:
            constraint.violation_error_message = change(constraint.violation_error_message)


def _has_english_choices(field: Field[Any, Any]) -> bool:
    """Return whether a column has choices to translate. Languages are not: each has its own name in every language."""
    return isinstance(field.choices, list) and field.choices != settings.LANGUAGES


def _translated(text: Text) -> Text:
    # gettext translates an empty text into the header of the catalogue.
    return text if isinstance(text, Promise) or not text else gettext_lazy(text)
