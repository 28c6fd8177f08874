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
SQLITE_OPTIONS = {
    # With IMMEDIATE, a transaction that reads and then writes waits for the lock instead of failing.
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY;",
}


def database_settings(
    url: str, folder: Path, *, statement_limit_s: int = 0, pool_size: int = 20
) -> dj_database_url.DBConfig:
    """Return the settings of the database at `url`; if that is empty, of a SQLite file in `folder`.

    `statement_limit_s`: after which PostgreSQL cancels a statement; 0 is never. `pool_size`: the most connections of a
    process to PostgreSQL. Options in the query of `url` have priority; its `options=` follow ours.
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
        timeouts = f"-c lock_timeout={LOCK_TIMEOUT_MS} -c statement_timeout={statement_limit_s * 1000}"
        options.update(POSTGRESQL_OPTIONS)
        options.update({"pool": {"min_size": 1, "max_size": pool_size, "timeout": 10}} | given)
        options["options"] = f"{timeouts} {given.get('options', '')}".strip()
        # A pool in transaction mode, such as PgBouncer, may give each read of such a cursor another connection.
        settings["DISABLE_SERVER_SIDE_CURSORS"] = True
    if settings["ENGINE"] == "django.db.backends.sqlite3":
        options.update(SQLITE_OPTIONS)
        # Threads keep their connection, because opening one costs more than most queries. A request, whose thread ends
        # with it, closes its own (`config.startup`).
        settings["CONN_MAX_AGE"] = None
        # The threads and processes of a test run share one file, as in production. They cannot share an in-memory
        # database.
        settings["TEST"] = {"NAME": str(folder / "test.sqlite3")}
    return settings
