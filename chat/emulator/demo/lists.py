"""Lists of numbers in a prompt: typed ones, sequences such as the primes, and random numbers. They become tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from chat.emulator.demo.language import NUMBER, VOCABULARY, Plan, Prompt, parse_number, word
from chat.emulator.demo.maths import take_range
from chat.emulator.demo.table_files import Column, Table
from chat.emulator.demo.tables import read_table_plan

COUNT_LIMIT, BOUND_LIMIT = 10_000, 1_000_000
CONDITIONS = {
    "primes": "sympy.isprime(k)",
    "squares": "math.isqrt(k) ** 2 == k",
    "even": "k % 2 == 0",
    "odd": "k % 2 == 1",
    "integers": "k > 0",
}
"""Code of the condition under which a whole number is in a sequence, by the name of the sequence."""
_AND = r"(?:\s*[,;、]\s*(?:and |und )?|\s+(?:and|und)\s+| ?和 ?)"
_LIST = rf"{NUMBER}(?>(?:(?:{_AND}|\s+){NUMBER})+)|{NUMBER},\S*\d(?!\w)"
_GENERATOR = "np.random.default_rng(7)"
_LABELLED = rf"[^\W\d]\w{{0,30}}\s*[:=]?\s*{NUMBER}"


def read_list_plan(prompt: Prompt, previous: object) -> Plan | None:
    """Return the plan for a question about a list of numbers; None if the prompt is not one that is understood."""
    for read in (_read_random, _read_sequence, _read_typed):
        attempt = replace(prompt)
        if table := read(attempt):
            prompt.rest = attempt.rest
            return read_table_plan(prompt, table)
    return None


def _make_table(kind: str, values: str, title: str = "", labels: Sequence[str] = ()) -> Table:
    """Return the table of numbers. `values`: code that makes them; `title`: the title of a graph."""
    first = f'"label": {list(labels)!r}' if labels else '"number": range(1, len(values) + 1)'
    code = f'values = {values}\ntable = pd.DataFrame({{{first}, "value": values}})\n'
    label = Column("label", "text") if labels else Column("number", "position")
    return Table(title, (label, Column("value", "number")), code, kind)


def _read_typed(prompt: Prompt) -> Table | None:
    labelled = prompt.take(rf"{_LABELLED}(?>(?:{_AND}{_LABELLED})+)")
    if labelled is not None:
        numbers = [parse_number(text, prompt.language) for text in re.findall(NUMBER, labelled[0])]
        labels = re.findall(r"(?<!\w)(?!and\b|und\b)[^\W\d]\w*", labelled[0].replace("和", " "))
        is_clear = None not in numbers and len(numbers) == len({*labels}) and all(map(_is_label, labels))
        return _make_table("typed", repr(numbers), ", ".join(labels), labels) if is_clear else None
    match = prompt.take(_LIST)
    items = [one for one in re.split(r"[;、\s]+|,\s+|,$|\b(?:and|und)\b|和|&", match[0]) if one] if match else []
    if len(items) == 1 and parse_number(items[0], prompt.language) is None:
        # `1,2,3` is a list. `1,200,300` and `1.5, 2,5` are refused, because their commas are ambiguous.
        items = items[0].split(",")
    numbers = [parse_number(item, prompt.language) for item in items]
    return _make_table("typed", repr(numbers), ", ".join(items)) if len(numbers) > 1 and None not in numbers else None


def _is_label(label: str) -> bool:
    """Return whether a label is certainly a name, and not a word of the question."""
    attempt = Prompt("en", label)
    attempt.take_all("actions.draw")
    attempt.take_names("sequences")
    return len(label) == 1 or attempt.unknown_words("lists") == [label]


def _read_random(prompt: Prompt) -> Table | None:
    """Return the table of rolls of dice, or of normally distributed random numbers."""
    for dice in VOCABULARY["dice"]:
        if (count := prompt.take_whole(f"dice.{dice}")) and count <= COUNT_LIMIT:
            return _make_table("random", f"{_GENERATOR}.integers(1, 7, ({count}, {dice})).sum(axis=1)", f"n = {count}")
    kinds, count = prompt.take_names("sequences"), prompt.take_whole("amounts.some") or 1_000
    is_clear = "random" in kinds and {"random", "normal"}.issuperset(kinds) and count <= COUNT_LIMIT
    return _make_table("random", f"{_GENERATOR}.normal(100, 15, {count})", f"n = {count}") if is_clear else None


def _read_sequence(prompt: Prompt) -> Table | None:
    """Return the table of a sequence, if the prompt names one amount or interval. Squares need an amount."""
    multiples, kinds = prompt.take(word("multiples.of")), prompt.take_names("sequences")
    interval = [] if kinds == ("squares",) else take_range(prompt)
    amounts = {name: prompt.take_whole(f"amounts.{name}") for name in VOCABULARY["amounts"]}
    given = [(name, amount) for name, amount in amounts.items() if amount]
    condition = " or ".join(f"k % {one} == 0" for one in multiples.groups() if one) if multiples else ""
    condition = condition or CONDITIONS.get("".join(kinds), "")
    is_clear = len(given) + bool(interval) == 1 and len(kinds) + bool(multiples) <= 1 and " % 0 " not in condition
    if not is_clear or not all(re.fullmatch(r"-?\d{1,7}", bound) for bound in interval):
        return None
    selection, amount = given[0] if given else ("", 0)
    if selection in ("nth", "first", "some"):
        values = f"list(itertools.islice((k for k in itertools.count(1) if {condition}), {amount}))"
        if kinds == ("fibonacci",):
            values = condition = f"[int(sympy.fibonacci(k)) for k in range(1, {amount} + 1)]"
        if not condition or amount > COUNT_LIMIT:
            return None
        return _make_table("single", f"{values}[-1:]") if selection == "nth" else _make_table("sequence", values)
    low, high = map(int, interval or (1, amount - (selection == "below")))
    if not (condition or (interval and not kinds)) or not -BOUND_LIMIT <= low <= high <= BOUND_LIMIT:
        return None
    values = f"[k for k in range({low}, {high} + 1) if {condition or True}]"
    return _make_table("sequence" if condition else "range", values)
