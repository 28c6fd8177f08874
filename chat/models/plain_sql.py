"""Reads and writes rows with plain SQL, where people wait for the first part of an answer.

The ORM takes 0.3 to 0.7 ms to compile a statement, and the start of a turn runs a dozen statements. Here, the text of
each statement is put together, and its values are passed as parameters.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.models import AutoField, Model, UUIDField

M = TypeVar("M", bound=Model)

_CLOCKS = {"postgresql": "SELECT STATEMENT_TIMESTAMP()", "sqlite": "SELECT STRFTIME('%Y-%m-%d %H:%M:%f', 'NOW')"}
_UUIDS: UUIDField[uuid.UUID, uuid.UUID] = UUIDField()


def select_rows(model: type[M], condition: str, *values: object, columns: str = "*", joined: str = "") -> list[M]:
    """Return the rows that meet a condition in SQL. Runs one statement.

    `condition`: the SQL after `WHERE`, with a `%s` for each of `values`. A list or a set among them is the list of an
    `IN`; if it is empty, no row is read. `columns`: must contain the primary key. A column that the model does not have
    is in the `vars` of its row. `joined`: the `JOIN` that such a column needs.
    """
    places: list[str] = []
    parameters: list[object] = []
    for value in values:
        items = list(value) if isinstance(value, list | set) else [value]
        if not items:
            return []
        marks = ", ".join(["%s"] * len(items))
        places.append(f"({marks})" if isinstance(value, list | set) else marks)
        parameters += [
            _UUIDS.get_db_prep_value(one, connection) if isinstance(one, uuid.UUID) else one for one in items
        ]
    sql = f"SELECT {columns} FROM {model._meta.db_table} {joined} WHERE {condition % tuple(places)}"
    return list(model._base_manager.raw(sql, parameters))


def find_row(model: type[M], condition: str, *values: object) -> M | None:
    """Return a row that meets a condition in SQL, see `select_rows`; `None` if there is none."""
    return next(iter(select_rows(model, condition, *values)), None)


def lock_clause() -> str:
    """Return the SQL that is appended to a condition to lock its rows until the end of the transaction.

    It is empty for SQLite, which locks no rows, because only one transaction writes at a time.
    """
    return " FOR UPDATE" if connection.features.has_select_for_update else ""


def database_time() -> datetime:
    """Return the present time on the database's clock. PostgreSQL's `now()` would be the start of the transaction."""
    with connection.cursor() as cursor:
        cursor.execute(_CLOCKS[connection.vendor])
        [(time,)] = cursor.fetchall()
    # SQLite returns a text in UTC.
    return time if isinstance(time, datetime) else datetime.fromisoformat(f"{time}+00:00")


def insert_rows(rows: Sequence[Model]) -> None:
    """Insert rows of one model with one `executemany` call. Automatic primary keys are not set on the objects."""
    if not rows:
        return
    options = rows[0]._meta
    fields = [field for field in options.concrete_fields if not isinstance(field, AutoField) and not field.generated]
    columns = ", ".join(f'"{field.column}"' for field in fields)
    places = ", ".join(["%s"] * len(fields))
    database = connections[DEFAULT_DB_ALIAS]
    with database.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO {options.db_table} ({columns}) VALUES ({places})",
            [[field.get_db_prep_save(field.pre_save(row, True), database) for field in fields] for row in rows],
        )
    for row in rows:
        row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS


def update_rows(
    model: type[Model],
    rows: Mapping[uuid.UUID, Mapping[str, object]],
    *,
    only: Mapping[str, Sequence[str]] | None = None,
) -> int:
    """Update rows by their primary keys. Return how many were updated.

    `rows`: primary key -> field name -> new value. `only`: field name -> allowed values; rows with other values are not
    updated. Makes one `executemany` call for each set of fields.
    """
    by_fields: dict[tuple[str, ...], list[uuid.UUID]] = defaultdict(list)
    for pk, values in rows.items():
        by_fields[tuple(values)].append(pk)
    return sum(_update(model, names, {pk: rows[pk] for pk in pks}, only or {}) for names, pks in by_fields.items())


def _update(
    model: type[Model],
    names: Sequence[str],
    rows: Mapping[uuid.UUID, Mapping[str, object]],
    only: Mapping[str, Sequence[str]],
) -> int:
    """Update rows for which the same fields change."""
    key = model._meta.pk
    by_name = {field.name: field for field in model._meta.concrete_fields}
    fields = [by_name[name] for name in names]
    changes = ", ".join(f'"{field.column}" = %s' for field in fields)
    conditions = [f"{key.column} = %s", *(f"{name} IN ({', '.join(['%s'] * len(only[name]))})" for name in only)]
    sql = f"UPDATE {model._meta.db_table} SET {changes} WHERE {' AND '.join(conditions)}"
    allowed = [value for values in only.values() for value in values]
    with connection.cursor() as cursor:
        cursor.executemany(
            sql,
            [
                [
                    *(field.get_db_prep_save(values[field.name], connection) for field in fields),
                    key.get_db_prep_save(pk, connection),
                    *allowed,
                ]
                for pk, values in rows.items()
            ],
        )
        updated: int = cursor.rowcount
    return updated
