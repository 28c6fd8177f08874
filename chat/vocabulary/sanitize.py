"""Replaces characters and numbers that a database cannot store. Pure.

PostgreSQL cannot store NUL, and no database can store half of a surrogate pair, which JSON can contain: both become
U+FFFD. Numbers that are not finite, which Python reads from JSON, become null.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, TypeVar

from chat.vocabulary.parts import JSON
from chat.vocabulary.stream_events import PartReceived, StreamEvent, Usage

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")

TOKENS_LIMIT = 10**12
"""Larger token counts are not believed: no answer has so many. Sums of smaller counts fit into every database."""


def sanitize_text(text: str) -> str:
    """Return the text with each character that a database cannot store replaced by U+FFFD."""
    if "\0" not in text:
        try:
            text.encode()
        except UnicodeEncodeError:
            pass
        else:
            return text
    return text.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def one_line(text: str) -> str:
    """Return the text on one line: without control and invisible characters, and with each run of white space as one
    space.
    """
    spaced = "".join(one if one.isprintable() else " " if one.isspace() else "" for one in sanitize_text(text))
    return " ".join(spaced.split())


def sanitize_json(value: JSON) -> JSON:
    """Return the JSON value with all its strings, keys and numbers sanitized."""
    match value:
        case str():
            return sanitize_text(value)
        case list():
            return [sanitize_json(item) for item in value]
        case dict():
            return {sanitize_text(key): sanitize_json(item) for key, item in value.items()}
        case float() if not isfinite(value):
            return None
        case _:
            return value


def sanitize_event(event: StreamEvent) -> StreamEvent:
    """Return the event with all its texts sanitized; the same object if nothing has to be replaced."""
    if isinstance(event, PartReceived) and event.part.is_open_text:
        # Nearly every event of a stream is of this kind.
        text = event.part.long_text
        clean = sanitize_text(text)
        return event if clean is text else PartReceived(event.part.with_long_text(clean))
    return _sanitize_fields(event)


def _sanitize_fields(value: T) -> T:
    """Return a dataclass with all its fields sanitized."""
    changes = {}
    for field in fields(value):
        old = getattr(value, field.name)
        new = _sanitize_value(old)
        if new is not old and new != old:
            changes[field.name] = new
    return replace(value, **changes) if changes else value


def _sanitize_value(value: object) -> object:
    match value:
        case str():
            return sanitize_text(value)
        case Usage():
            return _sanitize_usage(value)
        case Mapping():
            return sanitize_json(dict(value))
        case list():
            return sanitize_json(value)
        case tuple():
            return tuple(_sanitize_value(item) for item in value)
        case _ if is_dataclass(value) and not isinstance(value, type):
            return _sanitize_fields(value)
        case _:
            return value


def _sanitize_usage(usage: Usage) -> Usage:
    """Return the counts without values that cannot be token counts."""
    invalid = {
        field.name: None
        for field in fields(usage)
        if (tokens := getattr(usage, field.name)) is not None and not 0 <= tokens <= TOKENS_LIMIT
    }
    return replace(usage, **invalid) if invalid else usage
