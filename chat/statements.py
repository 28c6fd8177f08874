"""Queries that the ORM writes once and that are then only given values: for what every turn and every frame asks.

Building and compiling a query costs the ORM 0.2 to 0.8 ms each time, and SQLite answers most of them in 0.02 ms. A
statement is declared with the ORM's own words, holds a `Given` wherever a value comes later, and is compiled when it is
first used; its SQL, its adapting of values and its converting of results are the ORM's. SQLite gets it without Django's
cursor, which would cost three times as much as the answer, unless somebody listens there.

No signals are sent; no model here has any.
"""

from __future__ import annotations

import json
import operator
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import NoneType
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Expression, Field, Model, QuerySet
from django.db.models.sql import InsertQuery, UpdateQuery
from django.db.models.sql.compiler import SQLCompiler

ModelT = TypeVar("ModelT", bound=Model)

Values = Mapping[str, Any]
"""What a statement is given, by name."""

Converter = tuple[int, Sequence[Callable[..., Any]], Any]
"""A place in a result, what is called for it one after the other, and the expression that stands there."""


Adapter = Callable[[Any], Any]
"""Makes of a value what a database takes."""


def _same(value: Any) -> Any:  # noqa: ANN401 - whatever the column holds
    return value


_QUICK: Mapping[type[Field[Any, Any]], Mapping[type, Adapter]] = {
    models.CharField: {str: _same},
    models.TextField: {str: _same, NoneType: _same},
    models.PositiveIntegerField: {int: _same},
    models.BooleanField: {bool: _same},
    models.FloatField: {float: _same, NoneType: _same},
}
"""What these fields make of values for every database; asking the field takes 2 to 15 us for each."""

_QUICK_BY_VENDOR: Mapping[str, Mapping[type[Field[Any, Any]], Mapping[type, Adapter]]] = {
    "sqlite": {
        models.UUIDField: {uuid.UUID: operator.attrgetter("hex"), NoneType: _same},
        models.JSONField: {dict: json.JSONEncoder().encode},
    },
}


class Given(Expression):
    """A value that comes when the statement is run; converted as `field` would."""

    def __init__(self, name: str, field: Field[Any, Any]) -> None:
        super().__init__(output_field=field)
        self.name = name

    def as_sql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> Any:  # noqa: ANN401
        return "%s", [self]

    def quick_adapters(self, vendor: str) -> Mapping[type, Adapter]:
        """By the type of a value; of other types, the field is asked."""
        kind = type(self.output_field)
        if getattr(self.output_field, "encoder", None) is not None:
            return {}
        return _QUICK.get(kind) or _QUICK_BY_VENDOR.get(vendor, {}).get(kind, {})


def given(model: type[Model], column: str, name: str = "") -> Given:
    """A value for a column of a model, such as `conversation_id`; by default it has the column's name."""
    field = next(field for field in model._meta.concrete_fields if column in (field.attname, field.name))
    return Given(name or column, _saved(field))


class _Compiled:
    """A statement as one kind of database takes it."""

    def __init__(
        self, database: BaseDatabaseWrapper, sql: str, parameters: Sequence[Any], converters: Sequence[Converter] = ()
    ) -> None:
        """`parameters`: values, and a `Given` for each that comes later; `converters`: of the results."""
        self._sql = sql
        self._parameters = [
            (parameter, parameter.quick_adapters(database.vendor) if isinstance(parameter, Given) else None)
            for parameter in parameters
        ]
        self._converters = converters
        self._bare_sql = ""
        if database.vendor == "sqlite":
            # Its own driver writes parameters in another way.
            database.ensure_connection()
            self._bare_sql = database.create_cursor().convert_query(sql)

    def rows(self, values: Values, database: BaseDatabaseWrapper) -> list[tuple[Any, ...]]:
        """What it finds."""
        found: list[tuple[Any, ...]]
        bound = self._bound(values, database)
        if _is_bare(database):
            with database.wrap_database_errors:
                found = database.connection.execute(self._bare_sql, bound).fetchall()
        else:
            with database.cursor() as cursor:
                cursor.execute(self._sql, bound)
                found = cursor.fetchall()
        return [_converted(row, self._converters, database) for row in found] if self._converters else found

    def change(self, rows: Iterable[Values], database: BaseDatabaseWrapper) -> int:
        """Run it with each of these; how many rows of the database that changed."""
        bound = [self._bound(row, database) for row in rows]
        if not bound:
            return 0
        if _is_bare(database):
            with database.wrap_database_errors:
                return int(database.connection.executemany(self._bare_sql, bound).rowcount)
        with database.cursor() as cursor:
            if len(bound) == 1:
                cursor.execute(self._sql, bound[0])
            else:
                cursor.executemany(self._sql, bound)
            return int(cursor.rowcount)

    def _bound(self, values: Values, database: BaseDatabaseWrapper) -> list[Any]:
        bound = []
        for parameter, quick in self._parameters:
            if quick is None:
                bound.append(parameter)
                continue
            value = values[parameter.name]
            adapt = quick.get(type(value))
            bound.append(adapt(value) if adapt else parameter.output_field.get_db_prep_save(value, database))
        return bound


def _is_bare(database: BaseDatabaseWrapper) -> bool:
    """Whether SQLite may be asked directly: nobody logs queries or stands around them. Opens the connection."""
    database.ensure_connection()
    if database.vendor != "sqlite" or database.queries_logged or database.execute_wrappers:
        return False
    database.validate_no_broken_transaction()
    return True


