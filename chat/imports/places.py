"""Reading JSON that anybody may have written: each value with its place, each check with a sentence. Pure."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from chat.imports.refusal import RefusedImport
from chat.turns.sound import sound_json

DEPTH_LIMIT = 64
VALUES_LIMIT = 2_000_000
#: The largest integer that every database keeps.
INTEGER_LIMIT = 2**31 - 1
_BRACKET = re.compile(r"[\[\]{}]")
#: What is outside of strings, and strings.
_PIECE = re.compile(r'([^"]+)|"[^"]*(?:"|\Z)')
EPOCH = datetime(1990, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Place:
    """A value and where it stands, as in `$.messages[3].text`."""

    value: Any
    path: str = "$"

    def refuse(self, words: str) -> RefusedImport:
        """A refusal that names this place; to be raised."""
        return RefusedImport(f"{self.path}: {words}")

    def has(self, name: str) -> bool:
        """Whether the object has a value of this name that is not null."""
        return self.mapping().get(name) is not None

    def at(self, name: str) -> Place:
        """A value of an object; null where there is none."""
        return Place(self.mapping().get(name), f"{self.path}.{name}")

    def below(self, name: str) -> Place:
        """A place below it, whatever is there."""
        return Place(None, f"{self.path}.{name}")

    def mapping(self) -> dict[str, Any]:
        """An object."""
        if not isinstance(self.value, dict):
            raise self.refuse("there must be an object here.")
        return self.value

    def items(self, limit: int) -> Iterator[Place]:
        """The values of a list of at most so many; null is an empty one."""
        if self.value is None:
            return
        if not isinstance(self.value, list):
            raise self.refuse("there must be a list here.")
        if len(self.value) > limit:
            raise self.refuse(f"there are {len(self.value)} entries; at most {limit} are taken.")
        for number, value in enumerate(self.value):
            yield Place(value, f"{self.path}[{number}]")

    def text(self, limit: int | None = None) -> str:
        """A text of at most so many characters."""
        if not isinstance(self.value, str):
            raise self.refuse("there must be a text here.")
        if limit is not None and len(self.value) > limit:
            raise self.refuse(f"the text has {len(self.value)} characters; at most {limit} are taken.")
        return self.value

    def text_or(self, default: str, limit: int | None = None) -> str:
        """A text; the default for null."""
        return default if self.value is None else self.text(limit)

    def one_of(self, known: Collection[str]) -> str:
        """One of some words."""
        text = self.text()
        if text not in known:
            raise self.refuse(f"“{text[:40]}” is none of {', '.join(known)}.")
        return text

    def boolean(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            raise self.refuse("there must be true or false here.")
        return self.value

    def integer(self, limit: int = INTEGER_LIMIT) -> int:
        """A whole number from 0."""
        if not isinstance(self.value, int) or isinstance(self.value, bool) or not 0 <= self.value <= limit:
            raise self.refuse(f"there must be a whole number from 0 to {limit} here.")
        return self.value

    def integer_or_none(self) -> int | None:
        """The same, or null."""
        return None if self.value is None else self.integer()

    def moment(self) -> datetime:
        """A time in ISO 8601; one that is not yet counts as now."""
        try:
            moment = datetime.fromisoformat(self.text(64))
        except ValueError:
            raise self.refuse("there must be a time here, as in 2026-01-31T12:00:00+00:00.") from None
        return self._sane(moment if moment.tzinfo else moment.replace(tzinfo=UTC))

    def moment_or_none(self) -> datetime | None:
        """The same, or null."""
        return None if self.value is None else self.moment()

    def unix_moment(self, default: datetime) -> datetime:
        """A time in seconds since 1970; the default where there is none."""
        if not isinstance(self.value, int | float) or isinstance(self.value, bool):
            return default
        try:
            return self._sane(datetime.fromtimestamp(self.value, UTC))
        except (OverflowError, ValueError, OSError):
            return default

    def _sane(self, moment: datetime) -> datetime:
        try:
            return min(max(moment.astimezone(UTC), EPOCH), datetime.now(UTC))
        except OverflowError:
            raise self.refuse("there must be a time here that has been.") from None

    def base64(self) -> bytes:
        """Bytes."""
        try:
            return base64.b64decode(self.text(), validate=True)
        except (binascii.Error, ValueError):
            raise self.refuse("there must be base64 here.") from None


def read_json(data: bytes) -> Place:
    """A document within bounds, without the characters that no database stores. Raises RefusedImport."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RefusedImport(f"This is no text in UTF-8: byte {error.start} is none of it.") from None
    _check_shape(text)
    try:
        return Place(sound_json(json.loads(text, parse_constant=_no_number, parse_float=_finite)))
    except json.JSONDecodeError as error:
        raise RefusedImport(f"Line {error.lineno}, column {error.colno}: this is no JSON ({error.msg}).") from None
    except (ValueError, RecursionError) as error:
        raise RefusedImport(f"This JSON cannot be read: {str(error)[:100]}.") from None


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number in JSON")


def _finite(digits: str) -> float:
    """A number that was written with a point or an exponent: what no computer can hold, no database stores."""
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits[:20]} is too large a number")
    return number


def _check_shape(text: str) -> None:
    """Depth and number of values, before anything is made of them: a list of nothing costs 28 times its text."""
    depth = deepest = values = strings = 0
    # A quote that is escaped ends no string. One piece at a time: a list of all is many times larger than the text.
    for found in _PIECE.finditer(text.replace("\\\\", "").replace('\\"', "")):
        piece = found[1]
        if piece is None:
            strings += 1
            if strings > 2 * VALUES_LIMIT:
                break
            continue
        values += piece.count(",") + piece.count("[") + piece.count("{")
        for sign in _BRACKET.findall(piece):
            depth += 1 if sign in "[{" else -1
            deepest = max(deepest, depth)
    if deepest > DEPTH_LIMIT:
        raise RefusedImport(f"This JSON is {deepest} levels deep; at most {DEPTH_LIMIT} are taken.")
    values = max(values, (strings + 1) // 2)
    if values > VALUES_LIMIT:
        raise RefusedImport(f"This JSON has {values} values; at most {VALUES_LIMIT} are taken.")
