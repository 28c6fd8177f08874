"""Every regular expression that is applied to text of users, models or servers takes linear time for hostile text.

The expressions are those of module constants, those that `tests.source_patterns` finds in the source, and those that
are built from data. PLOTLINE_TEST_FUZZ sets how many texts of each length are tried. The drill tries more and
prints its figures: `make test-drills ARGS='-s -n 0 tests/test_regular_expressions.py'`.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import random
import re
import time
import tracemalloc
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

import attachments
import chat
from chat.emulator.demo import language
from chat.messages.numbers.skipped import NO_CLAIMS, WITHOUT_CLAIMS
from chat.models.full_text.query import parse as parse_query
from chat.page.rendering import maths
from chat.page.rendering.grammars import GRAMMARS
from chat.page.rendering.svg_values import clean_value
from chat.providers.untrusted_json import read_json
from chat.python.kernels.in_kernel.table_values import plain_kind
from chat.vocabulary import sentences
from tests.hostile_text import hostile_texts, parse, repeats_group_possessively
from tests.source_patterns import AnyPattern, Values, patterns_of

LIMIT_S = 1.0
"""Limit of CPU time in seconds. The texts take milliseconds in linear time, and seconds in quadratic time."""

LENGTHS = (28, 1_000, 6_000, 60_000)
"""A short text shows exponential time, a long one quadratic time."""

TEXTS = int(os.environ.get("PLOTLINE_TEST_FUZZ") or 3)
"""Number of texts of each length that are tried. An expression has about 300."""
PARTS = 4
"""Number of tests among which the expressions are divided."""
DRILL_TEXTS = int(os.environ.get("PLOTLINE_TEST_FUZZ") or 30)

BOUNDED = {
    "chat.page.rendering.maths._SEGMENT": maths.LIMIT_CHARS,
    "chat.vocabulary.sentences": sentences.LENGTH_LIMIT_CHARS,
    # The expressions of the demo model are applied to prompts. Longer prompts are answered before.
    "chat.emulator.demo.": language.LENGTH_LIMIT,
}
"""Beginning of an expression's name -> maximum length of its texts, in characters."""

METHODS = dict.fromkeys(
    ("importer._DOCUMENT_NAMES", "table_files._ENGLISH", "table_files._GERMAN", "table_files._CERTAINLY_GERMAN"),
    frozenset({"fullmatch"}),
)
"""Expression -> methods that use it, if its module does not call them by its name."""

COMPILED = {"chat.vocabulary.sentences": "fullmatch"}
"""Module -> method with which it uses expressions that its functions compile, if this is not a search."""

WORDS = [f"{group}.{name}" for group, names in language.VOCABULARY.items() for name in names]
"""The concepts that the demo model knows."""

EXAMPLES: dict[str, Sequence[Values]] = {
    "chat.emulator.demo.language": [
        *({"pattern": language.word(name), "name": name, "topic": "tables"} for name in WORDS),
    ],
    "chat.emulator.demo.maths": [{"form": form} for form in language.VOCABULARY["spoken"]],
    "chat.emulator.demo.plan": [{"name": "sales 2024.xlsx"}],
    "chat.emulator.demo.tables": [
        {"name": name, "is_column": is_column}
        for name in ("Net sales", "x", "price (EUR)")
        for is_column in (True, False)
    ],
    "chat.messages.numbers.skipped": [{"pattern": pattern} for pattern in WITHOUT_CLAIMS + NO_CLAIMS],
    "chat.library.exports.as_html": [{"nonce": "5e0c"}],
    "chat.providers.openai_compatible.refusal_facts": [{"name": "max_tokens"}],
    "chat.page.rendering.source_masks": [{"character": "(?:\ue000|%EE%80%80)"}],
    "chat.page.rendering.highlight": [{"grammar": grammar} for grammar in GRAMMARS.values()],
    "chat.page.rendering.maths": [{"words": "FRAKTUR"}, {"words": "SANS-SERIF BOLD"}],
    "chat.models.full_text.excerpt": [
        {"terms": parse_query(text)} for text in ("plot", '"sine wave" plot', "正弦 ab-cd")
    ],
    "chat.vocabulary.sentences": [{"expression": one.pattern} for one in sentences._table()[1].values()],
}
"""Module -> values for names of its functions, from which it builds expressions."""

SEARCHES = {"search", "finditer", "findall", "sub", "subn", "split"}
PROMPT_SEARCHES = frozenset({"take"})
"""Methods of the demo model whose argument is the text of an expression."""
CALL = re.compile(rf"\b(_?[A-Z][A-Z0-9_]*)(?:\[[^\]]*\])?\.({'|'.join(sorted(SEARCHES))}|match|fullmatch)\b")


def modules() -> Iterator[ModuleType]:
    # `config` is left out: importing all of it would set up the server's event loop, also for other tests.
    for package in (chat, attachments):
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            # Code in a kernel is stopped by the kernel's time limits, like the code of users
            # (`chat.python.kernels`).
            if "__main__" not in info.name and ".migrations" not in info.name and ".in_kernel" not in info.name:
                yield importlib.import_module(info.name)


