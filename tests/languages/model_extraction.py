"""Finds the words of models that the admin shows: names of apps and models, and the columns in lists and forms."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

from django.apps import apps
from django.contrib import admin
from django.contrib.admin.utils import flatten, flatten_fieldsets
from django.contrib.auth.models import AbstractUser
from django.db.models import Field, Model
from django.test import RequestFactory
from django.utils.translation import override

from chat.models import Conversation, User

APPS = ("attachments", "chat")
DJANGO_COLUMNS = frozenset(field.name for field in AbstractUser._meta.get_fields())
"""Columns of users, whose names Django has translated."""
CODE_CHOICES = frozenset({"engine", "kind", "language", "role"})
"""Columns whose choices need no extraction: names in the API, names of languages, or in the table of sentences."""


def find_model_words() -> Iterator[tuple[Path, str]]:
    """Yield the words, each with the file of its model or app."""
    with override(None):
        for name in APPS:
            config = apps.get_app_config(name)
            yield _file_of(type(config)), str(config.verbose_name)
            for model in config.get_models():
                yield from ((_file_of(model), text) for text in map(str, _words_of(model)) if text)


def _file_of(one: type) -> Path:
    return Path(inspect.getfile(one))


def _words_of(model: type[Model]) -> Iterator[object]:
    """Yield the words of a model. Choices are shown on other pages too, so those of all models are included."""
    shown = _shown_columns(model)
    if admin.site.is_registered(model):
        yield from (model._meta.verbose_name, model._meta.verbose_name_plural)
        for constraint in model._meta.constraints:
            if constraint.violation_error_message != constraint.default_violation_error_message:
                yield constraint.violation_error_message
    for field in (*model._meta.local_fields, *model._meta.local_many_to_many):
        if field.name in shown and not (model is User and field.name in DJANGO_COLUMNS):
            yield from (field.verbose_name, field.help_text)
        if isinstance(field, Field) and field.name not in CODE_CHOICES and isinstance(field.choices, list):
            yield from (label for _, label in field.choices)


def _shown_columns(model: type[Model]) -> set[str]:
    """Return the names of the columns in the list and the form of a model. Conversations have pages of their own."""
    names: set[str] = set()
    request = RequestFactory().get("/")
    request.user = User(is_superuser=True, is_staff=True)
    if model_admin := admin.site._registry.get(model):
        names.update(str(name) for name in model_admin.get_list_display(request))
        for one in model_admin.get_list_filter(request):
            names.add(str(one[0] if isinstance(one, tuple) else one))
        if model is not Conversation:
            names.update(str(name) for name in flatten_fieldsets(model_admin.get_fieldsets(request)))
    for model_admin in admin.site._registry.values():
        for inline in model_admin.inlines:
            if inline.model is model:
                names.update(str(name) for name in flatten(inline.fields or ()))
    return names
