"""Questions about a table: which columns and rows are meant, and what is wanted of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from chat.emulator.demo.prompt import NUMBER, Prompt, parse_number, read_prompt, word
from chat.emulator.demo.table_files import Column, Table

STATISTICS = ("mean", "median", "sum", "smallest", "largest", "deviation", "count")
CHARTS = ("histogram", "bar", "pie", "line", "box", "scatter")
VALUES_LIMIT = 200
"""A column with more different texts is not searched for them."""
_COLUMN = r"⟦(?P<n>\d+)⟧"
_VALUE = r"⟪(?P<v>\d+)⟫"
_COMPARISONS = (
    (">=", r"(?:\b(?:at least|mindestens)\b|至少|不少于|>=|≥)"),
    ("<=", r"(?:\b(?:at most|höchstens)\b|至多|不超过|<=|≤)"),
    (
        ">",
        r"(?:\b(?:(?:greater|more|larger|higher) than|above|over|(?:größer|mehr|höher) als|über)\b|大于|超过|高于|>)",
    ),
    ("<", r"(?:\b(?:(?:less|smaller|lower|fewer) than|below|under|(?:kleiner|weniger) als|unter)\b|小于|低于|<)"),
    ("==", r"(?:\b(?:is|equals?|equal to|ist|gleich)\b|等于|为|==?)"),
)
_TOP = r"\btop (?P<n>\d{1,4})\b"
_TOP += r"|\b(?:the |die )?(?P<m>\d{1,4}) (?:rows? with the )?(?:largest|highest|biggest|größten|höchsten)\b"
_TOP += r"|前 ?(?P<k>\d{1,4}) ?[名个行]?|最[大高]的? ?(?P<l>\d{1,4}) ?[名个行]?"
_BOTTOM = r"\bbottom (?P<n>\d{1,4})\b|\b(?P<m>\d{1,4}) (?:smallest|lowest|kleinsten|niedrigsten)\b"
_WHICH = r"\b(?:which|who|welche[rs]?|wer)\b|哪一?[个些]?"


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a table."""

    table: Table
    columns: tuple[Column, ...] = ()
    group: Column | None = None
    filters: tuple[str, ...] = ()
    """Code of conditions on the rows."""
    filtered: tuple[Column, ...] = ()
    """The columns that the conditions need."""
    operations: tuple[str, ...] = ()
    chart: str = ""
    is_drawn: bool = False
    grain: str = ""
    """Whether values are shown over time: `date`, `month` or `year`."""
    top: int = 0
    """How many rows with the largest values are wanted, or with the smallest if it is negative."""
    special: str = ""
    """`describe`, `correlate`, `which`, `unique` or `sort`."""


def read_question(prompt: Prompt, table: Table, before: Question | None) -> Question | None:
    """Return what a prompt asks about a table. A change of the question `before` may leave out what stays."""
    is_change = before is not None and before.table == table and prompt.take_all(word("actions.change"))
    _mark(prompt, table)
    filters, filtered, compared = _take_filters(prompt, table)
    top, bottom = prompt.take(_TOP), prompt.take(_BOTTOM)
    number = (
        int(next(filter(None, top.groups()))) if top else -int(next(filter(None, bottom.groups()))) if bottom else 0
    )
    chart = next((chart for chart in CHARTS if prompt.take(word(f"charts.{chart}"))), "")
    group = _take_group(prompt, table, is_ranked=number != 0)
    if len(compared) == 1 and group is None:
        [group] = compared
    grain = next((name for name in ("month", "year") if prompt.take(word(f"tables.{name}"))), "")
    grain = grain if not _take_over_time(prompt, table) else grain or "date"
    special = next((name for name in ("correlate", "unique", "describe") if prompt.take(word(f"tables.{name}"))), "")
    if prompt.take(_WHICH):
        special = special or "which"
    against = prompt.take(r"⟦(?P<y>\d+)⟧ *(?:\b(?:vs\.?|versus|against|gegen(?:über)?)(?!\w)) *⟦(?P<x>\d+)⟧")
    operations = tuple(name for name in STATISTICS if prompt.take(word(f"statistics.{name}")))
    if (
        prompt.take(word("statistics.descending"))
        or prompt.take(word("statistics.ascending"))
        or prompt.take(word("statistics.sort"))
    ):
        return None
    counts_rows = "count" in operations and prompt.take(word("tables.rows")) is not None
    is_drawn = prompt.take(word("actions.draw")) is not None
    names = [against["x"], against["y"]] if against else []
    while match := prompt.take(_COLUMN):
        names.append(match["n"])
    columns = tuple(table.columns[int(name)] for name in dict.fromkeys(names))
    if operations == ("count",) and not (counts_rows or columns or filters or group or grain):
        return None
    question = Question(table, columns, group, filters, filtered, operations, chart or ("scatter" if against else ""),
                        is_drawn, grain, number, special)  # fmt: skip
    return _merge_questions(before, question) if is_change and before is not None else question


