"""Endpoints: servers that speak OpenAI's protocols, and what they reported about their models.

A row holds no secret. It names the environment variable of the server processes that holds the key.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import ClassVar
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models.base import ModelBase
from django.utils.translation import gettext

from chat.vocabulary.dialect_names import DIALECT_NAMES, PROTOCOL_NAMES

ENDPOINT_PROVIDER = "openai_compatible"
"""The provider that the endpoints belong to, by its name in CHAT_PROVIDERS."""

KEY_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*_API_KEY")


def dialect_choices() -> list[tuple[str, str]]:
    """Return the choices of a dialect. Migrations name this function, so new choices need no migration."""
    return [(name, name) for name in DIALECT_NAMES]


def protocol_choices() -> list[tuple[str, str]]:
    """Return the choices of a protocol. Migrations name this function, so new choices need no migration."""
    return [(name, name) for name in PROTOCOL_NAMES]


def validate_base_url(url: str) -> None:
    """Raise ValidationError unless this is an HTTP address without user name, password, query and fragment."""
    try:
        parts = urlsplit(url)
        is_valid = bool(parts.scheme in ("http", "https") and parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        raise ValidationError(gettext("This is not an address.")) from None
    if not is_valid or re.search(r"[\s\x00-\x1f\x7f]", url):
        raise ValidationError(
            gettext("Enter an address that begins with http:// or https://, such as http://localhost:11434/v1.")
        )
    if "@" in parts.netloc or "?" in url or "#" in url:
        raise ValidationError(gettext("The address must have no user name, no password, no “?” and no “#”."))


def validate_key_variable(name: str) -> None:
    """Raise ValidationError unless this variable may hold the key of an endpoint.

    Whoever edits endpoints can have the key sent to a server of their own. This rule protects the other secrets of this
    server, such as SECRET_KEY, DATABASE_URL and its own API keys.
    """
    if not KEY_VARIABLE.fullmatch(name):
        raise ValidationError(gettext("The name must consist of capital letters, digits and “_”, and end in _API_KEY."))
    if name in settings.OWN_API_KEYS:
        raise ValidationError(
            gettext("This key belongs to the settings of the server. Put the endpoint's into a variable of its own.")
        )


class ModelEndpoint(models.Model):
    """A server that speaks one of OpenAI's protocols, with the account that is used there."""

    name = models.SlugField(
        max_length=50, unique=True, help_text="Its name in models and turns. It cannot be changed later."
    )
    label = models.CharField(max_length=100, blank=True, help_text="What staff see; empty: its name.")
    base_url = models.CharField(
        "base URL",
        max_length=500,
        validators=[validate_base_url],
        help_text="For example http://localhost:11434/v1. This server sends requests there, with the key below.",
    )
    api_key_variable = models.CharField(
        "variable of the API key",
        max_length=100,
        blank=True,
        validators=[validate_key_variable],
        help_text=(
            "Name of the environment variable that holds the key, such as MISTRAL_API_KEY; empty for servers that need"
            " none. It must end in _API_KEY, and GEMINI_API_KEY, GOOGLE_API_KEY and OPENAI_API_KEY are not allowed. Set"
            " the variable for the server processes or in .env, then restart them. The key itself is never stored here."
        ),
    )
    dialect = models.CharField(
        max_length=20,
        blank=True,
        choices=dialect_choices,
        help_text="What kind of server this is. Empty: recognised by its address.",
    )
    protocol = models.CharField(
        max_length=20,
        blank=True,
        db_default="",
        default="",
        choices=protocol_choices,
        help_text=(
            "How it is asked. Empty: by chat completions, or by the Responses API for a model if the server refers to"
            " it. A test of the endpoint says which protocols the server speaks."
        ),
    )
    is_enabled = models.BooleanField(default=True, help_text="Whether its models can be chosen.")

    class Meta:
        ordering: ClassVar[list[str]] = ["name"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(condition=~models.Q(name=""), name="endpoint_has_a_name"),
        ]

    def __str__(self) -> str:
        return self.label or self.name

    def save(
        self,
        force_insert: bool | tuple[ModelBase, ...] = False,
        force_update: bool = False,
        using: str | None = None,
        update_fields: Iterable[str] | None = None,
    ) -> None:
        """Save the row. Slashes at the end of its address are removed, because requests append paths to it."""
        self.base_url = self.base_url.rstrip("/")
        super().save(force_insert=force_insert, force_update=force_update, using=using, update_fields=update_fields)


class EndpointModel(models.Model):
    """Facts that a server has reported or shown about one of its models."""

    endpoint = models.CharField(max_length=50, blank=True, help_text="Empty: the one that the settings describe.")
    account = models.CharField(max_length=64, help_text="Digest of the address and the key that were used.")
    model = models.CharField(max_length=200)
    facts = models.JSONField(default=dict, help_text="The fields of `ModelFacts`.")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name = "facts about a model"
        verbose_name_plural = "facts about models"
        ordering: ClassVar[list[str]] = ["endpoint", "model"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["endpoint", "model"], name="one_record_per_endpoint_model"),
        ]

    def __str__(self) -> str:
        return self.model
