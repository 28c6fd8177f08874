"""Caches the results of functions of short texts. Pure."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Final, TypeVar

_SHORT_CHARS: Final = 1_000
"""Longer texts are rarely repeated, and thousands of them would take much memory."""
_Result = TypeVar("_Result")


def cache_short_texts(maxsize: int) -> Callable[[Callable[[str], _Result]], Callable[[str], _Result]]:
    """Return a decorator that caches the last results of a function for texts of at most 1,000 characters."""

    def decorate(function: Callable[[str], _Result]) -> Callable[[str], _Result]:
        cached = lru_cache(maxsize)(function)

        @wraps(function)
        def call(text: str) -> _Result:
            return cached(text) if len(text) <= _SHORT_CHARS else function(text)

        return call

    return decorate
