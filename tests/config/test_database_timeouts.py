"""A pool such as PgBouncer can drop the timeouts that a connection asks for."""

from __future__ import annotations

import pytest
from django.db import connection

from config.startup import warn_without_timeouts

pytestmark = [
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no such timeouts"),
    pytest.mark.django_db,
]


def set_timeouts(statement: str, lock: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('statement_timeout', %s, true), set_config('lock_timeout', %s, true)", [statement, lock]
        )


@pytest.mark.parametrize(
    ("statement", "lock", "missing"),
    [
        ("30s", "2s", []),
        ("0", "2s", ["statement_timeout"]),
        ("30s", "0", ["lock_timeout"]),
        ("0", "0", ["lock_timeout", "statement_timeout"]),
    ],
)
def test_each_missing_timeout_of_the_database_is_logged_at_start(
    statement: str, lock: str, missing: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    set_timeouts(statement, lock)
    warn_without_timeouts()
    assert [record.getMessage().split()[5].rstrip(".") for record in caplog.records] == missing
