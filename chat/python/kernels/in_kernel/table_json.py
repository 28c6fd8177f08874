"""Runs inside a kernel: reads the table in a JSON file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chat.python.kernels.in_kernel.table_json_forms import JsonForm, is_object, key_literal, list_form, records_form
from chat.python.kernels.in_kernel.table_json_objects import SERIES_LENGTH, find_form
from chat.python.kernels.in_kernel.table_json_text import ParsedJson, parse_json_text
from chat.python.kernels.in_kernel.table_source import (
    CELLS_LIMIT,
    COLUMNS_LIMIT,
    Choices,
    Source,
    Unreadable,
    duplicates_in,
)

PATH_LIMIT_CHARS = 80
"""Maximum length of a path that can be chosen, or shown in full."""
PATHS_LIMIT = 20
PLACES_LIMIT = 1000
"""Maximum number of objects and lists that are searched for a table."""
CODE_LIMIT_CHARS = 4000
ONE_ROW = "The JSON holds no list of rows: the object is one row."


def read_json_file(data: bytes, suffix: str, choices: Choices) -> Source:
    """Return the table in a JSON file in UTF-8, which may hold several values. Raises Unreadable if it has no table.

    `suffix`: of the file's name.
    """
    text = data.decode(errors="replace")
    if not text.strip():
        raise Unreadable("it is empty.")
    parsed = find_inner_list(parse_json_text(text, suffix))
    tables = find_tables(parsed, choices)
    keys, form = tables[0]
    column_count = len(form.names)
    limit = max(1, CELLS_LIMIT // max(1, min(column_count, COLUMNS_LIMIT)))
    columns = form.columns(limit)
    reading, candidates = find_choices(tables)
    return Source(
        format="JSON lines" if parsed.is_lines else "JSON",
        names=form.names[:COLUMNS_LIMIT],
        columns=columns,
        row_count=form.row_count,
        column_count=column_count,
        reading=reading,
        candidates=candidates,
        code=find_code(parsed, keys, form),
        duplicate_rows=duplicates_in(zip(*columns, strict=True)) if 1 < column_count <= COLUMNS_LIMIT else 0,
        notes=[*parsed.notes, *describe_tables(tables), *form.notes],
    )


def find_inner_list(parsed: ParsedJson) -> ParsedJson:
    """If the value is a list of objects and one list of rows, return the list of rows; else return `parsed`.

    An example is `[{"page": 1}, [{…}, {…}]]`.
    """
    items = parsed.value if isinstance(parsed.value, list) and not parsed.is_lines else []
    [(number, inner), *more] = [(n, item) for n, item in enumerate(items) if not is_object(item)] or [(0, None)]
    if (
        more
        or not isinstance(inner, list)
        or not 1 < len(items) <= max(2, len(inner))
        or list_form(inner, None) is None
    ):
        return parsed
    note = f"The rows are in item {number + 1} of the JSON; the other items are left out."
    code = f"{parsed.code}[{number}]" if parsed.code else ""
    return parsed._replace(value=inner, code=code, notes=[*parsed.notes, note])


def find_choices(tables: Sequence[Table]) -> tuple[Choices, dict[str, Sequence[object]]]:
    """Return how the first table is read, and what else can be chosen."""
    keys, form = tables[0]
    path = ".".join(keys)
    reading: Choices = {"path": path} if path and len(path) <= PATH_LIMIT_CHARS else {}
    candidates: dict[str, Sequence[object]] = {}
    if len(paths := [path for path, _ in map(describe_place, tables) if len(path) <= PATH_LIMIT_CHARS]) > 1:
        candidates["path"] = paths[:PATHS_LIMIT]
    if form.header_rows is not None:
        reading["header_rows"] = form.header_rows
    if form.header_candidates:
        candidates["header_rows"] = form.header_candidates
    return reading, candidates


Table = tuple[list[str], JsonForm]
"""The keys that lead to a table, and the table."""


def find_tables(parsed: ParsedJson, choices: Choices) -> list[Table]:
    """Return the tables in a value, the chosen or largest one first. Raises Unreadable if there is none."""
    value, header_rows, path = parsed.value, choices.get("header_rows"), choices.get("path")
    if parsed.is_lines and (form := find_form(value, header_rows)):
        return [([], form)]
    tables = [([], form)] if (form := find_form(value, header_rows)) else list(tables_below(value, header_rows))
    if any(not form.is_series for _, form in tables):
        tables = [(keys, form) for keys, form in tables if not form.is_series]
    tables.sort(key=lambda table: -table[1].row_count)
    if path:
        keys, chosen = resolve_path(value, path)
        if form := find_form(chosen, header_rows):
            return [(keys, form), *(table for table in tables if table[0] != keys)]
        below = [([*keys, *more], form) for more, form in tables_below(chosen, header_rows)]
        if not below:
            raise Unreadable(f"its JSON holds no list of rows at “{path}”.")
        tables = below
    if not tables and is_object(value) and (form := records_form([value], "[{}]".format, [ONE_ROW])):
        tables = [([], form)]
    if not tables:
        raise Unreadable("its JSON holds no list of rows with a value.")
    return tables


def tables_below(value: object, header_rows: int | None) -> Iterator[Table]:
    """Yield the tables below the keys of an object, at any depth. The items of lists are not searched."""
    objects: list[tuple[list[str], object]] = [([], value)]
    tried = 0
    while objects:
        keys, node = objects.pop()
        if not is_object(node):
            continue
        for key, inner in node.items():
            if not isinstance(inner, (dict, list)):
                continue
            tried += 1
            if tried > PLACES_LIMIT:
                return
            form = find_form(inner, header_rows)
            if form is None:
                objects.append(([*keys, key], inner))
            elif not form.is_series or form.row_count >= SERIES_LENGTH or len(node) == 1:
                yield [*keys, key], form


def resolve_path(value: object, path: str) -> tuple[list[str], object]:
    """Return the keys of a path and the value there. A key may hold points.

    Raises Unreadable if the path does not exist.
    """
    keys: list[str] = []
    rest = path.split(".")
    while rest:
        lengths = range(len(rest), 0, -1) if is_object(value) else ()
        length = next((length for length in lengths if is_object(value) and ".".join(rest[:length]) in value), 0)
        if not length or not is_object(value):
            raise Unreadable(f"its JSON has no “{path}”. Choose another path.")
        keys.append(".".join(rest[:length]))
        value, rest = value[keys[-1]], rest[length:]
    return keys, value


def describe_place(table: Table) -> tuple[str, str]:
    """Return the path of a table, and a text with its number of rows."""
    path, count = ".".join(table[0]), table[1].row_count
    shown = path if len(path) <= PATH_LIMIT_CHARS else f"{path[: PATH_LIMIT_CHARS - 1]}…"
    return path, f"“{shown}” ({count:,} row{'' if count == 1 else 's'})"


def describe_tables(tables: Sequence[Table]) -> list[str]:
    """Return notes about the path of the table and the paths of other tables."""
    places = [place for path, place in map(describe_place, tables[:6]) if path]
    if not tables[0][0]:
        return []
    notes = [f"The rows are in {places[0].rpartition(' (')[0]} of the JSON."]
    if len(tables) > 1:
        more = ", …" if len(tables) > len(places) else ""
        notes.append(
            f"The JSON holds {len(tables) - 1:,} more table{'s' if len(tables) > 2 else ''}: "
            f"{', '.join(places[1:])}{more}."
        )
    return notes


def find_code(parsed: ParsedJson, keys: Sequence[str], form: JsonForm) -> str:
    """Return an expression that reads the table with pandas; empty if there is none, or if it would be too long."""
    if not parsed.code:
        return ""
    code = form.code(parsed.code + "".join(f"[{key_literal(key)}]" for key in keys))
    return code if len(code) <= CODE_LIMIT_CHARS else ""
