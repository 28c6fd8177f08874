"""Reads the literals of Python code as tables: lists of rows, dictionaries of columns or rows, lists of equal length,
and comma-separated texts. The code is parsed and not executed. Pure.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final, TypeAlias

from chat.messages.numbers.rows import Cell, Row, normal_label
from chat.messages.numbers.sources import GREATEST, SourceText, with_spaces, with_tabs
from chat.messages.numbers.tables import Table
from chat.vocabulary.code_syntax import parse_code

_ROWS_LIMIT: Final = 500
_DEPTH_LIMIT: Final = 8
"""Maximum depth of a literal. Without a limit, each level of a deep literal is read again for all levels around it."""
_LONG_TEXT: Final = re.compile(r"[a-zA-Z]?(?:\"{3}|'{3})")
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")

_Value: TypeAlias = "Cell | str | list[_Value] | dict[str, _Value] | None"
_Grid: TypeAlias = tuple[Sequence[str], Sequence[Sequence[_Value]]]
"""The names of columns, if they are known, and rows of values."""


def code_tables(source: SourceText) -> tuple[list[Table], str]:
    """Return the tables in the literals of code, and the code with spaces in place of all but its comma-separated
    texts. Both are empty if the code is long, or is not Python.
    """
    tree = parse_code(source.text)
    if tree is None:
        return [], ""
    literals = _Literals(source.text)
    tables = [table for names, rows in literals.grids(tree) if (table := _table(source, names, rows))]
    return tables, literals.texts()


def _table(source: SourceText, names: Sequence[str], rows: Sequence[Sequence[_Value]]) -> Table | None:
    """Return the table of a grid; `None` if the rows differ in length, or if a column has both texts and numbers."""
    if len(rows) < 2 or len({len(row) for row in rows}) > 1:
        return None
    columns = list(zip(*rows[:_ROWS_LIMIT], strict=True))
    kinds = [{type(value) for value in column} for column in columns]
    numbers = [n for n, kind in enumerate(kinds) if Cell in kind]
    if not numbers or any(kind not in ({Cell}, {str}) and not kind <= {Cell, type(None)} for kind in kinds):
        return None
    found: list[Row] = []
    for row in rows[:_ROWS_LIMIT]:
        texts = tuple(normal_label(value) for value in row if isinstance(value, str))
        cells = tuple(value if isinstance(value := row[n], Cell) else None for n in numbers)
        start = min((cell.start for cell in cells if cell), default=0)
        found.append(Row(start, " ".join(texts), cells, texts=texts))
    return Table(source, [names[n] for n in numbers] if len(names) == len(columns) else [], found)


def _grid(value: _Value, names: Sequence[str], *, is_frame: bool) -> _Grid:
    """Return a literal as a grid. `names`: the names of its columns. `is_frame`: it becomes a data frame."""
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    first = inner[0] if inner else None
    keys = first if isinstance(first, dict) else {}
    parts = [
        [one.get(key) for key in keys or one] if isinstance(one, dict) else one if isinstance(one, list) else [one]
        for one in inner
    ]
    if not isinstance(value, dict):
        return [*first] if isinstance(first, dict) else names, parts if isinstance(first, list | dict) else []
    if all(isinstance(row, list) for part in parts for row in part):
        nested = [[key, *row] for key, part in zip(value, parts, strict=True) for row in part if isinstance(row, list)]
        return [], nested
    has_texts = any(isinstance(one, str) for part in parts for one in part)
    if isinstance(first, list) and (is_frame or has_texts) and len({len(part) for part in parts}) == 1:
        return [*value], list(zip(*parts, strict=True))
    return ["", *first] if isinstance(first, dict) else [], [[key, *one] for key, one in zip(value, parts, strict=True)]


class _Literals:
    """Reads the literals of one code."""

    def __init__(self, text: str) -> None:
        self._text = text
        # Python also ends a line at a carriage return.
        self._lines = _LINE.findall(text)
        self._starts = [0, *accumulate(map(len, self._lines))]
        self._indexes: dict[int, list[int]] = {}
        """The index of the character of each byte, by lines that are not ASCII."""
        self._texts: list[tuple[int, int]] = []
        """The positions of texts with several lines."""

    def texts(self) -> str:
        """Return the code with tabs in the comma-separated texts that `grids` has found, and spaces around them."""
        parts: list[str] = []
        end = 0
        for start, next_end in sorted(self._texts):
            parts += [with_spaces(self._text[end:start]), with_tabs(self._text[start:next_end])]
            end = next_end
        return "".join([*parts, with_spaces(self._text[end:])]) if parts else ""

    def grids(self, tree: ast.AST) -> Iterator[_Grid]:
        """Yield the literals of a syntax tree that may be tables. A literal inside of a literal is part of it."""
        inner: set[ast.AST] = set()
        names: dict[ast.AST, list[str]] = {}
        lists: dict[int, dict[str, list[_Value]]] = defaultdict(dict)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and node.args and getattr(node.func, "attr", "") == "DataFrame":
                names[node.args[0]] = [self._key(name) for name in _columns(node)]
            if isinstance(node, ast.JoinedStr):
                # The parts of an f-string have the position of the whole f-string.
                inner.update(node.values)
            if isinstance(node, ast.Constant) and node not in inner:
                start, end = self._span(node)
                if quote := _LONG_TEXT.match(self._text, start):
                    self._texts.append((quote.end(), end - 3))
            target = node.targets[0] if isinstance(node, ast.Assign) else None
            literal = node.value if isinstance(node, ast.Assign) else node
            if node in inner or not isinstance(literal, ast.Dict | ast.List | ast.Tuple):
                continue
            try:
                value = self._value(literal, _DEPTH_LIMIT)
            except ValueError:
                continue
            inner.update(ast.walk(literal))
            if isinstance(target, ast.Name) and isinstance(value, list):
                lists[len(value)][target.id] = value
            yield _grid(value, names.get(literal, []), is_frame=literal in names)
        for columns in lists.values():
            # Without names of rows, such lists are often sizes and limits of axes.
            if any(isinstance(value, str) for some in columns.values() for value in some):
                yield [*columns], list(zip(*columns.values(), strict=True))

    def _key(self, node: ast.expr | None) -> str:
        """Return a key or a name; empty if it is no constant, or a number that is too great."""
        value = node.value if isinstance(node, ast.Constant) else ""
        return "" if isinstance(value, int) and abs(value) >= GREATEST else str(value)

    def _value(self, node: ast.expr, depth: int) -> _Value:
        """Return the value of a literal; `None` for a missing value or a truth value. Raise ValueError for any other
        expression, for a literal that is deeper than `depth`, and for a number that is too great.
        """
        if not depth:
            raise ValueError
        if isinstance(node, ast.Dict):
            return {
                self._key(key): self._value(one, depth - 1) for key, one in zip(node.keys, node.values, strict=True)
            }
        if isinstance(node, ast.List | ast.Tuple):
            return [self._value(one, depth - 1) for one in node.elts]
        is_negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
        constant = node.operand if isinstance(node, ast.UnaryOp) else node
        value = constant.value if isinstance(constant, ast.Constant) else None
        if isinstance(value, bool) or (isinstance(constant, ast.Constant) and value is None):
            return None
        if isinstance(value, str):
            return value
        if not isinstance(value, int | float):
            if isinstance(constant, ast.Attribute) and constant.attr == "nan":
                return None
            raise ValueError
        if not abs(value) < GREATEST:
            raise ValueError
        return Cell(*self._span(node), -float(value) if is_negative else float(value))

    def _span(self, node: ast.expr) -> tuple[int, int]:
        """Return the positions of the first character of an expression and of the one after it."""
        start = self._position(node.lineno, node.col_offset)
        return start, self._position(node.end_lineno or 1, node.end_col_offset or 0)

    def _position(self, number: int, column: int) -> int:
        """Return the position of a character. Syntax trees count the bytes of a line."""
        line, start = self._lines[number - 1], self._starts[number - 1]
        if line.isascii():
            return start + column
        if number not in self._indexes:
            self._indexes[number] = [n for n, character in enumerate(line) for _ in character.encode()] + [len(line)]
        return start + self._indexes[number][column]


def _columns(call: ast.Call) -> list[ast.expr]:
    """Return the names of columns in the arguments of a call."""
    found = next((one.value for one in call.keywords if one.arg == "columns"), None)
    return found.elts if isinstance(found, ast.List) else []
