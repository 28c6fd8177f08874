"""Runs all migrations of PostgreSQL that are left, one by one: `python -m bench.with_django bench.scale_upgrade`.

A second connection looks every 5 ms at the locks of all tables that have existed before.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from bench.scale import MigrationCost

_INTERVAL_S = 0.005
_LOCKS = """
    SELECT coalesce(bool_or(mode = 'AccessExclusiveLock'), false), count(*) > 0
    FROM pg_locks JOIN pg_class ON pg_class.oid = relation
    WHERE granted AND relname = ANY(%s)
    AND mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
"""


class LockWatch:
    """Measures how long reads and writes of tables are blocked without a pause."""

    def __init__(self, tables: list[str]) -> None:
        self.longest_s = [0.0, 0.0]
        """The longest time in seconds that reads, and that writes, were blocked."""
        self._tables = tables
        self._is_over = threading.Event()

    def run(self) -> None:
        """Look at the locks until `stop` is called."""
        begun_at: list[float | None] = [None, None]
        with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as database:
            while not self._is_over.wait(_INTERVAL_S):
                now, row = time.monotonic(), database.execute(_LOCKS, [self._tables]).fetchone() or (False, False)
                for kind, is_blocked in enumerate(row):
                    begun_at[kind] = (begun_at[kind] or now) if is_blocked else None
                    self.longest_s[kind] = max(self.longest_s[kind], now - (begun_at[kind] or now))

    def stop(self) -> None:
        """Let `run` return."""
        self._is_over.set()


@contextmanager
def watch_locks() -> Iterator[LockWatch]:
    """Watch the locks of all tables while the block runs."""
    watch = LockWatch(connection.introspection.table_names())
    thread = threading.Thread(target=watch.run)
    thread.start()
    try:
        yield watch
    finally:
        watch.stop()
        thread.join()


def measure_migrations() -> Iterator[MigrationCost]:
    """Apply each migration and yield its cost."""
    executor = MigrationExecutor(connection)
    targets = executor.loader.graph.leaf_nodes()
    state = executor.loader.project_state(list(executor.loader.applied_migrations))
    for migration, _ in executor.migration_plan(targets):
        started_at = time.monotonic()
        with watch_locks() as watch:
            state = executor.migrate(targets, plan=[(migration, False)], state=state)
        duration_s = time.monotonic() - started_at
        reads_blocked_s, writes_blocked_s = watch.longest_s
        yield MigrationCost(
            name=f"{migration.app_label}.{migration.name}",
            duration_s=duration_s,
            reads_blocked_s=reads_blocked_s,
            writes_blocked_s=writes_blocked_s,
        )


def main() -> None:
    """Print the costs as JSON, and let Django do what follows migrations, such as creating permissions."""
    costs = list(measure_migrations())
    call_command("migrate", verbosity=0)
    with connection.cursor() as cursor:
        # PostgreSQL does this by itself after some time.
        cursor.execute("VACUUM ANALYZE")
    print(json.dumps(costs))
