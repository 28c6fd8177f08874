"""Every regular expression that meets text of users, models or servers takes linear time for hostile text."""

from __future__ import annotations

import importlib
import os
import pkgutil
import random
import re
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import attachments
import chat
from chat.rendering import maths
from chat.rendering.svg_values import clean_value
from tests.hostile_text import hostile_texts, parse

LIMIT_S = 1.0
"""Of CPU time. The texts take a few milliseconds in linear time, and several seconds in quadratic time."""

LENGTHS = (28, 1_000, 6_000, 60_000)
"""A short text shows exponential time, a long one quadratic time."""

TEXTS = int(os.environ.get("PLOTLINE_TEST_FUZZ") or 6)
"""How many texts of each length are tried; without the variable, few. All are about 300 for an expression."""

BOUNDED = {"chat.rendering.maths._SEGMENT": maths.LIMIT_CHARS}
"""Longest text that an expression is given."""

METHODS = dict.fromkeys(
    ("importer._DOCUMENT_NAMES", "table_files._ENGLISH", "table_files._GERMAN", "table_files._CERTAINLY_GERMAN"),
    frozenset({"fullmatch"}),
)
"""How an expression is called that is called by another name."""

SEARCHES = {"search", "finditer", "findall", "sub", "subn", "split"}
CALL = re.compile(rf"\b(_?[A-Z][A-Z0-9_]*)(?:\[[^\]]*\])?\.({'|'.join(sorted(SEARCHES))}|match|fullmatch)\b")


def modules() -> Iterator[ModuleType]:
    for package in (chat, attachments):
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if "__main__" not in info.name and ".migrations" not in info.name and ".in_kernel" not in info.name:
                yield importlib.import_module(info.name)


def patterns_in(value: object, depth: int = 0) -> Iterator[re.Pattern[str] | re.Pattern[bytes]]:
    """Yield the expressions in a module's constant: in tables, and in the attributes of classes, too."""
    if isinstance(value, re.Pattern):
        yield value
    elif depth < 3 and isinstance(value, dict):
        for inner in list(value.values()):
            yield from patterns_in(inner, depth + 1)
    elif depth < 3 and isinstance(value, list | tuple | set | frozenset):
        for inner in value:
            yield from patterns_in(inner, depth + 1)


def collect() -> dict[str, tuple[re.Pattern[str] | re.Pattern[bytes], frozenset[str]]]:
    """Return each expression with the methods by which its module calls it, or others if it does not."""
    found: dict[str, tuple[re.Pattern[str] | re.Pattern[bytes], frozenset[str]]] = {}
    seen: set[re.Pattern[str] | re.Pattern[bytes]] = set()
    calls = {module: _calls(module) for module in modules()}
    for module, own_calls in calls.items():
        for name, value in list(vars(module).items()):
            for number, pattern in enumerate(patterns_in(value)):
                if pattern not in seen and name.lstrip("_")[:1].isupper():
                    seen.add(pattern)
                    others = frozenset().union(*(other.get(name, frozenset()) for other in calls.values()))
                    methods = (
                        METHODS.get(f"{module.__name__.rpartition('.')[2]}.{name}") or own_calls.get(name) or others
                    )
                    found[f"{module.__name__}.{name}" + (f".{number}" if number else "")] = pattern, methods
    return found


def _calls(module: ModuleType) -> dict[str, frozenset[str]]:
    """Return the methods by which a module calls its constants."""
    calls: dict[str, frozenset[str]] = {}
    for name, method in CALL.findall(Path(str(module.__file__)).read_text(encoding="utf-8")):
        calls[name] = calls.get(name, frozenset()) | {"search" if method in SEARCHES else method}
    return calls


EXPRESSIONS = collect()


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_no_hostile_text_takes_long(name: str) -> None:
    pattern, methods = EXPRESSIONS[name]
    tree = parse(pattern)
    for length in LENGTHS:
        texts = list(dict.fromkeys(hostile_texts(tree, min(length, BOUNDED.get(name, length)))))
        for text in random.Random(name).sample(texts, min(TEXTS, len(texts))):
            subject = text if isinstance(pattern.pattern, str) else text.encode("latin-1", "replace")
            for method in methods or {"search"}:
                started_at = time.thread_time()
                getattr(pattern, method)(subject)
                taken_s = time.thread_time() - started_at
                assert taken_s < LIMIT_S, f"{method} took {taken_s:.1f} s for {length} characters: {text[:60]!r}"


@pytest.mark.parametrize("value", ["(" + "a" * 100_000, "(" + " " * 100_000, "url(" * 25_000, "url(#" + "a" * 100_000])
def test_values_of_a_picture_take_linear_time(value: str) -> None:
    started_at = time.thread_time()
    clean_value("transform", value)
    assert time.thread_time() - started_at < LIMIT_S
