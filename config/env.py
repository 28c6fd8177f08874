"""Typed readers of environment variables: a bad value stops start-up with a message that names the variable."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured
from dotenv import dotenv_values

#: Read when it is there; a variable of the environment itself wins, even an empty one.
ENV_FILE = Path(__file__).resolve().parent.parent / ".env"

TRUE = frozenset({"1", "true", "yes", "on"})
FALSE = frozenset({"0", "false", "no", "off", ""})


class Env:
    """Reads one mapping of variables; `NAME_FILE` names a file that holds a secret instead."""

    def __init__(self, variables: Mapping[str, str] | None = None) -> None:
        if variables is None:
            # Values are taken as they stand: a password may well hold `${`.
            file = {name: value or "" for name, value in dotenv_values(ENV_FILE, interpolate=False).items()}
            variables = {**file, **os.environ}
        self._variables = variables

    def text(self, name: str, default: str = "") -> str:
        """The value without surrounding blanks; an empty one is the default."""
        return self._variables.get(name, "").strip() or default

    def secret(self, name: str, default: str = "") -> str:
        """Like `text`, or the content of the file that `NAME_FILE` names."""
        path = self.text(f"{name}_FILE")
        if not path:
            return self.text(name, default)
        try:
            with open(path, encoding="utf-8") as file:
                return file.read().strip() or default
        except OSError as error:
            raise ImproperlyConfigured(
                f"{name}_FILE names {path!r}, which cannot be read: {error.strerror}."
            ) from error

    def boolean(self, name: str, *, default: bool) -> bool:
        """1, true, yes, on; 0, false, no, off."""
        value = self._variables.get(name)
        if value is None or not value.strip():
            return default
        word = value.strip().lower()
        if word in TRUE:
            return True
        if word in FALSE:
            return False
        raise ImproperlyConfigured(f"{name} must be 1 or 0 (true, false, yes, no, on, off), not {value!r}.")

    def integer(self, name: str, default: int, *, minimum: int = 0) -> int:
        """A whole number."""
        value = self.text(name)
        if not value:
            return default
        try:
            number = int(value)
        except ValueError:
            raise ImproperlyConfigured(f"{name} must be a whole number, not {value!r}.") from None
        if number < minimum:
            raise ImproperlyConfigured(f"{name} must be at least {minimum}, not {number}.")
        return number

    def words(self, name: str, default: list[str]) -> list[str]:
        """Comma-separated values."""
        value = self.text(name)
        return [word.strip() for word in value.split(",") if word.strip()] if value else default

    def url(self, name: str, schemes: tuple[str, ...]) -> str:
        """A URL that begins with one of `schemes`, or empty."""
        value = self.text(name)
        if value and not value.startswith(tuple(f"{scheme}://" for scheme in schemes)):
            raise ImproperlyConfigured(
                f"{name} must begin with {' or '.join(f'{s}://' for s in schemes)}, not {value!r}."
            )
        return value
