"""Commits are counted from outside, and all figures find their place in the table."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from bench.product import commits_of
from bench.report import table


def test_commits_are_counted_as_sqlite_counts_them(tmp_path: Path) -> None:
    path = tmp_path / "some.sqlite3"
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("CREATE TABLE notes (text)")
        before = commits_of(path)
        for _ in range(3):
            database.execute("INSERT INTO notes VALUES ('a'), ('b')")
        database.execute("SELECT * FROM notes").fetchall()
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.execute("BEGIN")
        database.execute("INSERT INTO notes VALUES ('c')")
        database.execute("INSERT INTO notes VALUES ('d')")
        database.execute("COMMIT")
        assert commits_of(path) - before == 4


def test_table_sets_plotline_beside_the_baselines() -> None:
    name = "cpu_s_per_1000 50x20"
    lines = table({"sdk": {name: 0.2}, "relay": {}, "plotline": {name: 0.3}}, {}).splitlines()
    assert [cell.strip() for cell in lines[2].split("|")[1:-1]] == [
        "CPU per 1,000 chunks, s; 50x20",
        "0.200",
        "-",
        "0.300",
        "1.50",
        "-",
    ]
