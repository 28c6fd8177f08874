"""Runs inside a kernel: finds tables in JSON lists, whose rows are objects, lists or single values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple, TypeGuard

from chat.python.kernels.in_kernel.table_grid import kind_of
from chat.python.kernels.in_kernel.table_source import COLUMNS_LIMIT, columns_of, is_present

HEADER_ROWS = 1000
"""Number of rows that are examined to decide whether the first row has the names."""
PARTS_LIMIT = 20
"""Maximum number of columns into which a column of objects is split."""
KEYS_LIMIT_CHARS = 2000
"""Maximum length of all names in one list of names in `Source.code`, see `literal_of`."""


class JsonForm(NamedTuple):
    """A table in a JSON value."""

    names: Sequence[str]
    row_count: int
    columns: Callable[[int], Sequence[Sequence[object]]]
    """Function that returns the cells of the first `COLUMNS_LIMIT` columns, for a given number of first rows."""
    code: Callable[[str], str]
    """Function that returns the pandas expression for the table, from the expression for the JSON value; empty if there
    is none."""
    notes: Sequence[str] = ()
    header_rows: int | None = None
    """Number of rows that hold the names, if the rows are lists; `None` otherwise."""
    header_candidates: Sequence[int] = ()
    is_series: bool = False
    """Whether each row is a single value. Such a list beside other data may not be a table."""


def list_form(items: list[object], header_rows: int | None) -> JsonForm | None:
    """Return the table in a list; `None` if the list is not a table.

    `header_rows`: the number that a person has chosen. If most items are objects, or most are lists, the other items
    are left out and counted in a note.
    """
    objects, lists = sum(isinstance(item, dict) for item in items), sum(isinstance(item, list) for item in items)
    nulls = items.count(None)
    present = len(items) - nulls
    if present and not objects + lists:
        return scalars_form(items)
    notes = describe_left_out(nulls, present - max(objects, lists))
    picked = "[row for row in {} if isinstance(row, KIND)]" if notes else "{}"
    form = None
    if 2 * objects > present:
        form = records_form([item for item in items if is_object(item)], picked.replace("KIND", "dict").format)
    elif 2 * lists > present:
        rows = [item for item in items if isinstance(item, list)]
        form = values_form(rows, header_rows, picked.replace("KIND", "list").format)
    return form and form._replace(notes=[*notes, *form.notes])


def is_object(value: object) -> TypeGuard[dict[str, object]]:
    """Return whether a value is a JSON object."""
    return isinstance(value, dict)


def describe_left_out(nulls: int, others: int) -> list[str]:
    """Return a list with a note about items that are not rows; an empty list if there are none."""
    parts = [f"{nulls:,} null"] if nulls else []
    parts += [f"{others:,} of another type"] if others else []
    return [f"Items of the list that are no rows are left out: {', '.join(parts)}."] if parts else []


def records_form(
    records: Sequence[dict[str, object]], code: Callable[[str], str], notes: Sequence[str] = ()
) -> JsonForm | None:
    """Return the table whose rows are objects; `None` if they have no names.

    If all cells of a column are small objects, it is split into columns such as `address.city`. `code`: function that
    returns the expression for the rows, from the expression for the value.
    """
    nested = nested_parts(records)
    if nested:
        flat = [flatten(record, nested) for record in records]
        has_null = [name for name in nested if any(record.get(name, 0) is None for record in records)]
        names = list(dict.fromkeys(name for record in flat for name in record))
        drop = f".drop(columns={literal_of(has_null)})" if has_null else ""
        which = "”, “".join(name[:40] for name in list(nested)[:2]) + ("”, …" if len(nested) > 2 else "”")
        return JsonForm(
            names,
            len(flat),
            lambda limit: cells_of(flat, names, limit),
            lambda value: f"pd.json_normalize({code(value)}, max_level=1){drop}",
            [*notes, f"The objects in “{which} are read as columns of their own, such as “{joined_name(nested)}”."],
        )
    names = list(dict.fromkeys(name for record in records for name in record))
    if not names:
        return None
    return JsonForm(
        names,
        len(records),
        lambda limit: cells_of(records, names, limit),
        lambda value: f"pd.DataFrame({code(value)})",
        notes,
    )


def cells_of(records: Sequence[Mapping[str, object]], names: Sequence[str], limit: int) -> list[list[object]]:
    """Return the cells of the first columns, in the first `limit` rows."""
    return [[record.get(name) for record in islice(records, limit)] for name in names[:COLUMNS_LIMIT]]


def nested_parts(records: Sequence[Mapping[str, object]]) -> dict[str, list[str]]:
    """Return the inner names of each column of objects; empty if one of these columns must not be split."""
    parts: dict[str, dict[str, None]] = {}
    names: set[str] = set()
    for record in records:
        names.update(record)
        for name, cell in record.items():
            if isinstance(cell, dict):
                parts.setdefault(name, {}).update(dict.fromkeys(cell))
    for name, keys in parts.items():
        cells = [record[name] for record in records if record.get(name) is not None]
        is_small = len(keys) <= PARTS_LIMIT and all(isinstance(cell, dict) and cell for cell in cells)
        values = (value for cell in cells if isinstance(cell, dict) for value in cell.values())
        if not is_small or all(isinstance(value, (dict, list)) for value in values):
            return {}
        if any(f"{name}.{key}" in names for key in keys):
            return {}
    return {name: list(keys) for name, keys in parts.items()}


def flatten(record: Mapping[str, object], nested: Mapping[str, object]) -> dict[str, object]:
    """Return the record with the values of its objects at the end, as `pandas.json_normalize` does."""
    flat = {name: cell for name, cell in record.items() if name not in nested}
    for name, cell in record.items():
        if name in nested and isinstance(cell, dict):
            flat.update({f"{name}.{key}": value for key, value in cell.items()})
    return flat


def joined_name(nested: Mapping[str, Sequence[str]]) -> str:
    """Return the first joined name, such as `address.city`."""
    name, keys = next(iter(nested.items()))
    return f"{name}.{keys[0]}"[:80]


def scalars_form(items: Sequence[object]) -> JsonForm:
    """Return the table with one column, whose cells are these values."""
    return JsonForm(
        ["value"],
        len(items),
        lambda limit: [items[:limit]],
        lambda value: f'pd.DataFrame({{"value": {value}}})',
        ["The JSON is a list of single values: they are the column “value”."],
        is_series=True,
    )


def values_form(rows: Sequence[list[object]], header_rows: int | None, code: Callable[[str], str]) -> JsonForm | None:
    """Return the table whose rows are lists.

    The first row has the names if that is certain, or if a person chose it.
    """
    if not any(rows):
        return None
    can_be_header = len({cell for cell in rows[0] if isinstance(cell, str) and cell.strip()}) == len(rows[0]) > 0
    count = int(can_be_header and has_values_below(rows)) if header_rows is None else min(header_rows, len(rows))
    cells = columns_of(rows[:count], max(map(len, rows)), None) if count else []
    names = [" ".join(str(cell).strip() for cell in column if is_present(cell)) for column in cells]
    part = f"[{count}:]" if count else ""
    note = "The first list has the names of the columns." if count else "The lists have no names of columns."
    form = rows_form(names, rows[count:], lambda value: f"{code(value)}{part}", [note])
    is_doubtful = can_be_header and not count and len(rows) > 1
    return form._replace(header_rows=count, header_candidates=[0, 1] if is_doubtful else [])


def has_values_below(rows: Sequence[Sequence[object]]) -> bool:
    """Return whether a column has values such as numbers below a text in its first row."""
    for name, column in zip(rows[0], columns_of(rows[1:HEADER_ROWS], len(rows[0]), None), strict=False):
        cells = [cell for cell in column if is_present(cell)]
        is_name = not any(isinstance(cell, str) for cell in cells) or kind_of(name) == "text"
        if cells and is_name and "text" not in set(map(kind_of, cells)):
            return True
    return False


def rows_form(
    names: Sequence[str], rows: Sequence[Sequence[object]], code: Callable[[str], str], notes: Sequence[str] = ()
) -> JsonForm:
    """Return the table whose rows are lists. Columns without a name are numbered. `code`: as for `records_form`."""
    width = max(len(names), max(map(len, rows), default=0))
    named = [name or f"column {number}" for number, name in enumerate([*names, *[""] * (width - len(names))], 1)]
    is_ragged = any(len(row) < width for row in rows)
    literal = literal_of(named)
    picked = f"[row + [None] * ({width} - len(row)) for row in {{}}]" if is_ragged else "{}"
    return JsonForm(
        named,
        len(rows),
        lambda limit: columns_of(rows[:limit], width, None),
        lambda value: f"pd.DataFrame({picked.format(code(value))}, columns={literal})" if literal else "",
        notes,
    )


def literal_of(names: Iterable[str]) -> str:
    """Return the list of names as Python source; empty if it is too long."""
    names = list(names)
    is_long = sum(map(len, names)) + 4 * len(names) > KEYS_LIMIT_CHARS
    return "" if is_long else f"[{', '.join(map(key_literal, names))}]"


def key_literal(key: str) -> str:
    """Return a text as Python source, in which neither `NAME` nor `MORE` occurs: see `Source.code`."""
    literal = ascii(key)
    if '"' not in literal and literal[0] == "'":
        literal = f'"{literal[1:-1]}"'
    return literal.replace("NAME", "\\x4eAME").replace("MORE", "\\x4dORE")


def free_name(name: str, names: Iterable[str]) -> str:
    """Return the name, with underscores before it if `names` has it already."""
    taken = set(names)
    while name in taken:
        name = f"_{name}"
    return name


def is_range(labels: Sequence[object]) -> bool:
    """Return whether labels only count the rows from 0 on. Labels may be texts, because JSON keys are."""
    return all(str(label) == str(number) for number, label in enumerate(labels))
