"""Checks the code that a kernel proposes for reading a table. Pure.

The code comes from a kernel that a hostile file may have taken over. People copy it into programs of their own, and
models and the demo model run it. So the code must have one of the forms that the readers in `in_kernel` write, and
open no other file. Code of any other form is dropped.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

from chat.vocabulary.file_labels import file_labels

CODE_LIMIT_CHARS = 4_000
FORMS_LIMIT = 20
"""Maximum number of nested forms, such as successive calls of methods."""
INTEGER_LIMIT = 2**25
"""Maximum of integers in the code. No file has so many rows or columns."""
WIDTH_LIMIT = 1_000
OPTIONS = frozenset(
    {
        *("coerce_int96_timestamp_unit", "columns", "comment", "convert_dates"),
        *("date_format", "decimal", "dtype", "dtype_backend"),
        *("encoding", "engine", "escapechar", "header", "how", "ignore_index", "index_col", "keep_default_na"),
        *("lines", "max_level", "na_values", "names", "nrows", "orient", "parse_dates", "quotechar"),
        *("quoting", "sep", "sheet_name", "skipfooter", "skipinitialspace", "skiprows", "thousands", "usecols"),
    }
)
"""Arguments of pandas whose values are literals. None of them names a file, an address or a function."""

_READ_LINE = "json.loads(line)", 'json.loads(line.strip().rstrip(","))'
_LINES = 'open(FILE, encoding="utf-8", newline="\\n")'
_GEOMETRY = '"geometry": (row.get("geometry") or {}).get("type")'
_PLACE = '((row.get("geometry") or {}).get("coordinates") or [None, None])'
_POINT = f'"longitude": {_PLACE}[0], "latitude": {_PLACE}[1]'
_FORMS = (
    *(f"pd.read_{kind}(FILE, **OPTIONS)" for kind in ("csv", "excel", "feather", "fwf", "json", "parquet", "stata")),
    'json.load(open(FILE, encoding="utf-8"))',
    *(f"[{read} for line in {_LINES} if line.strip()]" for read in _READ_LINE),
    *(
        f"[{read} for number, line in enumerate({_LINES}, 1) if number not in LITERAL and line.strip()]"
        for read in _READ_LINE
    ),
    "VALUE[TEXT]",
    "VALUE[NUMBER]",
    "VALUE[NUMBER:]",
    "[VALUE]",
    "VALUE.items()",
    "list(VALUE.values())",
    '{"value": VALUE}',
    "[row for row in VALUE if isinstance(row, dict)]",
    "[row for row in VALUE if isinstance(row, list)]",
    "[row + [None] * (WIDTH - len(row)) for row in VALUE]",
    "{key: cells for key, cells in VALUE.items() if isinstance(cells, list)}",
    '[{key: cell for key, cell in row.items() if key != "index"} for row in VALUE]',
    "[{TEXT: key, **row} for key, row in VALUE.items()]",
    *(
        f'[{{{", ".join(filter(None, (key, _GEOMETRY, point)))}, **(row.get("properties") or {{}})}} for row in VALUE]'
        for key in ("", '"id": row.get("id")')
        for point in ("", _POINT)
    ),
    'pd.DataFrame(**{key: part for key, part in VALUE.items() if key in ("index", "columns", "data")})',
    "pd.DataFrame(VALUE, **OPTIONS)",
    "pd.json_normalize(VALUE, **OPTIONS)",
    "VALUE.astype(LITERAL)",
    "VALUE.assign(**{TEXT: lambda table: table[TEXT].ffill()})",
    "VALUE.dropna(**OPTIONS)",
    "VALUE.drop(**OPTIONS)",
    "VALUE.reindex(**OPTIONS)",
    "VALUE.reset_index(**OPTIONS)",
)
"""The expressions that the readers write. A name in capitals is a placeholder: `_is_fitting` says what may replace it.