class Select(Generic[ModelT]):
    """A query. `build` may take numbers that shape it, such as how many ids it asks for; each is compiled once."""

    def __init__(self, build: Callable[..., QuerySet[ModelT, Any]]) -> None:
        self._build = build
        self._compiled: dict[tuple[Any, ...], _Compiled] = {}
        self._model: type[ModelT]
        self._columns: list[str]

    def rows(self, *shape: int, **values: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401 - whatever the columns hold
        """The results, one tuple for each, as `values_list` gives them."""
        database = connections[DEFAULT_DB_ALIAS]
        compiled = self._compiled.get((database.vendor, *shape)) or self._compile(shape, database)
        return compiled.rows(values, database)

    def objects(self, *shape: int, **values: Any) -> list[ModelT]:  # noqa: ANN401
        """The results as objects, for a query of whole rows."""
        rows = self.rows(*shape, **values)
        return [self._model.from_db(DEFAULT_DB_ALIAS, self._columns, row) for row in rows]

    def first(self, *shape: int, **values: Any) -> ModelT | None:  # noqa: ANN401
        """The first object; the query says its order, and that one is enough."""
        return next(iter(self.objects(*shape, **values)), None)

    def prepare(self, *shape: int) -> None:
        """Compile it ahead of its first use; a query that locks rows wants a transaction for that."""
        self._compile(shape, connections[DEFAULT_DB_ALIAS])

    def _compile(self, shape: tuple[int, ...], database: BaseDatabaseWrapper) -> _Compiled:
        queryset = self._build(*shape)
        compiler = queryset.query.get_compiler(connection=database)
        sql, parameters = compiler.as_sql()
        columns = [column for column, _, _ in compiler.select]
        converters = [
            (place, functions, expression)
            for place, (functions, expression) in compiler.get_converters(columns).items()
        ]
        self._model = queryset.model
        self._columns = [field.attname for field in queryset.model._meta.concrete_fields]
        compiled = self._compiled[database.vendor, *shape] = _Compiled(database, sql, parameters, converters)
        return compiled


class Insert(Generic[ModelT]):
    """New rows of one model. `expressions`: columns that the database reckons, from what is given."""

    def __init__(self, model: type[ModelT], **expressions: Expression) -> None:
        self._model = model
        self._expressions = expressions
        self._compiled: dict[str, _Compiled] = {}
        # A number that the database gives is not among them: those rows are known by other columns.
        self._fields = [field for field in model._meta.concrete_fields if not isinstance(field, models.AutoField)]

    def all(self, rows: Sequence[ModelT], **values: Any) -> None:  # noqa: ANN401
        """Insert objects in one go; each is then as `create` would give it. `values`: given for all of them."""
        self.many(
            {**{field.attname: field.pre_save(row, add=True) for field in self._fields}, **values} for row in rows
        )
        for row in rows:
            row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS

    def many(self, rows: Iterable[Values]) -> None:
        """Insert some in one go, each as values by the names of its columns."""
        database = connections[DEFAULT_DB_ALIAS]
        compiled = self._compiled.get(database.vendor) or self._compile(database)
        compiled.change(rows, database)

    def _compile(self, database: BaseDatabaseWrapper) -> _Compiled:
        probe = self._model()
        for field in self._fields:
            expression = self._expressions.get(field.name) or Given(field.attname, _saved(field))
            setattr(probe, field.attname, expression)
        query = InsertQuery(self._model)
        query.insert_values(self._fields, [probe], raw=True)
        [(sql, parameters)] = query.get_compiler(connection=database).as_sql()
        compiled = self._compiled[database.vendor] = _Compiled(database, sql, parameters)
        return compiled


class Update:
    """Changes of the rows that a query finds."""

    def __init__(self, build: Callable[[], QuerySet[Any, Any]], **changes: object) -> None:
        self._build = build
        self._changes = changes
        self._compiled: dict[str, _Compiled] = {}

    def run(self, **values: Any) -> int:  # noqa: ANN401 - whatever the columns hold
        """Make them; in how many rows."""
        return self.run_all([values])

    def run_all(self, given: Iterable[Values]) -> int:
        """Make them with each of these values, in one go; in how many rows altogether."""
        database = connections[DEFAULT_DB_ALIAS]
        compiled = self._compiled.get(database.vendor) or self._compile(database)
        return compiled.change(given, database)

    def _compile(self, database: BaseDatabaseWrapper) -> _Compiled:
        query: UpdateQuery = self._build().query.chain(UpdateQuery)  # type: ignore[assignment]
        query.add_update_values(self._changes)
        sql, parameters = query.get_compiler(connection=database).as_sql()
        compiled = self._compiled[database.vendor] = _Compiled(database, sql, parameters)
        return compiled


def _saved(field: Field[Any, Any]) -> Field[Any, Any]:
    return field.target_field if isinstance(field, models.ForeignKey) else field


def _converted(row: Sequence[Any], converters: Sequence[Converter], database: BaseDatabaseWrapper) -> tuple[Any, ...]:
    # By the connection that has read it: a compiled statement outlives the thread whose connection compiled it.
    values = list(row)
    for place, functions, expression in converters:
        for function in functions:
            values[place] = function(values[place], expression, database)
    return tuple(values)
