"""Values of untrusted JSON with their path, so that every error names the invalid place. Pure."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from chat.library.imports.refusal import RefusedImport
from chat.vocabulary.parts import JSON, JSONObject

INTEGER_LIMIT = 2**31 - 1
"""The largest integer that fits into an integer column of every database."""
NAME_LIMIT_CHARS = 100
"""Maximum length of names in paths."""
EPOCH = datetime(1990, 1, 1, tzinfo=UTC)
"""The earliest valid time. Earlier times are read as this one."""


def objects_in(value: JSON) -> Iterator[JSONObject]:
    """Yield the objects of a list; no objects for any other value."""
    yield from (one for one in value if isinstance(one, dict)) if isinstance(value, list) else ()


@dataclass(frozen=True, slots=True)
class JSONValue:
    """A value in a JSON document, and its path.

    The methods `as_...` return the value, and raise RefusedImport if it has another type.
    """

    value: JSON
    path: str = "$"
    """The JSONPath of the value, for example `$.messages[3].text`."""

    def refusal(self, sentence: str) -> RefusedImport:
        """Return a RefusedImport that names this path."""
        return RefusedImport(f"{self.path}: {sentence}")

    def has(self, name: str) -> bool:
        """Return whether the object has a value of this name that is not null."""
        return self.as_object().get(name) is not None

    def get(self, name: str) -> JSONValue:
        """Return the value with this name; null if the object does not have it."""
        return JSONValue(self.as_object().get(name), f"{self.path}.{name[:NAME_LIMIT_CHARS]}")

    def text_at(self, name: str) -> str:
        """Return the text with this name; empty if the value is missing, or no text."""
        text = self.value.get(name) if isinstance(self.value, dict) else None
        return text if isinstance(text, str) else ""

    def object_at(self, name: str) -> JSONValue:
        """Return the object with this name; an empty one if the value is missing, or no object."""
        value = self.value.get(name) if isinstance(self.value, dict) else None
        return JSONValue(value if isinstance(value, dict) else {}, f"{self.path}.{name[:NAME_LIMIT_CHARS]}")

    def many_at(self, name: str, limit: int) -> Iterator[JSONValue]:
        """Yield the values of the list with this name, or a single value that is there instead of a list."""
        value = self.get(name)
        yield from value.items(limit) if isinstance(value.value, list) else [value] if value.value is not None else ()

    def as_object(self) -> JSONObject:
        """Return an object."""
        if not isinstance(self.value, dict):
            raise self.refusal("there must be an object here.")
        return self.value

    def items(self, limit: int) -> Iterator[JSONValue]:
        """Yield the values of a list with at most `limit` entries. Null is an empty list."""
        if self.value is None:
            return
        if not isinstance(self.value, list):
            raise self.refusal("there must be a list here.")
        if len(self.value) > limit:
            raise self.refusal(f"there are {len(self.value)} entries; at most {limit} are allowed.")
        for number, value in enumerate(self.value):
            yield JSONValue(value, f"{self.path}[{number}]")

    def as_text(self, limit_chars: int | None = None) -> str:
        """Return a text."""
        if not isinstance(self.value, str):
            raise self.refusal("there must be a text here.")
        if limit_chars is not None and len(self.value) > limit_chars:
            raise self.refusal(f"the text has {len(self.value)} characters; at most {limit_chars} are allowed.")
        return self.value

    def as_text_or_empty(self, limit_chars: int | None = None) -> str:
        """Return a text; empty for null."""
        return "" if self.value is None else self.as_text(limit_chars)

    def as_choice(self, choices: Collection[str]) -> str:
        """Return a text that is one of the choices."""
        text = self.as_text()
        if text not in choices:
            raise self.refusal(f"“{text[:40]}” is none of {', '.join(choice for choice in choices if choice)}.")
        return text

    def as_choice_or(self, default: str, choices: Collection[str]) -> str:
        """Return a text that is one of the choices, or the default for null: older exports lack some fields."""
        return default if self.value is None else self.as_choice(choices)

    def as_boolean(self) -> bool:
        """Return true or false."""
        if not isinstance(self.value, bool):
            raise self.refusal("there must be true or false here.")
        return self.value

    def as_integer(self, limit: int = INTEGER_LIMIT) -> int:
        """Return a whole number from 0 to `limit`."""
        if not isinstance(self.value, int) or isinstance(self.value, bool) or not 0 <= self.value <= limit:
            raise self.refusal(f"there must be a whole number from 0 to {limit} here.")
        return self.value

    def as_integer_or_none(self) -> int | None:
        """Return a whole number or null."""
        return None if self.value is None else self.as_integer()

    def as_number_or_none(self) -> float | None:
        """Return a number from 0 to `INTEGER_LIMIT`, or null."""
        value = self.value
        if value is None:
            return None
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= INTEGER_LIMIT:
            raise self.refusal(f"there must be a number from 0 to {INTEGER_LIMIT} here.")
        return value

    def as_time(self) -> datetime:
        """Return a time in ISO 8601, in UTC. A time in the future is read as now."""
        try:
            time = datetime.fromisoformat(self.as_text(64))
        except ValueError:
            raise self.refusal("there must be a time here, as in 2026-01-31T12:00:00+00:00.") from None
        return self._within_limits(time if time.tzinfo else time.replace(tzinfo=UTC))

    def as_time_or(self, default: datetime) -> datetime:
        """Return a time in ISO 8601, or the default for any value that is not one."""
        try:
            return self.as_time()
        except RefusedImport:
            return default

    def as_time_or_none(self) -> datetime | None:
        """Return a time in ISO 8601 or null."""
        return None if self.value is None else self.as_time()

    def as_unix_time_or(self, default: datetime) -> datetime:
        """Return a time in seconds since 1970 or in ISO 8601, or the default for any value that is not one."""
        if isinstance(self.value, str):
            return self.as_time_or(default)
        if not isinstance(self.value, int | float) or isinstance(self.value, bool):
            return default
        try:
            return self._within_limits(datetime.fromtimestamp(self.value, UTC))
        except (OverflowError, ValueError, OSError):
            return default

    def _within_limits(self, time: datetime) -> datetime:
        try:
            return min(max(time.astimezone(UTC), EPOCH), datetime.now(UTC))
        except OverflowError:
            raise self.refusal("there must be a time in the past here.") from None

    def as_bytes(self) -> bytes:
        """Return bytes, which are base64 in the file."""
        try:
            return base64.b64decode(self.as_text(), validate=True)
        except (binascii.Error, ValueError):
            raise self.refusal("there must be base64 here.") from None