Each form has one `FILE` or one `VALUE`. `VALUE` is replaced by another expression of these forms.
"""
_LITERALS = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Starred, ast.UnaryOp, ast.USub, ast.Load)


def guard_code(code: str, name: str | None, label: str | None = None) -> str:
    """Return the code on one line if a reader could have written it for a file of this name; else an empty text.

    `name`: `None` for any name that a file in a kernel can have. `label`: another name that replaces it in the
    returned code, if any.
    """
    if len(code) > CODE_LIMIT_CHARS:
        return ""
    try:
        tree = ast.parse(code, mode="eval")
        file = _find_file(tree.body)
        if file is None or not _is_file_name(file.value, name):
            return ""
        file.value = file.value if label is None else label
        # This removes comments, which could contain any text: they are not in the tree.
        guarded = ast.unparse(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    return guarded if len(guarded) <= CODE_LIMIT_CHARS else ""


def _is_file_name(value: object, name: str | None) -> bool:
    """Return whether a constant is this name, or any name of a file in the working directory of a kernel."""
    return value == name if name is not None else isinstance(value, str) and file_labels([value]) == [value]


def _find_file(node: ast.AST) -> ast.Constant | None:
    """Return the constant with the name of the file that an expression of these forms reads; else `None`."""
    for _ in range(FORMS_LIMIT):
        found = next((found for form in _parsed_forms() if (found := _match(form, node))), None)
        if found is None:
            return None
        name, node = found
        if name == "FILE":
            return node if isinstance(node, ast.Constant) else None
    return None


@cache
def _parsed_forms() -> tuple[ast.expr, ...]:
    return tuple(ast.parse(form, mode="eval").body for form in _FORMS)


def _match(form: ast.AST, node: ast.AST) -> tuple[str, ast.AST] | None:
    """Return `FILE` or `VALUE`, and the node in its place; `None` if the node does not have this form."""
    places = list(_compare(form, node))
    is_fitting = all(_is_fitting(name, one) for name, one in places)
    return next((place for place in places if place[0] in ("FILE", "VALUE")), None) if is_fitting else None


def _compare(form: object, node: object) -> Iterator[tuple[str, ast.AST]]:
    """Yield each placeholder of a form with the node in its place, and `DIFFERENT` for each other difference."""
    if isinstance(form, ast.Name) and form.id.isupper() and isinstance(node, ast.AST):
        yield form.id, node
    elif isinstance(form, list) and isinstance(node, list):
        has_options = bool(form) and isinstance(form[-1], ast.keyword) and _name_of(form[-1].value) == "OPTIONS"
        form, rest = (form[:-1], node[len(form) - 1 :]) if has_options else (form, node[len(form) :])
        for one in rest:
            yield "OPTIONS" if has_options else "DIFFERENT", one
        for one, other in zip(form, node, strict=False):
            yield from _compare(one, other)
        yield from [("DIFFERENT", ast.Load())] * (len(form) > len(node))
    elif isinstance(form, ast.AST) and type(form) is type(node):
        for field in form._fields:
            yield from _compare(getattr(form, field), getattr(node, field))
    elif type(form) is not type(node) or form != node:
        yield "DIFFERENT", ast.Load()


def _name_of(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _is_fitting(name: str, node: ast.AST) -> bool:
    """Return whether a node may replace the placeholder of this name."""
    match name:
        case "FILE" | "VALUE":
            return True
        case "OPTIONS":
            return isinstance(node, ast.keyword) and node.arg in OPTIONS and _is_literal(node.value)
        case "LITERAL":
            return _is_literal(node)
        case "TEXT":
            return isinstance(node, ast.Constant) and isinstance(node.value, str)
        case "NUMBER" | "WIDTH":
            limit = INTEGER_LIMIT if name == "NUMBER" else WIDTH_LIMIT
            return isinstance(node, ast.Constant) and type(node.value) is int and node.value <= limit
    return False


def _is_literal(node: ast.AST) -> bool:
    """Return whether a node is a constant, or a list, tuple or dictionary of constants. `range(...)` counts as one."""
    nodes = [node]
    while nodes:
        one = nodes.pop()
        if isinstance(one, ast.Call):
            if _name_of(one.func) != "range" or one.keywords:
                return False
            nodes += one.args
            continue
        is_large = isinstance(one, ast.Constant) and isinstance(one.value, int) and one.value > INTEGER_LIMIT
        if not isinstance(one, _LITERALS) or is_large or (isinstance(one, ast.UnaryOp) and not _is_negative(one)):
            return False
        nodes += ast.iter_child_nodes(one)
    return True


def _is_negative(node: ast.UnaryOp) -> bool:
    return isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant)
