"""Runs inside a kernel: finds tables in JSON objects, such as those that pandas writes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from chat.python.kernels.in_kernel.table_json_forms import (
    JsonForm,
    free_name,
    is_object,
    is_range,
    key_literal,
    list_form,
    records_form,
    rows_form,
)
from chat.python.kernels.in_kernel.table_source import COLUMNS_LIMIT

HEADER_KEYS = ("columns", "column_names", "header", "headers", "fields", "names")
ROWS_KEYS = ("data", "rows", "values", "records", "results", "result")
SERIES_LENGTH = 10
"""Minimum length of a list of single values that is a table even beside other data."""
KINDS_LIMIT = 1000
"""Number of cells that are examined to decide whether a column has one type."""
LABEL = re.compile(r"-?\d+(\.\d+)?|\d{4}-\d\d(-\d\d.{0,30})?")
"""A row label: a number or a date."""
ROWS_NOTE = "Each key of the JSON object is a row"


def find_form(value: object, header_rows: int | None) -> JsonForm | None:
    """Return the table that the value itself is, not one inside it; `None` if it is not a table.

    `header_rows`: the number that a person has chosen.
    """
    if isinstance(value, list):
        return list_form(value, header_rows)
    if not is_object(value) or not value:
        return None
    return (
        geo_form(value)
        or split_form(value)
        or schema_form(value)
        or lists_form(value)
        or objects_form(value)
        or series_form(value)
    )


def geo_form(value: Mapping[str, object]) -> JsonForm | None:
    """Return the table of a GeoJSON collection: geometry types, coordinates of points, and properties."""
    features = value.get("features")
    if value.get("type") != "FeatureCollection" or not isinstance(features, list) or not features:
        return None
    if not all(map(is_object, features)):
        return None
    kinds = {feature["geometry"].get("type") for feature in features if is_object(feature.get("geometry"))}
    added = {"id": 'row.get("id")'} if any("id" in feature for feature in features) else {}
    added["geometry"] = '(row.get("geometry") or {}).get("type")'
    if kinds == {"Point"}:
        place = '((row.get("geometry") or {}).get("coordinates") or [None, None])'
        added |= {"longitude": f"{place}[0]", "latitude": f"{place}[1]"}
    parts = ", ".join(f'"{name}": {code}' for name, code in added.items())
    return records_form(
        [geo_record(feature, added) for feature in features],
        lambda code: f'[{{{parts}, **(row.get("properties") or {{}})}} for row in {code}["features"]]',
        ["The file is GeoJSON: each feature is a row."],
    )


def geo_record(feature: Mapping[str, object], names: Iterable[str]) -> dict[str, object]:
    """Return the values of a GeoJSON feature for these columns, and its properties."""
    geometry, properties = feature.get("geometry"), feature.get("properties")
    geometry = geometry if is_object(geometry) else {}
    place = geometry.get("coordinates")
    longitude, latitude = place[:2] if isinstance(place, list) and len(place) > 1 else (None, None)
    found = {"id": feature.get("id"), "geometry": geometry.get("type"), "longitude": longitude, "latitude": latitude}
    return {name: found[name] for name in names} | (properties if is_object(properties) else {})


def split_form(value: Mapping[str, object]) -> JsonForm | None:
    """Return the table in an object with a list of names and a list of rows, such as pandas' form `split`."""
    header_key = next((key for key in HEADER_KEYS if isinstance(value.get(key), list)), None)
    rows_key = next((key for key in ROWS_KEYS if isinstance(value.get(key), list)), None)
    if header_key is None or rows_key is None:
        return None
    header, rows = value[header_key], value[rows_key]
    if not isinstance(header, list) or not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        return None
    names = [str(name.get("name", "")) if is_object(name) else joined(name) for name in header]
    if not names or max(map(len, rows), default=0) > len(names):
        return None
    index = value.get("index")
    if not isinstance(index, list) or len(index) != len(rows) or is_range(index):
        return rows_form(names, rows, lambda code: f"{code}[{key_literal(rows_key)}]")
    name = free_name("index", names)
    form = rows_form(
        [name, *names],
        [[label, *row] for label, row in zip(index, rows, strict=True)],
        lambda _: "",
        [labels_note(name)],
    )
    if any(isinstance(part, list) for part in header):
        return form._replace(code=lambda _: "")
    picked = 'if key in ("index", "columns", "data")'
    return form._replace(
        code=lambda code: (
            f"pd.DataFrame(**{{key: part for key, part in {code}.items() {picked}}}).reset_index(names={name!r})"
        )
    )


def joined(name: object) -> str:
    """Return the name of a column as one text. pandas writes a name of several levels as a list."""
    return " / ".join(map(str, name)) if isinstance(name, list) else str(name)


def schema_form(value: Mapping[str, object]) -> JsonForm | None:
    """Return the table in pandas' form `table`: an object with `schema` and `data`."""
    schema, rows = value.get("schema"), value.get("data")
    if not is_object(schema) or "fields" not in schema or not isinstance(rows, list) or not all(map(is_object, rows)):
        return None
    if rows and all("index" in row for row in rows) and is_range([row["index"] for row in rows]):
        rows = [{name: cell for name, cell in row.items() if name != "index"} for row in rows]
        without = '{key: cell for key, cell in row.items() if key != "index"}'
        return records_form(rows, lambda code: f'[{without} for row in {code}["data"]]')
    return records_form(rows, lambda code: f'{code}["data"]')


