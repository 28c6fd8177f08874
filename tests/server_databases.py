"""Databases of the servers that tests start as processes.

If `DATABASE_URL` of the test run is empty, each server has a SQLite file in its folder. Otherwise it has a database of
its own on that PostgreSQL server, whose name is derived from the server's folder.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from fcntl import LOCK_EX, flock
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from urllib.parse import urlsplit

import psycopg
from psycopg import sql
from psycopg.adapt import Buffer, Loader

ROOT = Path(__file__).resolve().parent.parent
SQLITE_FILE = "plotline.sqlite3"
MIGRATED_FILE = "migrated.sqlite3"

#: A program that migrates and adds the user: one process for both, because each takes a second to start.
SET_UP_PROGRAM = """
import sys
import django
from django.core.management import call_command
from django.db import connection

django.setup()
call_command("migrate", verbosity=0)
if connection.vendor == "sqlite":
    connection.cursor().execute("VACUUM INTO %s", [sys.argv[1]])
call_command("create_demo_user")
"""

Row = tuple[Any, ...]
"""Values as SQLite returns them: UUIDs in hexadecimal, times and JSON as text."""


def server_url(var_dir: Path) -> str:
    """Return `DATABASE_URL` of the servers with this folder; it is empty for SQLite."""
    url = os.environ["DATABASE_URL"]
    if not url:
        return ""
    name = f"plotline_{hashlib.sha256(str(var_dir).encode()).hexdigest()[:20]}"
    return urlsplit(url)._replace(path=f"/{name}").geturl()


def environment(var_dir: Path, **variables: str) -> dict[str, str]:
    """Return this process's environment, changed for a child process with its own folder and these variables."""
    own = {"PLOTLINE_VAR_DIR": str(var_dir), "DEBUG": "1", "DATABASE_URL": server_url(var_dir)}
    return os.environ | own | variables


@cache
def sqlite_template() -> Path:
    """Return the path of a migrated SQLite file with the demo user, to be copied. One worker makes it for all.

    Beside it lies `MIGRATED_FILE`, which is without the user.
    """
    var_dir = Path(os.environ["PLOTLINE_VAR_DIR"])
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    folder = var_dir.parent / f"template-{run}" if run else Path(mkdtemp(prefix="template-", dir=var_dir))
    folder.mkdir(exist_ok=True)
    path = folder / SQLITE_FILE
    with (folder / "lock").open("w") as lock:
        flock(lock, LOCK_EX)
        if not path.exists():
            making = folder / "making"
            set_up(environment(making, DATABASE_URL=""))
            # Close the connection, because a database in WAL mode consists of three files until then.
            with closing(sqlite3.connect(making / SQLITE_FILE)) as database:
                database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            (making / MIGRATED_FILE).rename(folder / MIGRATED_FILE)
            (making / SQLITE_FILE).rename(path)
    return path


@cache
def _postgresql_template() -> str:
    """Return the name of a migrated PostgreSQL database with the demo user."""
    var_dir = Path(mkdtemp(prefix="template-", dir=os.environ["PLOTLINE_VAR_DIR"]))
    create_empty_database(var_dir)
    set_up(environment(var_dir))
    atexit.register(drop_database, var_dir)
    return urlsplit(server_url(var_dir)).path.removeprefix("/")


def set_up(variables: Mapping[str, str]) -> None:
    """Migrate the database of a server with these variables, and add the demo user."""
    variables = {**variables, "DJANGO_SETTINGS_MODULE": "config.settings"}
    command = [sys.executable, "-c", SET_UP_PROGRAM, str(Path(variables["PLOTLINE_VAR_DIR"]) / MIGRATED_FILE)]
    subprocess.run(command, cwd=ROOT, env=variables, check=True, capture_output=True)


def create_database(var_dir: Path) -> None:
    """Create the database of the servers with this folder, with the demo user."""
    url = server_url(var_dir)
    if not url:
        shutil.copy(sqlite_template(), var_dir)
        return
    template = sql.Identifier(_postgresql_template())
    _administer(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(_identifier(url), template))


def create_empty_database(var_dir: Path) -> None:
    """Create the database of the servers with this folder, without tables. SQLite creates its file by itself."""
    if url := server_url(var_dir):
        _administer(sql.SQL("CREATE DATABASE {}").format(_identifier(url)))


def drop_database(var_dir: Path) -> None:
    """Drop the database of the servers with this folder. A SQLite file goes with its folder."""
    if url := server_url(var_dir):
        _administer(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(_identifier(url)))


def _identifier(url: str) -> sql.Identifier:
    return sql.Identifier(urlsplit(url).path.removeprefix("/"))


def _administer(statement: sql.Composed) -> None:
    # Connect to `postgres`: the database in the URL need not exist, because Django only derives names from it.
    url = urlsplit(os.environ["DATABASE_URL"])._replace(path="/postgres").geturl()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement)


def query(var_dir: Path, url: str, statement: str, values: tuple[str, ...]) -> list[Row]:
    """Run one statement with `?` for each value, commit, and return its rows. `url`: empty for SQLite in `var_dir`."""
    if url:
        return _query_postgresql(url, statement, values)
    with closing(sqlite3.connect(var_dir / SQLITE_FILE, timeout=60)) as database:
        # Triggers of the search index call this function. Tests do not search for these rows.
        database.create_function("chat_entry_words", 2, lambda owner_id, text: "", deterministic=True)
        rows = database.execute(statement, values).fetchall()
        database.commit()
        return rows


def _query_postgresql(url: str, statement: str, values: tuple[str, ...]) -> list[Row]:
    with psycopg.connect(url, options="-c timezone=UTC") as connection:
        for type_name, loader in _LOADERS.items():
            connection.adapters.register_loader(type_name, loader)
        # psycopg sends a str without a type, so the server uses the type of the column.
        cursor = connection.execute(statement.replace("%", "%%").replace("?", "%s").encode(), values)
        return cursor.fetchall() if cursor.description else []


class _TextLoader(Loader):
    def load(self, data: Buffer) -> str:
        return bytes(data).decode()


class _HexLoader(Loader):
    def load(self, data: Buffer) -> str:
        return bytes(data).decode().replace("-", "")


class _UTCLoader(Loader):
    def load(self, data: Buffer) -> str:
        return bytes(data).decode().removesuffix("+00")


class _BooleanLoader(Loader):
    def load(self, data: Buffer) -> int:
        return int(bytes(data) == b"t")


_LOADERS: dict[str, type[_TextLoader | _HexLoader | _UTCLoader | _BooleanLoader]] = {
    "json": _TextLoader,
    "jsonb": _TextLoader,
    "uuid": _HexLoader,
    "timestamptz": _UTCLoader,
    "bool": _BooleanLoader,
}
