"""Settings of the database."""

from __future__ import annotations

from pathlib import Path

import dj_database_url

POSTGRESQL_OPTIONS = {
    # A broken network or a long lock must not block the single thread that stores all live turns.
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "tcp_user_timeout": 10_000,
}
LOCK_TIMEOUT_MS = 2_000
STATEMENT_LIMIT_S = 30
"""Seconds after which PostgreSQL cancels a statement of a web process. 0 means never: `manage.py` sets it for its
commands."""
POOL_SIZE = 20
"""Maximum number of connections of a process to PostgreSQL. A request or a background thread waits 10 s for a free one.
"""
SQLITE_OPTIONS = {
    # With IMMEDIATE, a transaction that reads and then writes waits for the lock instead of failing.
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY;",
}


def database_settings(url: str, folder: Path) -> dj_database_url.DBConfig:
    """Return the settings of the database at `url`; if `url` is empty, those of a SQLite file in `folder`.

    Options in the query of `url` override these settings. Its `options=` are appended to these.
    """
    settings: dj_database_url.DBConfig = dj_database_url.parse(
        url or f"sqlite:///{folder / 'plotline.sqlite3'}",
        # With PostgreSQL, a pool keeps the connections.
        conn_max_age=0,
        conn_health_checks=True,
    )
    options = settings.setdefault("OPTIONS", {})
    if settings["ENGINE"] == "django.db.backends.postgresql":
        given = dict(options)
        timeouts = f"-c lock_timeout={LOCK_TIMEOUT_MS} -c statement_timeout={STATEMENT_LIMIT_S * 1000}"
        options.update(POSTGRESQL_OPTIONS)
        options.update({"pool": {"min_size": 1, "max_size": POOL_SIZE, "timeout": 10}} | given)
        options["options"] = f"{timeouts} {given.get('options', '')}".strip()
        # A pool in transaction mode, such as PgBouncer, may give each read of such a cursor another connection.
        settings["DISABLE_SERVER_SIDE_CURSORS"] = True
    if settings["ENGINE"] == "django.db.backends.sqlite3":
        options.update(SQLITE_OPTIONS)
        # Threads keep their connection, because opening one costs more than most queries. A request closes its own
        # (`config.startup`), because its thread ends with it.
        settings["CONN_MAX_AGE"] = None
        # The threads and processes of a test run share one file, as in production. They cannot share an in-memory
        # database.
        settings["TEST"] = {"NAME": str(folder / "test.sqlite3")}
    return settings
