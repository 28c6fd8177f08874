"""Fields that take a value of JSON's own type and no other, and are judged by the rules of `chat.forms`."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.validators import RegexValidator
from rest_framework import serializers
from rest_framework.fields import empty

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


class Strict(serializers.Serializer[Any]):
    """An object whose unknown fields are refused: a name that is spelled wrongly must not be passed over."""

    what = "field"

    def to_internal_value(self, data: Any) -> Any:  # noqa: ANN401 - any JSON
        """Raises ValidationError."""
        if isinstance(data, Mapping):
            unknown = [str(name)[:60] for name in data if name not in self.fields]
            if unknown:
                known = ", ".join(self.fields) or "none"
                raise serializers.ValidationError(
                    {name: [f"There is no {self.what} “{name}” here; known: {known}."] for name in unknown[:10]}
                )
        return super().to_internal_value(data)


class StrictQuery(Strict):
    """Parameters of an address."""

    what = "parameter"


class Text(serializers.CharField):
    """A string, judged by a field of a form; numbers are none."""

    def __init__(self, rule: forms.CharField, *, pattern: str = "", **options: Any) -> None:  # noqa: ANN401
        """`pattern` says in the schema what the rule checks."""
        self.rule = rule
        super().__init__(
            max_length=rule.max_length, allow_blank=not rule.required and not pattern, trim_whitespace=False, **options
        )
        if pattern:
            self.validators.append(RegexValidator(pattern))

    def to_internal_value(self, data: object) -> str:
        """Raises Django's ValidationError, which the framework understands."""
        if not isinstance(data, str):
            self.fail("invalid")
        text: str = self.rule.clean(data)
        return text

    def run_validation(self, data: Any = empty) -> Any:  # noqa: ANN401 - as the framework's
        """By the rule alone: it says it better, and counts what is left after blanks are taken away."""
        is_empty, value = self.validate_empty_values(data)
        return value if is_empty else self.to_internal_value(value)


class Choice(serializers.ChoiceField):
    """One of a few strings."""

    def __init__(self, choices: Any, **options: Any) -> None:  # noqa: ANN401 - as the framework's
        self.words = ", ".join(value for value, _ in choices)
        super().__init__(choices, **options)

    def to_internal_value(self, data: object) -> str:
        """Raises ValidationError."""
        if not isinstance(data, str) or data not in self.choices:
            raise serializers.ValidationError(f"This must be one of {self.words}.")
        return data


class Flag(serializers.BooleanField):
    """`true` or `false`."""

    def to_internal_value(self, data: object) -> bool:
        """Raises ValidationError."""
        if not isinstance(data, bool):
            raise serializers.ValidationError("This must be true or false.")
        return data


class QueryFlag(serializers.BooleanField):
    """`true` or `false` in an address."""

    def to_internal_value(self, data: object) -> bool:
        """Raises ValidationError."""
        if data not in ("true", "false"):
            raise serializers.ValidationError("This must be true or false.")
        return data == "true"


class QueryNumber(serializers.IntegerField):
    """A whole number in an address."""

    def to_internal_value(self, data: object) -> int:
        """Raises ValidationError."""
        if not isinstance(data, str) or not re.fullmatch(r"[0-9]{1,9}", data):
            raise serializers.ValidationError("This must be a whole number.")
        return int(data)


class Id(serializers.UUIDField):
    """A UUID in its usual spelling."""

    def to_internal_value(self, data: object) -> uuid.UUID:
        """Raises ValidationError."""
        if not isinstance(data, str) or not _UUID.fullmatch(data):
            raise serializers.ValidationError("This must be an id: a UUID.")
        return uuid.UUID(data)
