"""Questions about tables, and the program that filters, groups, computes and draws."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import NamedTuple

from chat.emulator.demo.language import (
    NUMBER,
    PROGRAMS,
    TEXTS,
    VOCABULARY,
    Plan,
    Prompt,
    make_plan,
    normalize,
    parse_number,
    sentence,
    word,
)
from chat.emulator.demo.table_files import MISSING, Column, Table

VALUES_LIMIT, VALUE_LENGTH_LIMIT = 200, 100
"""Limits of the cell texts that are searched for in a prompt: their number in a column, and their length."""
_COLUMN, _VALUE = r"⟦(?P<n>\d+)⟧", r"⟪(?P<v>\d+)⟫"
"""The marks that replace the names of columns and the texts of cells in a prompt."""
_BEFORE, _AFTER = "(?<![^\\W\u4e00-\u9fff])", "(?![^\\W\u4e00-\u9fff])"
"""Borders of a name in a prompt: no letter may be next to it, except Chinese ones, because Chinese has no spaces."""
_MISFIT = " ≠"
"""A mark that is left in a prompt whose words do not fit the table, so that the prompt is refused."""
STATISTICS = PROGRAMS["statistics"]
USUAL = {"describe": ["count", *[*STATISTICS][:5]], "histogram": ["count", "mean"], "single": ["value"]}
"""The statistics that are printed if the prompt names none."""
FUNCTIONS = {
    name: code.replace("{missing!r}", repr(list(MISSING))) for name, code in reversed(PROGRAMS["functions"].items())
}
"""Functions that programs may use. Each is listed before those that it calls."""
AXES = ("date", "calendar year")
"""Kinds of columns over which numbers are plotted as lines, the preferred kind first."""
MODULES = ("io", "itertools", "json", "math", "matplotlib.pyplot as plt", "numpy as np", "pandas as pd", "sympy")


class Answer(NamedTuple):
    """The program after the table was read, and the comment; both are empty if the question is not understood."""

    body: str
    comment: str
    names: tuple[str, ...] = ()
    """The columns whose values are needed. Rows without such a value are left out, and the answer says so."""


NOTHING = Answer("", "")


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a table. Its operations and charts have the names of `words.toml`."""

    table: Table
    columns: tuple[Column, ...] = ()
    group: Column | None = None
    """The column by whose values the rows are grouped. For periods, its kind is `month` or `year`."""
    filters: tuple[str, ...] = ()
    """Code of conditions on the rows."""
    operations: tuple[str, ...] = ()
    chart: str = ""
    """The kind of a chart, or `any`."""
    special: tuple[str, ...] = ()


def read_question(prompt: Prompt, table: Table) -> Question:
    """Parse a question about a table."""
    equals = _take_equals(prompt, table)
    chosen = [column for column in equals if len(equals[column]) > 1]
    texts = (f"as_texts(table[{one.name!r}]).str.lower().isin({sorted(equals[one])!r})" for one in equals)
    filters = (*texts, *_take_comparisons(prompt, table))
    charts, periods = prompt.take_names("charts"), prompt.take_names("periods")
    dates = sorted((column for column in table.columns if column.kind in AXES), key=lambda one: AXES.index(one.kind))
    over = "|".join(str(table.columns.index(column)) for column in dates)
    match = prompt.take(rf"\b(?:over|über) *⟦(?P<n>{over})⟧") if dates else None
    match = match or prompt.take(rf"{word('relations.group')} *(?:\b(?:the|der|dem|den)\b *)?{_COLUMN}")
    groups = [table.columns[int(match["n"])]] if match else chosen
    groups += [replace(dates[0], kind=period) if dates[0].kind == "date" else dates[0] for period in periods if dates]
    operations, special = prompt.take_names("statistics"), prompt.take_names("tables")
    is_drawn = prompt.take_all("actions.draw")
    columns: list[Column] = []
    while match := prompt.take(_COLUMN):
        columns.append(table.columns[int(match["n"])])
    has_periods = bool(dates) and (dates[0].kind == "date" or "month" not in periods)
    if len(charts) > 1 or len(groups) > 1 or (periods and not has_periods):
        prompt.rest += _MISFIT
    chart, group = "".join(charts) or ("any" if is_drawn else ""), next(iter(groups), None)
    return Question(table, tuple(dict.fromkeys(columns)), group, filters, operations, chart, special)