def lists_form(value: Mapping[str, object]) -> JsonForm | None:
    """Return the table whose columns are lists of the same length. At least one cell must be a single value."""
    lists = {name: cells for name, cells in value.items() if isinstance(cells, list)}
    lengths = {len(cells) for cells in lists.values()}
    rest = [name for name in value if name not in lists]
    if len(lists) < 2 or len(lengths) != 1 or lengths == {0}:
        return None
    length = lengths.pop()
    if rest and (length < SERIES_LENGTH or any(isinstance(value[name], dict) for name in rest)):
        return None
    if all(isinstance(cell, (dict, list)) for cells in lists.values() for cell in cells):
        return None
    columns = list(lists.values())[:COLUMNS_LIMIT]
    listed = ", ".join(f"“{name[:40]}”" for name in rest[:5]) + (", …" if len(rest) > 5 else "")
    picked = "{{key: cells for key, cells in {}.items() if isinstance(cells, list)}}" if rest else "{}"
    return JsonForm(
        list(lists),
        length,
        lambda limit: [cells[:limit] for cells in columns],
        lambda code: f"pd.DataFrame({picked.format(code)})",
        [f"The keys of the JSON object with lists are the columns; left out: {listed}."] if rest else [],
    )


def objects_form(value: Mapping[str, object]) -> JsonForm | None:
    """Return the table in an object of objects.

    Each inner object is a column, as pandas writes by default, or a row.
    """
    objects = {name: inner for name, inner in value.items() if is_object(inner) and inner}
    if len(objects) < len(value):
        return None
    inners = list(objects.values())
    if all(inner.keys() == inners[0].keys() for inner in inners) and are_columns(list(objects), inners):
        return by_columns_form(objects, list(inners[0]))
    names = {name for inner in inners for name in inner}
    is_similar = 2 * sum(map(len, inners)) > len(inners) * len(names)
    if len(inners) < 2 or not is_similar or any(map(has_records, inners)):
        return None
    if is_range(list(objects)):
        return records_form(inners, lambda code: f"list({code}.values())", [f"{ROWS_NOTE}."])
    key = free_name("key", names)
    return records_form(
        [{key: label, **inner} for label, inner in objects.items()],
        lambda code: f'[{{"{key}": key, **row}} for key, row in {code}.items()]',
        [f"{ROWS_NOTE}; the keys are the first column."],
    )


def by_columns_form(objects: Mapping[str, Mapping[str, object]], labels: Sequence[str]) -> JsonForm:
    """Return the table whose columns are these objects. Each has the same row labels as keys."""
    note = "Each key of the JSON object is a column."
    columns = list(islice(objects.values(), COLUMNS_LIMIT))
    form = JsonForm(
        list(objects),
        len(labels),
        lambda limit: [[column[label] for label in labels[:limit]] for column in columns],
        lambda code: f"pd.DataFrame({code})",
        [note],
    )
    if is_range(labels):
        return form
    name = free_name("index", objects)
    return JsonForm(
        [name, *objects],
        len(labels),
        lambda limit: [labels[:limit], *form.columns(limit)][:COLUMNS_LIMIT],
        lambda code: f"pd.DataFrame({code}).reset_index(names={name!r})",
        [note, labels_note(name)],
    )


def labels_note(name: str) -> str:
    """Return the note about row labels that are read as a column."""
    return f"The labels of the rows are the column “{name}”."


def are_columns(names: Sequence[str], inners: Sequence[Mapping[str, object]]) -> bool:
    """Return whether objects with the same keys are columns rather than rows."""
    labels = list(inners[0])
    if is_range(labels):
        return True
    if is_range(names) or len(names) < 2:
        return False
    by_column = all(has_one_kind(inner.values()) for inner in inners[:COLUMNS_LIMIT])
    by_row = all(has_one_kind(inner[label] for inner in inners) for label in labels[:COLUMNS_LIMIT])
    if by_column != by_row:
        return by_column
    are_labels, are_names_labels = (all(map(LABEL.fullmatch, keys)) for keys in (labels, names))
    if are_labels != are_names_labels:
        return are_labels
    # Tables with many more columns than rows are rare.
    return len(labels) > 20 and len(labels) > 3 * len(names)


def has_one_kind(cells: Iterable[object]) -> bool:
    """Return whether the first cells have one type, apart from null. Integers and floats count as one type."""
    kinds = {type(cell) for cell in islice(cells, KINDS_LIMIT) if cell is not None}
    return len({float if kind is int else kind for kind in kinds}) < 2


def has_records(value: Mapping[str, object]) -> bool:
    """Return whether an object holds a list of several items that begins with an object: it may be the table."""
    return any(isinstance(cells, list) and len(cells) > 1 and is_object(cells[0]) for cells in value.values())


def series_form(value: Mapping[str, object]) -> JsonForm | None:
    """Return the table of the keys and values of an object.

    Its values are single values. It is a table only if its keys are row labels or it has many keys.
    """
    if len(value) < 2 or any(isinstance(cell, (dict, list)) for cell in value.values()):
        return None
    if len(value) <= COLUMNS_LIMIT and not all(map(LABEL.fullmatch, value)):
        return None
    return JsonForm(
        ["key", "value"],
        len(value),
        lambda limit: [list(islice(value, limit)), list(islice(value.values(), limit))],
        lambda code: f'pd.DataFrame({code}.items(), columns=["key", "value"])',
        [f"{ROWS_NOTE}."],
        is_series=True,
    )
