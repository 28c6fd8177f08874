"""The questions that the demo model offers in place of one that it does not understand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import islice

from chat.emulator.demo.language import TEXTS, VOCABULARY, Prompt, read_prompt, word
from chat.emulator.demo.table_files import Table

OFFERS = 3
PLACES_LIMIT = 12
"""Maximum number of positions at which the text is split into two questions."""
TOPICS: list[str] = TEXTS["topics"]
"""Groups of `words.toml` whose concepts are compared to find similar questions."""
COLUMNS = {"number": ("number",), "axis": ("date", "calendar year"), "text": ("text",)}
"""The kinds of columns that may fill each placeholder of a question."""


def nearest_questions(text: str, tables: Mapping[str, Table], understands: Callable[[str], bool]) -> list[str]:
    """Return the offered questions that are most similar to a text. If equally similar, those about tables come first.

    If the text consists of two questions that are understood, return these two.
    """
    for between in islice(re.finditer(word("relations.next"), text, re.IGNORECASE), PLACES_LIMIT):
        both = [text[: between.start()].strip(), text[between.end() :].strip()]
        if all(both) and all(map(understands, both)):
            return both
    prompt = read_prompt(text)
    offers = [one for one in _of_tables(prompt.language, tables) if understands(one)]
    offers += TEXTS["examples"][prompt.language]
    wanted = _topics(prompt.language, prompt.rest)

    def distance(question: str) -> float:
        shared = wanted.keys() & _topics(prompt.language, read_prompt(question).rest).keys()
        return -sum(wanted[topic] for topic in shared)

    return sorted(offers, key=distance)[:OFFERS]


def _of_tables(language: str, tables: Mapping[str, Table]) -> Iterator[str]:
    """Yield questions about each table, the last one first. With several tables, they name the file."""
    templates = TEXTS["table_questions"][language]
    for name, table in reversed([*tables.items()]):
        names = {kind: [one.name for one in table.columns if one.kind in kinds] for kind, kinds in COLUMNS.items()}
        facts = {kind: found[0].replace('"', "'") for kind, found in names.items() if found}
        for template in templates:
            fields = set(re.findall(r"\{(\w+)\}", template))
            if fields <= facts.keys():
                yield template.format(**facts) + (f" ({name})" if len(tables) > 1 and name else "")


@lru_cache(500)
def _topics(language: str, rest: str) -> Mapping[str, float]:
    """Return the concepts and the other words of a prompt, each with its weight for the comparison."""
    names = (f"{group}.{name}" for group in TOPICS for name in VOCABULARY[group])
    concepts = {one: 2.0 for one in names if Prompt(language, rest).take(word(one))}
    words = {one: 1.0 for one in Prompt(language, rest).unknown_words("lists") if not one[0].isdecimal()}
    return words | concepts | dict.fromkeys(concepts.keys() & {"actions.draw", "actions.curve"}, 0.5)