def _take_equals(prompt: Prompt, table: Table) -> dict[Column, set[str]]:
    """Remove texts of cells from the prompt, and return them in lower case: they select the rows."""
    texts = [] if table.kind else _mark(prompt, table)
    equals: dict[Column, set[str]] = {}
    while match := prompt.take(rf"(?:⟦\d+⟧ *(?:{word('relations.equals')} *)?)?{_VALUE}"):
        column, text = texts[int(match["v"])]
        equals.setdefault(column, set()).add(text.lower())
    while match := prompt.take(rf"{_COLUMN} *{word('relations.equals')} *[\"'`](?P<t>[^\"'`¦⟦]+)[\"'`]"):
        column = table.columns[int(match["n"])]
        equals.setdefault(column, set()).add(match["t"].strip())
        prompt.rest += _MISFIT if column.kind not in ("text", "identifier") else ""
    return equals


def _take_comparisons(prompt: Prompt, table: Table) -> list[str]:
    """Remove comparisons with numbers from the prompt, and return the code of their conditions."""
    filters = []
    for sign in VOCABULARY["comparisons"]:
        pattern = rf"{_COLUMN} *(?:\b(?:is|are|ist|sind)\b *)?{word(f'comparisons.{sign}')} *(?P<a>{NUMBER})"
        while match := prompt.take(pattern):
            column, bound = table.columns[int(match["n"])], parse_number(match["a"], prompt.language)
            is_number = column.kind in ("number", "calendar year")
            prompt.rest += _MISFIT if not is_number or bound is None else ""
            filters.append(f"table[{column.name!r}] {sign} {bound!r}")
    return filters


def _mark(prompt: Prompt, table: Table) -> list[tuple[Column, str]]:
    """Replace the names of columns and the texts of cells in the prompt by marks, and return these texts."""
    names = [(column.name, f" ⟦{number}⟧ ", True) for number, column in enumerate(table.columns)]
    searched = [column for column in table.columns if column.kind == "text" and len(column.values) <= VALUES_LIMIT]
    texts = [(column, text) for column in searched for text in column.values if len(text) < VALUE_LENGTH_LIMIT]
    owners = Counter(text.lower() for _, text in texts)
    names += [(text, f" ⟪{n}⟫ ", False) for n, (_, text) in enumerate(texts) if owners[text.lower()] == 1]
    for number, column in enumerate(table.columns):
        quoted = normalize('"' + column.name.replace('"', "'") + '"')
        prompt.rest = prompt.rest.replace(quoted, f" ⟦{number}⟧ ")
    for name, mark, is_column in sorted(names, key=lambda one: -len(one[0])):
        if (first_word := re.search(r"\w+", name)) and first_word[0].lower()[:3] in prompt.rest:
            prompt.rest = re.sub(_name_pattern(name, is_column=is_column), mark, prompt.rest)
    return texts


def _name_pattern(name: str, *, is_column: bool) -> str:
    """Return a pattern that finds a name in a prompt. A common word counts only if it is quoted or called a column."""
    pattern = r"[\s_-]*".join(re.escape(part) for part in re.split(r"[\s_-]+", normalize(name)) if part)
    if is_column and len(name) > 2:
        pattern = f"{pattern[:-1]}(?:y|ies)" if pattern.endswith("y") else f"{pattern}(?:s|es|n|en)?"
    if len(name) == 1 or not Prompt("en", name.lower()).unknown_words("tables"):
        return rf"(?:[\"'`]|\b(?:column|spalte) |列 ?){pattern}(?!\w)[\"'`]?"
    return rf"[\"'`]?{_BEFORE}{pattern}{_AFTER}[\"'`]?(?: ?(?:\b(?:column|spalte)\b|列))?"


