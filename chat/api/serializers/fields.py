"""Serializers and fields of requests that accept exactly what the OpenAPI document describes.

The fields of Django REST framework also accept other values: numbers for strings, `"yes"` for true, `1.0` for integers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import partial
from typing import Any

from django.db.models import TextChoices
from rest_framework import serializers

from chat.models.form_fields import check_prompt_size, validate_model_name
from chat.vocabulary.sanitize import sanitize_text

UNKNOWN_NAMES_LIMIT = 10
"""Maximum number of unknown names in an error."""
NAME_LIMIT_CHARS = 60

NOT_BOOLEAN = "This must be true or false."


class StrictSerializer(serializers.Serializer[object]):
    """A JSON object. Unknown names are errors, because otherwise a misspelt name would have no effect."""

    noun = "field"

    @classmethod
    def parse(cls, data: object) -> dict[str, Any]:
        """Return the validated fields of a request. Raises ValidationError for unknown names and invalid values."""
        serializer = cls(data=data)
        serializer.is_valid(raise_exception=True)
        fields: dict[str, Any] = serializer.validated_data
        return fields

    def run_validation(self, data: object = serializers.empty) -> object:
        """Return the validated data. Raises ValidationError for unknown names and invalid values."""
        if not isinstance(data, Mapping):
            raise serializers.ValidationError({"body": ["The body must be a JSON object."]})
        unknown = [str(name)[:NAME_LIMIT_CHARS] for name in data if name not in self.fields][:UNKNOWN_NAMES_LIMIT]
        if unknown:
            known = ", ".join(self.fields) or "none"
            raise serializers.ValidationError(
                {name: [f"There is no {self.noun} “{name}” here; known: {known}."] for name in unknown}
            )
        return super().run_validation(data)


class StrictQuerySerializer(StrictSerializer):
    """The query parameters of a URL."""

    noun = "parameter"


class TextField(serializers.CharField):
    """Text that every database can store: NUL characters are removed, lone surrogates become U+FFFD."""

    def to_internal_value(self, data: object) -> str:
        """Return the text. Raises ValidationError if it is not valid."""
        if not isinstance(data, str):
            self.fail("invalid")
        if self.max_length is not None and len(data) > self.max_length:
            # Check before blanks are removed, because the OpenAPI document limits the length of what is sent.
            self.fail("max_length", max_length=self.max_length)
        return super().to_internal_value(sanitize_text(data.replace("\0", "")))


class TitleField(TextField):
    """One line. Line breaks and other runs of blanks become one space."""

    def to_internal_value(self, data: object) -> str:
        """Return the title. Raises ValidationError if it is not valid."""
        return " ".join(super().to_internal_value(data).split())


class PromptField(TextField):
    """Text for a model, kept as typed. Its size in UTF-8 is limited."""

    def __init__(self, *, what: str, required: bool = False, help_text: str) -> None:
        """`what`: begins the sentence about a text that is too large."""
        super().__init__(
            required=required,
            allow_blank=True,
            trim_whitespace=False,
            validators=[partial(check_prompt_size, what=what)],
            help_text=help_text,
        )


class ModelNameField(TextField):
    """The id of a model or the name of a preset. Whether users may choose it is checked later."""

    def __init__(self, *, help_text: str) -> None:
        super().__init__(
            required=False,
            allow_blank=True,
            max_length=200,
            validators=[validate_model_name],
            error_messages={"max_length": "The name of a model can have at most 200 characters."},
            help_text=help_text,
        )


class ConversationChoiceField(serializers.ChoiceField):
    """A setting of a conversation that is one of a few words."""

    def __init__(self, choices: type[TextChoices], *, help_text: str) -> None:
        super().__init__(
            choices.choices,
            required=False,
            error_messages={"invalid_choice": f"This must be one of {', '.join(choices.values)}."},
            help_text=help_text,
        )


class EnumField(serializers.ChoiceField):
    """One of the values of an enum."""

    def __init__(self, enum: type[StrEnum], **options: Any) -> None:
        super().__init__([(member.value, member.name) for member in enum], **options)


class JSONBooleanField(serializers.BooleanField):
    """`true` or `false` in JSON."""

    def to_internal_value(self, data: object) -> bool:
        """Return the value. Raises ValidationError for any other input."""
        if not isinstance(data, bool):
            raise serializers.ValidationError(NOT_BOOLEAN)
        return data


class QueryBooleanField(serializers.BooleanField):
    """`true` or `false` in a query string."""

    def to_internal_value(self, data: object) -> bool:
        """Return the value. Raises ValidationError for any other input."""
        if data not in ("true", "false"):
            raise serializers.ValidationError(NOT_BOOLEAN)
        return data == "true"


class QueryIntegerField(serializers.IntegerField):
    """Up to nine digits in a query string."""

    def to_internal_value(self, data: object) -> int:
        """Return the value. Raises ValidationError for any other input."""
        if not isinstance(data, str) or not re.fullmatch(r"[0-9]{1,9}", data):
            self.fail("invalid")
        return int(data)
