"""An outage of the database is logged when it begins and when it ends; each part of the server adds one line."""

from __future__ import annotations

import io
import logging
import logging.config
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import OperationalError, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.postgresql.base import DatabaseWrapper
from django.db.backends.signals import connection_created
from pytest_django import Settings

from chat.vocabulary.outage_log import LATE_S, Outage, database_outage
from config.databases import database_settings
from tests.ports import free_port

pytestmark = pytest.mark.django_db
logger = logging.getLogger(__name__)


def forget_outage() -> None:
    """Let the next failure begin an outage."""
    database_outage.note_success()
    database_outage._ended_s = float("-inf")


@pytest.fixture
def console(settings: Settings) -> Iterator[io.StringIO]:
    """What the console shows with the handlers, filters and formatter of the settings."""
    forget_outage()
    parts = settings.LOGGING
    stream = io.StringIO()
    configurator = logging.config.DictConfigurator(parts)
    configurator.config["formatters"] = {"line": configurator.configure_formatter(dict(parts["formatters"]["line"]))}
    configurator.config["filters"] = {
        name: configurator.configure_filter(dict(options)) for name, options in parts["filters"].items()
    }
    handler = configurator.configure_handler(dict(parts["handlers"]["console"]) | {"stream": stream})
    root = logging.getLogger()
    # The process has a console, too, which would count each error a second time.
    others, root.handlers = root.handlers, [handler]
    yield stream
    root.handlers = others
    forget_outage()


@pytest.fixture
def away(tmp_path: Path) -> DatabaseWrapper:
    """A PostgreSQL server that refuses connections."""
    options = database_settings(f"postgres://someone@127.0.0.1:{free_port()}/plotline", tmp_path)
    options["OPTIONS"]["pool"] = False
    defaults = {"TIME_ZONE": None, "ATOMIC_REQUESTS": False, "AUTOCOMMIT": True}
    return DatabaseWrapper(defaults | options, "away")


def fail(database: BaseDatabaseWrapper, statement: str, message: str) -> None:
    """Log the error of a statement as the loops of the server do."""
    try:
        with database.cursor() as cursor:
            cursor.execute(statement)
    except OperationalError:
        logger.warning(message, exc_info=True)


def test_database_outage_is_logged_once_by_each_part_of_the_server_without_tracebacks(
    console: io.StringIO, away: DatabaseWrapper
) -> None:
    for _ in range(20):
        fail(away, "SELECT 1", "leases could not be renewed")
        fail(away, "SELECT 1", "positions could not be read")
        try:
            away.ensure_connection()
        except OperationalError as error:
            logger.warning("live turns could not reach the database: %s", error)
    connection_created.send(DatabaseWrapper, connection=away)
    first, *lines, last = console.getvalue().splitlines()
    assert "the database cannot be reached (OperationalError: connection" in first
    assert [line.partition(f"{__name__}: ")[2][:20] for line in lines] == [
        "leases could not be ",
        "positions could not ",
        "live turns could not",
    ]
    assert "the database is back after" in last
    assert "57 more errors were not logged" in last


def test_new_outage_is_logged_and_late_failures_of_the_last_outage_are_not(
    console: io.StringIO, away: DatabaseWrapper, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        fail(away, "SELECT 1", "leases could not be renewed")
        connection_created.send(DatabaseWrapper, connection=away)
    assert console.getvalue().count("cannot be reached") == 1
    assert console.getvalue().count("leases could not be renewed") == 1
    now_s = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now_s + LATE_S)
    for _ in range(2):
        fail(away, "SELECT 1", "leases could not be renewed")
        connection_created.send(DatabaseWrapper, connection=away)
    assert console.getvalue().count("cannot be reached") == 2
    assert console.getvalue().count("leases could not be renewed") == 2


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL calls this a programming error")
def test_database_error_that_is_no_outage_is_logged_with_its_traceback(console: io.StringIO) -> None:
    for _ in range(2):
        fail(connections["default"], "SELECT 1 FROM no_such_table", "a query failed")
    assert console.getvalue().count("Traceback") == 4, "each error has the one of SQLite and the one of Django"
    assert "cannot be reached" not in console.getvalue()


def test_outage_of_redis_is_logged_once_when_it_begins_and_once_when_it_ends(console: io.StringIO) -> None:
    outage = Outage("the channel layer", "pages read the database until it is back")
    outage.note_success()
    for _ in range(3):
        outage.note_failure(TimeoutError())
    outage.note_success()
    outage.note_success()
    first, last = console.getvalue().splitlines()
    assert first.endswith(
        "the channel layer cannot be reached (TimeoutError); pages read the database until it is back"
    )
    assert "the channel layer is back after 0.0 s; 2 more errors were not logged" in last
