"""Finds and replaces texts of a result that may show data of files, for private conversations. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from chat.python.kernels.in_kernel.private_texts import WITHHELD
from chat.vocabulary.parts import JSON, JSONObject

OF_THE_SERVER = frozenset({"error", "outcome"})
"""Fields that only the server writes: how the code ended, and sentences about code that could not run."""
NOT_FILTERED = "[This text is withheld from you, because it could not be filtered. The user sees it.]"


def private_texts(result: Mapping[str, JSON]) -> list[str]:
    """Return the texts of a result that code or files may have written, in order. Keys and numbers are the server's."""
    return [text for name, value in result.items() if name not in OF_THE_SERVER for text in _texts(value)]


def with_texts(result: Mapping[str, JSON], texts: Iterable[str]) -> JSONObject:
    """Return the result with each text that `private_texts` returns replaced by one of `texts`, in order."""
    others = iter(NOT_FILTERED if text == WITHHELD else text for text in texts)
    return {name: value if name in OF_THE_SERVER else _replaced(value, others) for name, value in result.items()}


def _texts(value: JSON) -> Iterator[str]:
    match value:
        case str() if value:
            yield value
        case list():
            for item in value:
                yield from _texts(item)
        case dict():
            for item in value.values():
                yield from _texts(item)


def _replaced(value: JSON, others: Iterator[str]) -> JSON:
    match value:
        case str() if value:
            return next(others)
        case list():
            return [_replaced(item, others) for item in value]
        case dict():
            return {name: _replaced(item, others) for name, item in value.items()}
        case _:
            return value