def read_table_plan(prompt: Prompt, table: Table) -> Plan | None:
    """Return the plan for a question about a table; `None` if it is not understood, or makes no sense."""
    question, language = read_question(prompt, table), prompt.language
    body, comment, names = (_answer_list if table.kind else _answer)(question, language)
    if not body:
        return None
    body = (PROGRAMS["complete"].format(names=[*names]) if names else "") + body
    if question.filters:
        body = PROGRAMS["filter"].format(condition=" & ".join(f"({one})" for one in question.filters)) + body
        comment += " " + sentence("filtered", language)
    used = [column for column in table.columns if column.conversion and repr(column.name) in body]
    lines = (f"cells = table[{one.name!r}]\ntable[{one.name!r}] = {one.conversion}\n" for one in used)
    body = "".join([table.code, *lines, body])
    for name, code in FUNCTIONS.items():
        body = f"\n{code}\n{body}" if f"{name}(" in body else body
    imports = "".join(f"import {name}\n" for name in MODULES if f"{name.rpartition(' ')[2]}." in body)
    title = table.name if table.kind else ", ".join(one.name for one in (*question.columns, question.group) if one)
    body = body.replace("plt.show()", f"plt.title({title!r})\nplt.show()") if title else body
    kind = "list" if table.kind else "table"
    plan = make_plan(kind, language, imports + body, question, comment, file=table.name or "CSV")
    return plan if table.kind else replace(plan, remarks=_remarks(table, names, language), file=table.name)


def _remarks(table: Table, names: tuple[str, ...], language: str) -> tuple[str, ...]:
    """Return the sentences about what an answer leaves out, and about how the file was read."""
    missing = TEXTS["names"]["or"][language].join(f'"{name}"' for name in names)
    remarks = [sentence("left_out", language, columns=missing)] if names else []
    remarks += [sentence(name, language) for name in ("rows_shown", "groups_shown", "missing_values")]
    remarks += [sentence("cut", language)] if table.is_cut else []
    remarks += [sentence("notes", language, notes=" ".join(table.notes))] if table.notes else []
    return tuple(remarks)


def _answer_list(question: Question, language: str) -> Answer:
    """Return the answer to a question about a list of numbers."""
    table, asked = question.table, set(question.operations) - {"count"}
    usual = "histogram" if table.kind == "random" else "bar" if table.columns[0].kind == "text" else "line"
    chart = usual if question.chart == "any" else question.chart
    is_axis = chart not in ("", "histogram")
    is_single = asked <= {"palindrome"} and not chart
    is_clear = {"typed": bool(asked or chart), "range": bool(asked), "single": is_single}.get(table.kind, True)
    is_odd = {"unique", "correlate"}.intersection(question.special) or (is_axis and question.operations)
    if not is_clear or is_odd or ("palindrome" in asked and table.kind != "single"):
        return NOTHING
    question = replace(question, columns=table.columns[1:], chart=chart)
    return _groups(question, table.columns[0], "sum", language) if is_axis else _statistics(question, language)


def _answer(question: Question, language: str) -> Answer:
    """Return the answer to a question about a table."""
    table, operations, chart, key = question.table, question.operations, question.chart, question.group
    numbers = tuple(column for column in question.columns if column.kind == "number")
    labels = [column for column in question.columns if column.kind != "number"]
    all_numbers = tuple(column for column in table.columns if column.kind == "number")
    is_plain = not (operations or key)
    if "describe" in question.special and is_plain and not question.columns:
        return _description(table, language)
    if "correlate" in question.special or chart == "scatter":
        return _correlation(question, language)
    is_counted = ("unique" in question.special or chart) and operations in ((), ("count",))
    if is_counted and len(labels) == 1 and not (numbers or key):
        chart = "bar" if chart == "histogram" else chart
        return _groups(replace(question, columns=(), chart=chart), labels[0], "count", language)
    if not numbers and len(all_numbers) == 1 and operations != ("count",) and (chart or not is_plain):
        numbers = all_numbers
    rest = tuple(one for one in operations if one not in ("smallest", "largest"))
    is_known = bool(chart or rest or (labels and labels[0].is_unique))
    if len(labels) == 1 and not key and (chart or rest != operations) and (is_known or labels[0].is_unique is None):
        # An example: `Which product has the highest total units?` The rows are grouped by product.
        key, labels, operations = labels[0], [], rest if is_known else operations
    elif chart in ("any", "line") and numbers and not (key or labels):
        key = next((one for kind in AXES for one in table.columns if one.kind == kind), None)
    if labels or len(numbers) > 1 or "unique" in question.special:
        return NOTHING
    question = replace(question, columns=numbers, operations=operations)
    if key:
        usual = "mean" if any(one.is_share for one in numbers) else "sum"
        return _groups(question, key, "+".join(operations) or usual, language)
    if chart not in ("", "histogram"):
        return NOTHING
    if numbers:
        return _statistics(question, language)
    if operations == ("count",) and not chart and (question.filters or "rows" in question.special):
        return Answer('print(f"rows: {len(table)}")\n', sentence("count", language))
    if operations or chart:
        return NOTHING
    return Answer(PROGRAMS["rows"], sentence("rows", language)) if question.filters else _description(table, language)


