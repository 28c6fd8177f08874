"""Tests of the commit counter."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bench.product import count_commits

pytestmark = pytest.mark.drill


def test_commit_counter_counts_transactions_that_write_and_no_others(tmp_path: Path) -> None:
    path = tmp_path / "some.sqlite3"
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("CREATE TABLE notes (text)")
        before = count_commits(path)
        for _ in range(3):
            database.execute("INSERT INTO notes VALUES ('a'), ('b')")
        database.execute("SELECT * FROM notes").fetchall()
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.execute("BEGIN")
        database.execute("INSERT INTO notes VALUES ('c')")
        database.execute("INSERT INTO notes VALUES ('d')")
        database.execute("COMMIT")
        assert count_commits(path) - before == 4
