"""Questions about tables, and the program that filters, groups, computes and draws."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace

from chat.emulator.demo.language import NUMBER, VOCABULARY, Plan, Prompt, make_plan, parse_number, sentence, word
from chat.emulator.demo.table_files import Column, Table

VALUES_LIMIT, VALUE_LENGTH_LIMIT = 200, 100
"""Limits of the texts of cells that are searched for in a prompt: how many of a column, and their length."""
_COLUMN, _VALUE = r"⟦(?P<n>\d+)⟧", r"⟪(?P<v>\d+)⟫"
"""The marks that replace the names of columns and the texts of cells in a prompt."""
_BEFORE, _AFTER = "(?<![^\\W\u4e00-\u9fff])", "(?![^\\W\u4e00-\u9fff])"
"""Around a name: no letter, except for those of Chinese, which has no spaces."""
_MISFIT = " ≠"
"""What stays in a prompt whose words do not fit the table, so that it is refused."""
STATISTICS = {
    "mean": "cells.mean()",
    "median": "cells.median()",
    "sum": "cells.sum(min_count=1)",
    "smallest": "cells.min()",
    "largest": "cells.max()",
    "deviation": "cells.std()",
    "count": "cells.count()",
    "mode": "cells.mode().tolist()",
    "sorted": "cells.dropna().sort_values().tolist()",
    "value": "cells[0]",
    "palindrome": "next(n for d in itertools.count() for n in (cells[0] - d, cells[0] + d) if str(n) == str(n)[::-1])",
}
"""What is computed from the numbers `cells`; the first six also for groups."""
USUAL = {"describe": ["count", *[*STATISTICS][:5]], "histogram": ["count", "mean"], "single": ["value"]}
"""The statistics that are printed if the prompt names none."""
SHOW = """\


def show(value):
    return f"{value:.10g}" if isinstance(value, float) else str(value)


"""
FILTER = 'table = table[{condition}]\nprint(f"rows used: {{len(table)}}")\n'
ROWS = 'print(table.head(100).to_string())\nprint(f"rows: {len(table)}")\n'
DESCRIPTION = """\
print(table.head().to_string())
print(table.describe(include="all").to_string())
print(f"rows: {len(table)}")
print(f"columns: {len(table.columns)}")
"""
GROUPS = """\
print(result.head(100).to_string())
print(f"groups: {len(result)}")
for name, value in {"highest": result.max(), "lowest": result.min()}.items():
    print(f"{name}:", ", ".join(str(key).removesuffix(" 00:00:00") for key in result.index[result == value]))
    print(f"{name} value:", show(value))
"""
HISTOGRAM = """\
is_whole = (cells % 1 == 0).all() and cells.max() - cells.min() < 40
bins = np.arange(cells.min() - 0.5, cells.max() + 1) if is_whole else "auto"
plt.hist(cells.dropna(), bins=bins, edgecolor="white")
plt.show()
"""
CORRELATION = """\
pairs = table[[{x!r}, {y!r}]].dropna()
pairs.plot.scatter(x={x!r}, y={y!r}, figsize=(7, 5))
plt.show()
print(f"correlation: {{pairs[{x!r}].corr(pairs[{y!r}]):.4f}}")
print(f"pairs: {{len(pairs)}}")
"""
MODULES = ("io", "itertools", "math", "matplotlib.pyplot as plt", "numpy as np", "pandas as pd", "sympy")
NOTHING = ("", "")


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a table. The names of what is asked for are those of `words.toml`."""

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
    """Return what a prompt asks about a table."""
    texts = [] if table.kind else _mark(prompt, table)
    chosen: dict[Column, set[str]] = {}
    while match := prompt.take(rf"(?:⟦\d+⟧ *(?:{word('relations.equals')} *)?)?{_VALUE}"):
        column, text = texts[int(match["v"])]
        chosen.setdefault(column, set()).update(one for one in column.values if one.lower() == text.lower())
    filters = [f"table[{column.name!r}].isin({sorted(chosen[column])!r})" for column in chosen]
    for sign in VOCABULARY["comparisons"]:
        pattern = rf"{_COLUMN} *(?:\b(?:is|are|ist|sind)\b *)?{word(f'comparisons.{sign}')} *(?P<a>{NUMBER})"
        while match := prompt.take(pattern):
            column, bound = table.columns[int(match["n"])], parse_number(match["a"], prompt.language)
            prompt.rest += _MISFIT if column.kind != "number" or bound is None else ""
            filters.append(f"table[{column.name!r}] {sign} {bound!r}")
    charts, periods = prompt.take_names("charts"), prompt.take_names("periods")
    dates = [column for column in table.columns if column.kind == "date"]
    over = "|".join(str(table.columns.index(column)) for column in dates)
    match = prompt.take(rf"\b(?:over|über) *⟦(?P<n>{over})⟧") if dates else None
    match = match or prompt.take(rf"{word('relations.group')} *(?:\b(?:the|der|dem|den)\b *)?{_COLUMN}")
    groups = [table.columns[int(match["n"])]] if match else [one for one in chosen if len(chosen[one]) > 1]
    groups += [replace(dates[0], kind=period) for period in periods if dates]
    operations, special = prompt.take_names("statistics"), prompt.take_names("tables")
    is_drawn = prompt.take_all("actions.draw")
    columns: list[Column] = []
    while match := prompt.take(_COLUMN):
        columns.append(table.columns[int(match["n"])])
    if len(charts) > 1 or len(groups) > 1 or (periods and not dates):
        prompt.rest += _MISFIT
    chart, group = "".join(charts) or ("any" if is_drawn else ""), next(iter(groups), None)
    return Question(table, tuple(dict.fromkeys(columns)), group, tuple(filters), operations, chart, special)


