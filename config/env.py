"""Typed readers of environment variables. An invalid value stops start-up with an error that names the variable."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured
from dotenv import dotenv_values

#: Variables of this optional file are used unless the environment has the same variable, even with an empty value.
ENV_FILE = Path(__file__).resolve().parent.parent / ".env"

TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
FALSE_WORDS = frozenset({"0", "false", "no", "off"})

_HOST = re.compile(r"[^\s/:\[\]]+|\[[\da-f:.]+\]", re.IGNORECASE)
_ORIGIN = re.compile(r"https?://[^\s/?#@]+")


class Env:
    """Reads variables from a mapping. By default these are the process environment and the `.env` file.

    All methods raise ImproperlyConfigured for an invalid value.
    """

    def __init__(self, variables: Mapping[str, str] | None = None) -> None:
        if variables is None:
            # Variables in a value are not replaced, because a password may contain `${`.
            file_variables = {name: value or "" for name, value in dotenv_values(ENV_FILE, interpolate=False).items()}
            variables = {**file_variables, **os.environ}
        self._variables = variables

    def text(self, name: str, default: str = "") -> str:
        """Return the value without surrounding whitespace, or the default if it is empty."""
        return self._variables.get(name, "").strip() or default

    def secret(self, name: str) -> str:
        """Return the content of the file that the variable `<name>_FILE` names, or else the value of `name`."""
        path = self.text(f"{name}_FILE")
        if not path:
            return self.text(name)
        try:
            with open(path, encoding="utf-8") as file:
                return file.read().strip()
        except OSError as error:
            reason = error.strerror
        except UnicodeDecodeError:
            reason = "it is not text in UTF-8"
        raise ImproperlyConfigured(f"{name}_FILE names {path!r}, which cannot be read: {reason}.")

    def secrets(self, suffix: str, *, except_for: Collection[str]) -> dict[str, str]:
        """Return all variables that are set and whose name ends in `suffix`, read as by `secret`."""
        names = {name.removesuffix("_FILE") for name in self._variables}
        wanted = sorted(name for name in names if name.endswith(suffix) and name not in except_for)
        return {name: value for name in wanted if (value := self.secret(name))}

    def boolean(self, name: str, *, default: bool) -> bool:
        """Return True for 1, true, yes and on, and False for 0, false, no and off, in lower or upper case."""
        value = self.text(name)
        if not value:
            return default
        word = value.lower()
        if word in TRUE_WORDS:
            return True
        if word in FALSE_WORDS:
            return False
        raise ImproperlyConfigured(f"{name} must be 1 or 0 (true, false, yes, no, on, off), not {value!r}.")

    def integer(self, name: str, default: int, *, minimum: int = 0) -> int:
        """Return the value as a whole number of at least `minimum`."""
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

    def words(self, name: str) -> list[str]:
        """Return the comma-separated items of the value, without surrounding whitespace and without empty items."""
        return [word.strip() for word in self.text(name).split(",") if word.strip()]

    def hosts(self, name: str, default: list[str]) -> list[str]:
        """Return the comma-separated host names of the value, or the default if it has none."""
        hosts = self.words(name) or default
        if wrong := [host for host in hosts if not _HOST.fullmatch(host)]:
            raise ImproperlyConfigured(
                f"{name} must have host names without scheme, port and path, separated by commas, not {wrong[0]!r}."
            )
        return hosts

    def origins(self, name: str) -> list[str]:
        """Return the comma-separated origins of the value, in lower case, as browsers write them."""
        origins = [word.lower().rstrip("/") for word in self.words(name)]
        if wrong := [origin for origin in origins if not _ORIGIN.fullmatch(origin)]:
            raise ImproperlyConfigured(
                f"{name} must have scheme and host without a path, such as https://chat.example.org, not {wrong[0]!r}."
            )
        return origins

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        """Return one of the choices, by default the first."""
        value = self.text(name, choices[0])
        if value not in choices:
            raise ImproperlyConfigured(f"{name} must be {', '.join(choices[:-1])} or {choices[-1]}, not {value!r}.")
        return value

    def url(self, name: str, schemes: tuple[str, ...]) -> str:
        """Return a URL with one of the schemes, or an empty text. An error does not show it: it may hold a password."""
        value = self.text(name)
        beginnings = [f"{scheme}://" for scheme in schemes]
        if value and not value.startswith(tuple(beginnings)):
            raise ImproperlyConfigured(f"{name} must begin with {' or '.join(beginnings)}.")
        return value