def _correlation(question: Question, language: str) -> Answer:
    """Return the correlation of two columns, with a graph: the named columns, or the only two columns of numbers."""
    columns = question.columns or tuple(one for one in question.table.columns if one.kind == "number")
    is_clear = not (question.operations or question.group) and len(columns) == 2
    if not is_clear or any(one.kind not in ("number", "calendar year") for one in columns):
        return NOTHING
    pair = dict(zip("yx", (one.name for one in columns), strict=True))
    body = PROGRAMS["correlation"].format(**pair)
    return Answer(body, sentence("correlation", language, **pair), tuple(pair.values()))


def _statistics(question: Question, language: str) -> Answer:
    """Return statistics of a column, and a histogram if asked for. A list is printed if none of them is asked for."""
    kind, chart, [column] = question.table.kind, question.chart, question.columns
    usual = USUAL.get("describe" if "describe" in question.special else chart or kind, ["count", "sum"] if kind else [])
    operations = [*(usual if kind == "single" else ()), *question.operations] or usual
    body = f"cells = table[{column.name!r}]\n" + (PROGRAMS["histogram"] if chart else "")
    body += "print(*values[:500])\n" if kind and not (question.operations or chart) else ""
    body += "".join(f'print("{operation}:", show({STATISTICS[operation]}))\n' for operation in operations)
    written = "of_list" if kind else "statistic"
    comment = " ".join(sentence(written, language, operation, column=column.name) for operation in operations)
    # `How many units` may ask for the number of rows or for the sum, so it is refused.
    is_clear = operations and (kind or question.operations != ("count",))
    return Answer(body, comment, () if kind else (column.name,)) if is_clear else NOTHING


def _groups(question: Question, key: Column, operation: str, language: str) -> Answer:
    """Return the answer with one value for each group or period."""
    columns, chart = question.columns, question.chart
    is_known = operation == "count" if not columns else operation in [*STATISTICS][:6]
    is_described = "describe" in question.special and not question.operations
    is_drawn = bool(chart) and key.kind == "identifier"
    if not is_known or is_described or is_drawn or chart in ("histogram", "scatter"):
        return NOTHING
    by = f"{key.name!r}, sort=False" if question.table.kind else repr(key.name)
    if key.kind in ("month", "year"):
        by = f"table[{key.name!r}].dt.to_period({key.kind[0].upper()!r})"
    body = f"cells = table.groupby({by})" + "".join(f"[{column.name!r}]" for column in columns)
    body += f"\nresult = {STATISTICS[operation] if columns else 'cells.size()'}\n{PROGRAMS['groups']}"
    usual = "line" if key.kind in (*AXES, "month", "year") else "bar"
    if chart or usual == "line":
        kind = usual if chart in ("", "any") else chart
        body += f'result.plot(kind="{kind}", figsize=(8, 4.5))\n'
        if key.kind == "calendar year" and kind == "line":
            body += "plt.gca().xaxis.get_major_locator().set_params(integer=True)\n"
        body += "plt.show()\n"
    name = f"list_{key.kind}" if question.table.kind else "groups" if columns else "counts"
    comment = sentence(name, language, operation, measure=columns[0].name if columns else "", group=key.name)
    return Answer(body, comment, () if question.table.kind else tuple(one.name for one in (*columns, key)))


def _description(table: Table, language: str) -> Answer:
    """Return an overview of the table, with a graph of its first numbers."""
    names = [column.name for column in table.columns if column.kind == "number"][:6]
    drawing = f"table[{names!r}].plot(subplots=True, figsize=(8, {2 + 2 * len(names)}))\nplt.show()\n"
    listed = [column.name for column in table.columns]
    return Answer(PROGRAMS["description"] + (drawing if names else ""), sentence("describe", language, names=listed))