def _merge_questions(before: Question, new: Question) -> Question:
    """Return the previous question with the fields that the new one sets."""
    question = replace(
        before,
        columns=new.columns or before.columns,
        group=new.group or (None if new.grain else before.group),
        grain=new.grain or ("" if new.group else before.grain),
        operations=new.operations or before.operations,
        chart=new.chart or before.chart,
        is_drawn=new.is_drawn or before.is_drawn,
        top=new.top or before.top,
        special=new.special or ("" if new.operations or new.chart else before.special),
    )
    return replace(question, filters=new.filters, filtered=new.filtered) if new.filters else question


def _mark(prompt: Prompt, table: Table) -> None:
    """Replace the names of columns and the texts of cells in the prompt by marks."""
    names = [(column.name, f" ⟦{number}⟧ ", True) for number, column in enumerate(table.columns)]
    # Without a unit in brackets.
    names += [(re.split(r"[(\[]", name, maxsplit=1)[0].rstrip(), mark, True) for name, mark, _ in names]
    owners = Counter(text.lower() for _, text in _cells_of(table))
    for index, (_, text) in enumerate(_cells_of(table)):
        if owners[text.lower()] == 1 and len(text) < 100:
            names.append((text, f" ⟪{index}⟫ ", False))
    for name, mark, is_column in sorted(names, key=lambda one: -len(one[0])):
        first_word = re.search(r"\w+", name)
        if first_word and first_word[0].lower()[:3] in prompt.rest:
            prompt.rest = re.sub(_name_pattern(name, is_column=is_column), mark, prompt.rest)


def _name_pattern(name: str, *, is_column: bool) -> str:
    """Return a pattern that finds a name in a prompt. A common word must be called a column, or quoted."""
    written = read_prompt(name)
    parts = [re.escape(part) for part in re.split(r"[\s_-]+", written.rest) if part]
    pattern = r"[\s_-]*".join(parts)
    if is_column and len(name) > 2:
        pattern = f"{pattern[:-1]}(?:y|ies)" if pattern.endswith("y") else f"{pattern}(?:s|es|n|en)?"
    if not parts:
        return "(?!)"
    if not written.unknown_words("tables") or len(name) == 1:
        called = rf"\b(?:column|spalte) {pattern}(?!\w)|(?<!\w){pattern} column\b|列 ?{pattern}(?!\w)"
        return rf"(?:[\"'`]{pattern}[\"'`]|{called})"
    return rf"[\"'`]?(?<!\w){pattern}(?!\w)[\"'`]?(?: ?(?:\b(?:column|spalte)\b|列))?"


def _cells_of(table: Table) -> list[tuple[int, str]]:
    """Return the texts that a prompt may name, each with the number of its column."""
    columns = [(number, column) for number, column in enumerate(table.columns) if column.kind == "text"]
    return [
        (number, text) for number, column in columns if len(column.values) <= VALUES_LIMIT for text in column.values
    ]


