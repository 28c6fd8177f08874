"""The threads of live turns after PostgreSQL has ended their connection, as a restart does."""

from __future__ import annotations

import pytest
from channels.db import database_sync_to_async
from django.db import connection

from chat.answering.turns.turn_threads import turn_store
from tests.polling import wait_until_awaited

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no server that ends connections"),
]


def backend_pid() -> int:
    """Return the process of PostgreSQL that serves this thread."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def end_backend(pid: int) -> bool:
    """End a process of PostgreSQL, and return whether it has ended."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = %s", [pid])
        return cursor.fetchone() is None


async def test_next_call_uses_a_new_connection_after_the_server_closed_the_old_one() -> None:
    before = await turn_store.run(backend_pid)
    await wait_until_awaited(lambda: database_sync_to_async(end_backend)(before))
    assert await turn_store.run(backend_pid) != before
    turn_store.close_connection()
