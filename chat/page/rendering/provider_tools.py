"""Describes in words what a tool of the provider, such as its web search, was asked and what it returned. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from chat.vocabulary.parts import JSON, ToolCall, ToolResponse

TITLES: Mapping[str, tuple[str, str]] = {
    "GOOGLE_SEARCH_WEB": ("Searched the web", "Results of the web search"),
    "GOOGLE_SEARCH_IMAGE": ("Searched for images", "Results of the image search"),
    "URL_CONTEXT": ("Opened web pages", "Contents of the web pages"),
    "GOOGLE_MAPS": ("Searched Google Maps", "Results of Google Maps"),
    "FILE_SEARCH": ("Searched files", "Results of the file search"),
    "MEDIA_PROCESSING": ("Processed media", "Processed media received"),
}
"""Gemini's name of a tool -> titles of its call and of its response."""
OTHER_TITLES = ("Used a tool of the model's service", "Result of a tool of the model's service")

SUBJECT_LIMIT_CHARS = 120
TEXT_LIMIT_CHARS = 500
LINES_LIMIT = 20
DEPTH_LIMIT = 20

_MARKUP = re.compile(r"<[a-zA-Z!/]")


class ToolLine(NamedTuple):
    """The name and the value of an argument, or of a field of the response."""

    name: str
    value: str
    is_described: bool = False
    """Whether the value is a sentence of Plotline that replaces a long value. Pages translate it."""


class ToolWork(NamedTuple):
    """The call or the response of a provider's tool, as the page shows it."""

    title: str
    subject: str
    """The request to the tool, or the name of a tool that is not known here."""
    lines: tuple[ToolLine, ...]


def tool_work(part: ToolCall | ToolResponse) -> ToolWork:
    """Return what the page shows of a call or a response."""
    is_call = isinstance(part, ToolCall)
    values = (part.arguments if isinstance(part, ToolCall) else part.result) or {}
    titles = TITLES.get(part.name)
    lines = tuple(_line(name, value) for name, value in list(values.items())[:LINES_LIMIT])
    subject = "" if titles else _one_line(part.name)
    if titles and is_call:
        subject = _one_line("; ".join(_texts(dict(values))), SUBJECT_LIMIT_CHARS)
    return ToolWork((titles or OTHER_TITLES)[0 if is_call else 1], subject, lines)


def _line(name: str, value: JSON) -> ToolLine:
    """Return a value in one line. Markup is only described, because the service may send any markup."""
    name = _one_line(name)
    if isinstance(value, str):
        if _MARKUP.search(value):
            return ToolLine(name, f"{len(value):,} characters of HTML, not shown", is_described=True)
        return ToolLine(name, _one_line(value))
    if isinstance(value, list) and all(isinstance(item, str | int | float) for item in value):
        return ToolLine(name, _one_line("; ".join(map(str, value))))
    if isinstance(value, list | dict):
        count = f"{len(value):,} {'entry' if len(value) == 1 else 'entries'}"
        return ToolLine(name, count, is_described=True)
    return ToolLine(name, json.dumps(value))


def _texts(value: JSON, depth: int = 0) -> Iterator[str]:
    """Yield all texts in a value."""
    if isinstance(value, str):
        yield value
    elif depth < DEPTH_LIMIT and isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item, depth + 1)


def _one_line(text: str, limit_chars: int = TEXT_LIMIT_CHARS) -> str:
    line = " ".join(text[: 2 * limit_chars].split())
    return line if len(line) <= limit_chars else f"{line[: limit_chars - 1]}…"