def _take_filters(prompt: Prompt, table: Table) -> tuple[tuple[str, ...], tuple[Column, ...], tuple[Column, ...]]:
    """Take the conditions on rows out of the prompt.

    Return their code, their columns, and the columns of which several texts are named, as in `compare North and South`.
    """
    conditions: list[str] = []
    used: list[Column] = []
    chosen: dict[int, list[str]] = {}
    joined = r"(?:⟦\d+⟧ *(?:(?:\b(?:is|equals?|ist|gleich)\b|=+|:|为|是|等于) *)?)?"
    while match := prompt.take(joined + _VALUE):
        number, text = _cells_of(table)[int(match["v"])]
        chosen.setdefault(number, []).append(text)
    for number, texts in chosen.items():
        spellings = [text for text in table.columns[number].values if text.lower() in {one.lower() for one in texts}]
        conditions.append(f"table[{table.columns[number].name!r}].isin({spellings!r})")
        used.append(table.columns[number])
    between = rf"{_COLUMN} *(?:(?:is|ist) )?(?:\b(?:between|zwischen)\b|在) *(?P<a>{NUMBER})"
    between += rf" *(?:\b(?:and|und)\b|到|和) *(?P<b>{NUMBER})"
    for sign, pattern in (("between", between), *_COMPARISONS):
        if sign != "between":
            pattern = rf"{_COLUMN} *(?:(?:is|are|ist|sind)\b *)?{pattern} *(?P<a>{NUMBER})(?: ?之间)?"
        while match := prompt.take(pattern):
            column = table.columns[int(match["n"])]
            bounds = [parse_number(match[name], prompt.language) for name in ("a", "b") if name in match.groupdict()]
            if column.kind != "number" or None in bounds:
                prompt.rest += " ≠"
                break
            arguments = ", ".join(map(repr, bounds))
            name = f"table[{column.name!r}]"
            conditions.append(f"{name}.between({arguments})" if sign == "between" else f"{name} {sign} {arguments}")
            used.append(column)
    year = prompt.take(r"\b(?:in|from|im jahr|of|for) (?P<n>(?:19|20)\d\d)(?!\w)|(?P<m>(?:19|20)\d\d) ?年")
    if year is not None:
        dated, code = _year_of(table)
        conditions.append(f"{code} == {year['n'] or year['m']}" if code else "")
        used += [dated] if dated else []
        prompt.rest += "" if code else " ≠"
    compared = tuple(table.columns[number] for number, texts in chosen.items() if len(texts) > 1)
    return tuple(conditions), tuple(used), compared


def _year_of(table: Table) -> tuple[Column | None, str]:
    """Return the column with the year of a row, and the code of the year; without such a column an empty code."""
    for column in table.columns:
        if is_time(column):
            return column, f"table[{column.name!r}]" + (".dt.year" if column.kind == "date" else "")
    return None, ""


def is_time(column: Column) -> bool:
    """Return whether a column has dates, or years."""
    return column.kind == "date" or (column.kind == "number" and column.name.lower() in ("year", "jahr", "年", "年份"))


def _take_over_time(prompt: Prompt, table: Table) -> bool:
    """Take `over time` out of the prompt, or `over` with the name of a column that has dates."""
    dates = "|".join(f"⟦{number}⟧" for number, column in enumerate(table.columns) if is_time(column))
    by_name = prompt.take(rf"\b(?:over|über) *(?:{dates})") if dates else None
    return by_name is not None or prompt.take(word("tables.over_time")) is not None


def _take_group(prompt: Prompt, table: Table, *, is_ranked: bool) -> Column | None:
    """Take `by region` out of the prompt. `top 5 by price` ranks by the price: a number is no group then."""
    match = prompt.take(rf"(?:{word('tables.group')}) *(?:(?:the|der|dem|den)\b *)?{_COLUMN}|各 ?⟦(?P<m>\d+)⟧")
    if match is None:
        return None
    column = table.columns[int(match["n"] or match["m"])]
    if is_ranked and column.kind == "number":
        prompt.rest += f" ⟦{match['n']}⟧ "
        return None
    return column


def first_of(columns: Iterable[Column], kind: str) -> Column | None:
    """Return the first column of a kind."""
    return next((column for column in columns if column.kind == kind), None)


def numbers_of(columns: Sequence[Column]) -> list[Column]:
    """Return the columns with numbers."""
    return [column for column in columns if column.kind == "number"]