def _mark(prompt: Prompt, table: Table) -> list[tuple[Column, str]]:
    """Replace the names of columns and the texts of cells in the prompt by marks, and return these texts."""
    names = [(column.name, f" ⟦{number}⟧ ", True) for number, column in enumerate(table.columns)]
    searched = [column for column in table.columns if column.kind == "text" and len(column.values) <= VALUES_LIMIT]
    texts = [(column, text) for column in searched for text in column.values if len(text) < VALUE_LENGTH_LIMIT]
    owners = Counter(text.lower() for _, text in texts)
    names += [(text, f" ⟪{n}⟫ ", False) for n, (_, text) in enumerate(texts) if owners[text.lower()] == 1]
    for name, mark, is_column in sorted(names, key=lambda one: -len(one[0])):
        if (first_word := re.search(r"\w+", name)) and first_word[0].lower()[:3] in prompt.rest:
            prompt.rest = re.sub(_name_pattern(name, is_column=is_column), mark, prompt.rest)
    return texts


def _name_pattern(name: str, *, is_column: bool) -> str:
    """Return a pattern that finds a name in a prompt. A common word must be called a column, or quoted."""
    pattern = r"[\s_-]*".join(re.escape(part) for part in re.split(r"[\s_-]+", name.lower()) if part)
    if is_column and len(name) > 2:
        pattern = f"{pattern[:-1]}(?:y|ies)" if pattern.endswith("y") else f"{pattern}(?:s|es|n|en)?"
    if len(name) == 1 or not Prompt("en", name.lower()).unknown_words("tables"):
        return rf"(?:[\"'`]|\b(?:column|spalte) |列 ?){pattern}(?!\w)[\"'`]?"
    return rf"[\"'`]?{_BEFORE}{pattern}{_AFTER}[\"'`]?(?: ?(?:\b(?:column|spalte)\b|列))?"


def read_table_plan(prompt: Prompt, table: Table) -> Plan | None:
    """Return the plan for what the prompt asks about a table; `None` if it is not understood, or makes no sense."""
    question = read_question(prompt, table)
    body, comment = (_answer_list if table.kind else _answer)(question, prompt.language)
    if not body:
        return None
    if question.filters:
        body = FILTER.format(condition=" & ".join(f"({one})" for one in question.filters)) + body
        comment += " " + sentence("filtered", prompt.language)
    used = [column for column in table.columns if column.conversion and repr(column.name) in body]
    lines = (f"cells = table[{one.name!r}]\ntable[{one.name!r}] = {one.conversion}\n" for one in used)
    body = "".join([SHOW if " show(" in body else "\n", table.code, *lines, body])
    imports = "".join(f"import {name}\n" for name in MODULES if f"{name.rpartition(' ')[2]}." in body)
    title = table.name if table.kind else ", ".join(one.name for one in (*question.columns, question.group) if one)
    body = body.replace("plt.show()", f"plt.title({title!r})\nplt.show()") if title else body
    kind = "list" if table.kind else "table"
    return make_plan(kind, prompt.language, imports + body, question, comment, file=table.name or "CSV")


def _answer_list(question: Question, language: str) -> tuple[str, str]:
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


