"""Settings of the database."""

from __future__ import annotations

from pathlib import Path

import dj_database_url

POSTGRESQL_OPTIONS = {
    "pool": {"min_size": 1, "max_size": 20, "timeout": 10},
    # A broken network or a long lock must not block the single thread that stores all live turns.
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "tcp_user_timeout": 10_000,
    "options": "-c lock_timeout=2000 -c statement_timeout=30000",
}
SQLITE_OPTIONS = {
    # With IMMEDIATE, a transaction that reads and then writes waits for the lock instead of failing.
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY;",
}


def database_settings(url: str, folder: Path) -> dj_database_url.DBConfig:
    """Return the settings of the database at `url`; if that is empty, of a SQLite file in `folder`."""
    settings: dj_database_url.DBConfig = dj_database_url.parse(
        # Under ASGI each request has its own thread, so a persistent connection would never be reused.
        url or f"sqlite:///{folder / 'plotline.sqlite3'}",
        conn_max_age=0,
        conn_health_checks=True,
    )
    options = settings.setdefault("OPTIONS", {})
    if settings["ENGINE"] == "django.db.backends.postgresql":
        options.update(POSTGRESQL_OPTIONS)
    if settings["ENGINE"] == "django.db.backends.sqlite3":
        options.update(SQLITE_OPTIONS)
        # The threads and processes of a test run share one file, as in production. They cannot share an in-memory
        # database.
        settings["TEST"] = {"NAME": str(folder / "test.sqlite3")}
    return settings