def patterns_in(value: object, depth: int = 0) -> Iterator[AnyPattern]:
    """Yield the expressions in a module's constant: in tables, and in the attributes of classes, too."""
    if isinstance(value, re.Pattern):
        yield value
    elif depth < 3 and isinstance(value, dict):
        for inner in list(value.values()):
            yield from patterns_in(inner, depth + 1)
    elif depth < 3 and isinstance(value, list | tuple | set | frozenset):
        for inner in value:
            yield from patterns_in(inner, depth + 1)


@cache
def expressions() -> dict[str, tuple[AnyPattern, frozenset[str]]]:
    """Return each expression with the methods that its module calls, or default methods if it calls none."""
    found: dict[str, tuple[AnyPattern, frozenset[str]]] = {}
    seen: set[AnyPattern] = set()
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
    constants = frozenset(seen)
    inline: dict[AnyPattern, set[str]] = {}
    names: dict[AnyPattern, str] = {}
    for module in calls:
        searches = PROMPT_SEARCHES if module.__name__.startswith("chat.emulator.demo.") else frozenset()
        for one in patterns_of(module, EXAMPLES.get(module.__name__, ()), searches):
            if one.function != "compile" or one.pattern not in constants:
                compiled = COMPILED.get(module.__name__, "search")
                function = compiled if one.function == "compile" else one.function
                inline.setdefault(one.pattern, set()).add("search" if function in SEARCHES else function)
                number = sum(name.partition("#")[0] == one.name for name in names.values())
                names.setdefault(one.pattern, f"{one.name}#{number}")
    return found | {names[pattern]: (pattern, frozenset(methods)) for pattern, methods in inline.items()}


def _calls(module: ModuleType) -> dict[str, frozenset[str]]:
    """Return the methods of its constants that a module calls."""
    calls: dict[str, frozenset[str]] = {}
    for name, method in CALL.findall(Path(str(module.__file__)).read_text(encoding="utf-8")):
        calls[name] = calls.get(name, frozenset()) | {"search" if method in SEARCHES else method}
    return calls


def try_texts(name: str, number: int) -> list[float]:
    """Try `number` texts of each length; return the CPU times in s. Raise AssertionError for one above the limit."""
    pattern, methods = expressions()[name]
    texts = hostile_texts(parse(pattern))
    bound = min((limit for start, limit in BOUNDED.items() if name.startswith(start)), default=max(LENGTHS))
    times: list[float] = []
    for length in LENGTHS:
        for hostile in random.Random(name).sample(texts, min(number, len(texts))):
            text = hostile.of_length(min(length, bound))
            subject = text if isinstance(pattern.pattern, str) else text.encode("latin-1", "replace")
            for method in methods or {"search"}:
                started_at = time.thread_time()
                if method == "search":
                    # Find all matches, which is more work than a search for the first one.
                    deque(pattern.finditer(subject), maxlen=0)  # type: ignore[arg-type]  # of the type of the pattern
                else:
                    getattr(pattern, method)(subject)
                times.append(time.thread_time() - started_at)
                assert times[-1] < LIMIT_S, (
                    f"{name}: {method} took {times[-1]:.1f} s for {length} characters: {text[:60]!r}"
                )
    return times


# The test itself finds the expressions: every worker collects tests, and finding them takes longer than all imports.
@pytest.mark.parametrize("part", range(PARTS))
def test_no_hostile_text_takes_long(part: int) -> None:
    for name in list(expressions())[part::PARTS]:
        assert try_texts(name, TEXTS)


def test_no_group_is_repeated_possessively() -> None:
    assert [name for name, (pattern, _) in expressions().items() if repeats_group_possessively(parse(pattern))] == []


@pytest.mark.drill
@pytest.mark.timeout(1_200)
def test_no_text_of_a_large_set_of_hostile_texts_takes_long() -> None:
    times = {name: try_texts(name, DRILL_TEXTS) for name in expressions()}
    print(f"{len(times)} expressions, {sum(map(len, times.values()))} cases; the slowest:")
    for name in sorted(times, key=lambda one: -max(times[one]))[:5]:
        print(f"{max(times[name]) * 1000:.0f} ms {name}")


def read_json_of_many_escapes() -> None:
    with pytest.raises(ValueError, match="too many values"):
        read_json('"' + r"\a" * 200_000 + '"' + ", 1" * 100_001)


@pytest.mark.parametrize(
    "read",
    [
        lambda: plain_kind(["12"] * 100_000),
        lambda: plain_kind(["2026-11-26"] * 100_000),
        read_json_of_many_escapes,
    ],
)
def test_matching_long_texts_takes_little_memory_however_many_repetitions_match(read: Callable[[], object]) -> None:
    """A repetition of a group needs 70 bytes or more for each match until the whole group ends."""
    tracemalloc.start()
    try:
        read()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 5_000_000


@pytest.mark.parametrize("value", ["(" + "a" * 100_000, "(" + " " * 100_000, "url(" * 25_000, "url(#" + "a" * 100_000])
def test_hostile_attribute_values_of_an_svg_are_cleaned_in_linear_time(value: str) -> None:
    started_at = time.thread_time()
    clean_value("transform", value)
    assert time.thread_time() - started_at < LIMIT_S