def _answer(question: Question, language: str) -> tuple[str, str]:
    """Return the program after the table was read, and the comment; empty texts for what is not understood."""
    table, operations, chart, key = question.table, question.operations, question.chart, question.group
    numbers = tuple(column for column in question.columns if column.kind == "number")
    labels = [column for column in question.columns if column.kind != "number"]
    all_numbers = tuple(column for column in table.columns if column.kind == "number")
    is_plain = not (operations or key)
    if "describe" in question.special and is_plain and not question.columns:
        return _description(table, language)
    if "correlate" in question.special or chart == "scatter":
        pair = dict(zip("yx", (column.name for column in numbers or all_numbers), strict=False))
        if labels or not is_plain or len(numbers or all_numbers) != 2:
            return NOTHING
        return CORRELATION.format(**pair), sentence("correlation", language, **pair)
    is_counted = ("unique" in question.special or chart) and operations in ((), ("count",))
    if is_counted and len(labels) == 1 and not (numbers or key):
        chart = "bar" if chart == "histogram" else chart
        return _groups(replace(question, columns=(), chart=chart), labels[0], "count", language)
    if not numbers and len(all_numbers) == 1 and operations != ("count",) and (chart or not is_plain):
        numbers = all_numbers
    rest = tuple(one for one in operations if one not in ("smallest", "largest"))
    if len(labels) == 1 and not key and (chart or (rest != operations and (rest or labels[0].is_unique))):
        # `Which product has the highest total units?`
        key, labels, operations = labels[0], [], rest
    elif chart in ("any", "line") and numbers and not (key or labels):
        key = next((column for column in table.columns if column.kind == "date"), None)
    if labels or len(numbers) > 1 or "unique" in question.special:
        return NOTHING
    question = replace(question, columns=numbers, operations=operations)
    if key:
        return _groups(question, key, "+".join(operations) or "sum", language)
    if chart not in ("", "histogram"):
        return NOTHING
    if numbers:
        return _statistics(question, language)
    if operations == ("count",) and not chart and (question.filters or "rows" in question.special):
        return 'print(f"rows: {len(table)}")\n', sentence("count", language)
    if operations or chart:
        return NOTHING
    return (ROWS, sentence("rows", language)) if question.filters else _description(table, language)


def _statistics(question: Question, language: str) -> tuple[str, str]:
    """Return statistics of a column, with a histogram or, of a list, with the numbers."""
    kind, chart, [column] = question.table.kind, question.chart, question.columns
    usual = USUAL.get("describe" if "describe" in question.special else chart or kind, ["count", "sum"] if kind else [])
    operations = [*(usual if kind == "single" else ()), *question.operations] or usual
    body = f"cells = table[{column.name!r}]\n" + (HISTOGRAM if chart else "")
    body += "print(*values[:500])\n" if kind and not (question.operations or chart) else ""
    body += "".join(f'print("{operation}:", show({STATISTICS[operation]}))\n' for operation in operations)
    written = "of_list" if kind else "statistic"
    comment = " ".join(sentence(written, language, operation, column=column.name) for operation in operations)
    # `How many units` may ask for the sum.
    is_clear = operations and (kind or question.operations != ("count",))
    return (body, comment) if is_clear else NOTHING


def _groups(question: Question, key: Column, operation: str, language: str) -> tuple[str, str]:
    """Return one value for each group, or for each period."""
    columns, chart = question.columns, question.chart
    is_known = operation == "count" if not columns else operation in [*STATISTICS][:6]
    is_described = "describe" in question.special and not question.operations
    if not is_known or is_described or chart in ("histogram", "scatter"):
        return NOTHING
    by = f"{key.name!r}, sort=False" if question.table.kind else repr(key.name)
    if key.kind in ("month", "year"):
        by = f"table[{key.name!r}].dt.to_period({key.kind[0].upper()!r})"
    body = f"cells = table.groupby({by})" + "".join(f"[{column.name!r}]" for column in columns)
    body += f"\nresult = {STATISTICS[operation] if columns else 'cells.size()'}\n{GROUPS}"
    usual = "line" if key.kind in ("date", "month", "year") else "bar"
    if chart or usual == "line":
        body += f'result.plot(kind="{usual if chart in ("", "any") else chart}", figsize=(8, 4.5))\nplt.show()\n'
    name = f"list_{key.kind}" if question.table.kind else "groups" if columns else "counts"
    return body, sentence(name, language, operation, measure=columns[0].name if columns else "", group=key.name)


def _description(table: Table, language: str) -> tuple[str, str]:
    """Return an overview of the table, with a graph of its first numbers."""
    names = [column.name for column in table.columns if column.kind == "number"][:6]
    drawing = f"table[{names!r}].plot(subplots=True, figsize=(8, {2 + 2 * len(names)}))\nplt.show()\n"
    return DESCRIPTION + (drawing if names else ""), sentence("describe", language)
