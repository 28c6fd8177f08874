"""Answers to questions about tables: the programs that read, filter, group and draw them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from chat.emulator.demo.answers import Plan, Task, escape, localized, make_plan
from chat.emulator.demo.prompt import Prompt
from chat.emulator.demo.table_files import Column, Table
from chat.emulator.demo.table_questions import Question, first_of, is_time, numbers_of, read_question

METHODS = {"smallest": "min", "largest": "max", "deviation": "std"}
"""Names of pandas for statistics, where they differ."""
SHOW = "plt.tight_layout()\nplt.show()\n"
DESCRIBE = """\
print(table.head().to_string())
for column in table.columns:
    print()
    print(table[column].describe().to_string())
print()
"""
COUNTS = """\
counts = table[{column}].value_counts()
print(counts.head(50).to_string())
print(f"different: {{len(counts)}}")
print(f"most: {{counts.index[0]}}")
print(f"times: {{counts.iloc[0]}}")
"""
GROUPS = """\
print(result.head(100).to_string())
print("highest:", str(result.idxmax()).removesuffix(" 00:00:00"))
print(f"highest value: {result.max():.10g}")
print("lowest:", str(result.idxmin()).removesuffix(" 00:00:00"))
print(f"lowest value: {result.min():.10g}")
"""
CORRELATION = """\
pairs = table[[{x}, {y}]].dropna()
slope, intercept = np.polyfit(pairs[{x}], pairs[{y}], 1)
pairs.plot.scatter(x={x}, y={y}, figsize=(7, 5))
plt.plot(pairs[{x}], slope * pairs[{x}] + intercept, color="#d62828")
plt.tight_layout()
plt.show()
print(f"correlation: {{pairs[{x}].corr(pairs[{y}]):.4f}}")
print(f"pairs: {{len(pairs)}}")
"""


@dataclass(frozen=True, slots=True)
class TableTask:
    """A question about a table, and the program that answers it."""

    question: Question
    body: str
    comments: tuple[tuple[str, dict[str, str]], ...]
    """The names of the sentences after the program, with the facts in them."""

    def plan(self, language: str) -> Plan:
        """Return a plan with a program that reads the columns, filters the rows and answers the question."""
        table, question = self.question.table, self.question
        asked = {*question.columns, *question.filtered, question.group}
        is_whole = question.special == "describe" or not question.columns
        reading = table.reading_code([one for one in table.columns if is_whole or one in asked or is_time(one)])
        if question.filters:
            reading += f"table = table[{' & '.join(f'({one})' for one in question.filters)}]\n"
            reading += 'print(f"rows used: {len(table)}")\n'
        modules = "import io\n\n" if not table.name else ""
        for name, alias in (("matplotlib.pyplot", "plt"), ("numpy", "np"), ("pandas", "pd")):
            modules += f"import {name} as {alias}\n" if f"{alias}." in reading + self.body else ""
        comment = "".join(self._sentence(name, facts, language) for name, facts in self.comments)
        comment += localized("comments", "filtered", language) if question.filters and "{rows}" not in comment else ""
        file = f"`{escape(table.name)}`" if table.name else localized("comments", "pasted", language)
        return make_plan("table", language, f"{modules}\n{reading}\n{self.body}", comment=comment, file=file)

    def _sentence(self, name: str, facts: dict[str, str], language: str) -> str:
        operation = {"operation": localized("names", facts["operation"], language)} if "operation" in facts else {}
        sentence = localized("comments", name, language)
        if not facts.get("measure", "x"):
            facts = {**facts, "measure": localized("names", "rows", language)}
        written = {name: value if name == "value" else escape(value) for name, value in {**facts, **operation}.items()}
        return re.sub(r"\{(\w+)\}", lambda field: written.get(field[1], field[0]), sentence)


def read(prompt: Prompt, previous: Task | None, table: Table) -> TableTask | None:
    """Return the task that the prompt sets for a table; `None` if it is not understood, or makes no sense."""
    before = previous.question if isinstance(previous, TableTask) else None
    question = read_question(prompt, table, before)
    if question is None:
        return None
    question = _complete_columns(question)
    answer = _answer(question)
    return TableTask(question, *answer) if answer else None


_Answer = tuple[str, tuple[tuple[str, dict[str, str]], ...]]
"""The program after the table was read, and the sentences after it."""


def _complete_columns(question: Question) -> Question:
    """Return the question with the columns that it leaves out where only one choice is possible."""
    table, numbers = question.table, numbers_of(question.table.columns)
    needs_number = bool(question.grain or question.top or question.chart in ("histogram", "box"))
    needs_number = needs_number or (question.group is not None and "count" not in question.operations)
    needs_number = needs_number or (bool(question.operations) and question.operations != ("count",))
    if (
        needs_number
        and not numbers_of(question.columns)
        and len(numbers) == 1
        and not (question.chart == "histogram" and question.columns)
    ):
        question = replace(question, columns=(*question.columns, numbers[0]))
    if (question.special == "correlate" or question.chart == "scatter") and not question.columns and len(numbers) == 2:
        return replace(question, columns=tuple(numbers))
    texts = [column for column in question.columns if column.kind != "number"]
    wants_bars = question.chart in ("bar", "pie", "line", "") and (question.is_drawn or question.chart)
    if wants_bars and not question.group and not question.grain and numbers_of(question.columns):
        date, label = first_of(table.columns, "date"), first_of(table.columns, "text")
        if len(texts) == 1 and texts[0].kind == "text":
            return replace(question, group=texts[0], columns=tuple(numbers_of(question.columns)))
        if (texts and texts[0].kind == "date") or (date and not texts and question.chart in ("", "line")):
            return replace(question, grain="date", columns=tuple(numbers_of(question.columns)))
        if not texts and label and label.is_unique and len(label.values) <= 60:
            return replace(question, group=label)
    return question


def _answer(question: Question) -> _Answer | None:
    """Return the program and the sentences; `None` for a combination that is not understood."""
    columns, numbers = question.columns, numbers_of(question.columns)
    is_plain = not (question.group or question.grain or question.top)
    if question.special == "correlate" or question.chart == "scatter":
        is_pair = len(columns) == len(numbers) == 2 and is_plain and not question.operations
        return _correlation(*columns) if is_pair else None
    if question.top:
        return _ranking(question)
    if question.special == "which":
        return _extreme(question)
    is_drawn_text = [column.kind for column in columns] == ["text"] and is_plain
    is_drawn_text = is_drawn_text and (question.chart in ("bar", "pie", "histogram") or question.is_drawn)
    if question.special == "unique" or is_drawn_text:
        is_known = len(columns) == 1 and is_plain and question.operations in ((), ("count",))
        return _counts(columns[0], question.chart or ("bar" if question.is_drawn else "")) if is_known else None
    if question.group or question.grain:
        return _groups(question)
    if len(numbers) != len(columns):
        return None
    if question.chart in ("histogram", "box"):
        return _distribution(question)
    if columns and (question.chart or question.is_drawn):
        return None if question.chart in ("bar", "pie") else _lines(question)
    if question.operations == ("count",) and not columns:
        return 'print(f"rows: {len(table)}")\n', (("count", {}),)
    if question.operations and columns:
        return _statistics(columns, question.operations)
    if columns and question.special == "describe":
        return _statistics(columns, ("count", "mean", "median", "smallest", "largest"))
    if columns or question.operations or question.chart:
        return None
    if question.filters and question.special != "describe":
        return 'print(table.head(100).to_string())\nprint(f"rows: {len(table)}")\n', (("rows", {}),)
    return _description(question.table)


def _statistics(columns: Sequence[Column], operations: Sequence[str]) -> _Answer:
    lines, sentences = "", []
    for number, column in enumerate(columns, start=1):
        for name in operations:
            lines += f'print(f"{name} {number}: {{table[{column.name!r}].{METHODS.get(name, name)}():.10g}}")\n'
            sentences.append(("statistic", {"operation": name, "column": column.name, "value": f"{{{name}_{number}}}"}))
    return lines, tuple(sentences)


def _correlation(x: Column, y: Column) -> _Answer:
    return CORRELATION.format(x=repr(x.name), y=repr(y.name)), (("correlation", {"x": x.name, "y": y.name}),)


def _counts(column: Column, chart: str) -> _Answer:
    kind = "pie" if chart == "pie" else "bar"
    drawing = f'counts.head(40).plot(kind="{kind}", figsize=(8, 4.5))\n{SHOW}' if chart else ""
    return COUNTS.format(column=repr(column.name)) + drawing, (("counts", {"column": column.name}),)


def _distribution(question: Question) -> _Answer | None:
    if not question.columns or question.operations:
        return None
    names = [column.name for column in question.columns]
    drawing = f'table[{names!r}].plot(kind="box", figsize=(8, 4.5))\n'
    if question.chart == "histogram":
        drawing = "plt.figure(figsize=(8, 4.5))\n"
        drawing += "".join(
            f'plt.hist(table[{one!r}].dropna(), bins="auto", alpha=0.6, label={one!r})\n' for one in names
        )
        drawing += "plt.legend()\n"
    lines, sentences = _statistics(question.columns, ("count", "mean", "smallest", "largest"))
    return f"{drawing}{SHOW}{lines}", sentences


def _lines(question: Question) -> _Answer:
    names = [column.name for column in question.columns]
    lines, sentences = _statistics(question.columns, ("smallest", "largest"))
    return f"table[{names!r}].plot(figsize=(8, 4.5))\n{SHOW}{lines}", sentences


def _groups(question: Question) -> _Answer | None:
    """Return one value for each group, or for each date."""
    table, columns = question.table, question.columns
    operations = question.operations or (("sum",) if columns else ())
    if len(operations) != 1 or (question.group and question.grain) or question.chart in ("histogram", "box"):
        return None
    is_count = operations == ("count",) and not columns
    if not is_count and (len(columns) != 1 or columns[0].kind != "number"):
        return None
    key, code = question.group, ""
    if question.grain:
        key = first_of(table.columns, "date")
        years = [column for column in table.columns if is_time(column)]
        key = key or (years[0] if years and question.grain != "month" else None)
    if key is None:
        return None
    if key.kind == "date" and question.grain in ("month", "year"):
        code = f"table[{key.name!r}].dt.to_period({question.grain[0].upper()!r}).rename({question.grain!r})"
    measure = columns[0].name if columns else ""
    method = "size()" if is_count else f"{METHODS.get(operations[0], operations[0])}()"
    selected = "" if is_count else f"[{measure!r}]"
    result = f"result = table.groupby({code or repr(key.name)}){selected}.{method}\n"
    drawing = ""
    if question.chart or question.is_drawn or question.grain:
        kind = question.chart or ("line" if question.grain else "bar")
        drawing = f'result.plot(kind="{kind}", figsize=(8, 4.5), ylabel={measure or "rows"!r})\n{SHOW}'
    facts = {"operation": operations[0], "measure": measure, "group": question.grain if code else key.name}
    return result + GROUPS + drawing, (("groups", facts),)


def _ranking(question: Question) -> _Answer | None:
    """Return the rows with the largest or the smallest values, or the groups."""
    numbers = numbers_of(question.columns)
    labels = [column for column in (*question.columns, question.group) if column and column.kind == "text"]
    if (
        len(numbers) != 1
        or len(labels) > 1
        or set(question.operations) - {"largest", "smallest", "sum"}
        or question.grain
    ):
        return None
    method, count, measure = "nlargest" if question.top > 0 else "nsmallest", abs(question.top), numbers[0].name
    body = f"result = table.{method}({count}, {measure!r})\n"
    first = f"result.iloc[0][{labels[0].name!r}]" if labels else f"result.iloc[0][{measure!r}]:.10g"
    if labels and not labels[0].is_unique:
        body = f"result = table.groupby({labels[0].name!r})[{measure!r}].sum().{method}({count})\n"
        first = "result.index[0]"
    drawing = ""
    if question.chart or question.is_drawn:
        if not labels or question.chart not in ("", "bar", "pie"):
            return None
        plotted = "result" if not labels[0].is_unique else f"result.set_index({labels[0].name!r})[{measure!r}]"
        drawing = f'{plotted}.plot(kind="{question.chart or "bar"}", figsize=(8, 4.5))\n{SHOW}'
    body += f'print(result.to_string())\nprint(f"first: {{{first}}}")\n{drawing}'
    return body, (("ranking", {"column": measure, "number": str(count)}),)


def _extreme(question: Question) -> _Answer | None:
    """Return which row or group has the largest or the smallest value."""
    numbers = numbers_of(question.columns)
    labels = [column for column in question.columns if column.kind != "number"]
    extremes = [name for name in question.operations if name in ("largest", "smallest")]
    rest = [name for name in question.operations if name in ("sum", "mean")]
    if len(numbers) != 1 or len(labels) != 1 or len(extremes) != 1 or len(rest) + 1 != len(question.operations):
        return None
    if not labels[0].is_unique and not rest:
        return None
    asked = replace(question, columns=(numbers[0],), group=labels[0], operations=tuple(rest) or ("sum",), special="")
    return _groups(asked)


def _description(table: Table) -> _Answer:
    """Return an overview of the table, with a graph of its numbers."""
    numbers, date, label = (
        numbers_of(table.columns)[:6],
        first_of(table.columns, "date"),
        first_of(table.columns, "text"),
    )
    sentences: list[tuple[str, dict[str, str]]] = [("describe", {})]
    body = DESCRIBE
    if numbers:
        names = [column.name for column in numbers]
        is_named = label is not None and label.is_unique and len(label.values) <= 30
        index = date.name if date else label.name if label and is_named else ""
        indexed = f"table.set_index({index!r})" if index else "table"
        ordered = ".sort_index()" if date else ""
        kind = "bar" if is_named and not date else "line"
        body += f'{indexed}[{names!r}]{ordered}.plot(kind="{kind}", figsize=(8, 4.5))\n{SHOW}'
        body += f'print(f"mean: {{table[{names[-1]!r}].mean():.10g}}")\n'
        body += f'print(f"largest: {{table[{names[-1]!r}].max():.10g}}")\n'
        sentences.append(("last_number", {"column": names[-1]}))
    body += 'print(f"rows: {len(table)}")\nprint(f"columns: {len(table.columns)}")\n'
    return body, tuple(sentences)
