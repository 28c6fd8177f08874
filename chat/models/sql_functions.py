"""Database functions that PostgreSQL and SQLite both compute natively.

On SQLite, Django's own functions for dates and durations call Python for every row, which is much slower.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BigIntegerField, DateField, FloatField, Func, Q
from django.db.models.lookups import IsNull
from django.db.models.sql.compiler import SQLCompiler

CompiledSql: TypeAlias = tuple[str, Any]


class NativeFunc(Func):
    """A function with one SQL template for each database."""

    sqlite_template: str
    postgresql_template: str
    sqlite_joiner = ", "
    """Text between the arguments on SQLite."""
    postgresql_joiner = ", "
    """Text between the arguments on PostgreSQL."""

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: object) -> CompiledSql:
        """Compile for SQLite, which stores datetimes as text in UTC."""
        return self.as_sql(compiler, connection, template=self.sqlite_template, arg_joiner=self.sqlite_joiner)

    def as_postgresql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **_: object) -> CompiledSql:
        """Compile for PostgreSQL."""
        return self.as_sql(compiler, connection, template=self.postgresql_template, arg_joiner=self.postgresql_joiner)


class UtcDay(NativeFunc):
    """The UTC date of a datetime."""

    output_field = DateField()
    sqlite_template = "substr(%(expressions)s, 1, 10)"
    postgresql_template = "(%(expressions)s AT TIME ZONE 'UTC')::date"


class SecondsBetween(NativeFunc):
    """The seconds from the second argument to the first, as in `end - start`."""

    output_field = FloatField()
    sqlite_joiner = ") - julianday("
    postgresql_joiner = " - "
    sqlite_template = "(julianday(%(expressions)s)) * 86400.0"
    postgresql_template = "EXTRACT(EPOCH FROM (%(expressions)s))::double precision"


class TotalTokens(NativeFunc):
    """All tokens in a turn's `usage`; null if the provider did not report them."""

    output_field = BigIntegerField()
    sqlite_template = "json_extract(%(expressions)s, '$.total')"
    postgresql_template = "(%(expressions)s ->> 'total')::bigint"


class EstimatedTokens(NativeFunc):
    """The estimated tokens in a turn's `usage`; null if the provider reported all of them."""

    output_field = BigIntegerField()
    sqlite_template = "json_extract(%(expressions)s, '$.estimated')"
    postgresql_template = "(%(expressions)s ->> 'estimated')::bigint"


def is_uncounted() -> Q:
    """Return the condition for turns with requests whose tokens the provider did not report."""
    is_unknown = Q(IsNull(TotalTokens("usage"), True)) | Q(IsNull(EstimatedTokens("usage"), False))
    return Q(first_part_at__isnull=False, ended_at__isnull=False, chosen__own_code__isnull=True) & is_unknown
