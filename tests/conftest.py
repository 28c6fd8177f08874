"""Fixtures and hooks of all tests, and the lines that tests print at the end of a run.

No test connects to another machine, and random examples are the same in every run.
"""

from __future__ import annotations

import ipaddress
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from typing import TypeAlias

import pytest
from asgiref.sync import SyncToAsync
from django.core.cache import caches
from django.core.management.commands import flush
from django.db import connection, connections
from hypothesis import settings as hypothesis_settings
from pytest_django import DjangoDbBlocker, Settings

from chat.answering.turns.turn_threads import log_folder, prompt_reader, turn_store
from chat.page.rendering.temml import missing_scripts
from chat.python.sessions.rows import session_store
from tests.first_rows import kept_rows
from tests.kernel_service import kernel_service as kernel_service
from tests.scripts_of_formulas import WITHOUT_SCRIPTS
from tests.server_databases import MIGRATED_FILE, sqlite_template

Shown: TypeAlias = Callable[[str], None]
"""Prints a line at the end of the run."""

END_OTHER_CONNECTIONS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
"""

EXAMPLES = int(os.environ.get("PLOTLINE_TEST_EXAMPLES") or 30)
"""Number of examples for each property, unless its test sets another number. `make drills` tries 200."""

# A deadline would fail at random on a busy machine. Seeds are derived from the test, so a failure repeats.
hypothesis_settings.register_profile("plotline", deadline=None, derandomize=True, max_examples=EXAMPLES)
hypothesis_settings.load_profile("plotline")


class LeftTheMachineError(Exception):
    """A test tried to reach another machine."""


def stay_on_loopback(event: str, arguments: tuple[object, ...]) -> None:
    """Audit hook: refuse connections of this process to anything but loopback addresses and Unix sockets."""
    if event != "socket.connect":
        return
    address = arguments[1]
    if not isinstance(address, tuple) or not isinstance(address[0], str):
        return
    host = address[0].partition("%")[0]
    try:
        number = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        raise LeftTheMachineError(f"A test connected to {host}.") from None
    if not (number.is_loopback or number.is_unspecified):
        raise LeftTheMachineError(f"A test connected to {host}.")


sys.addaudithook(stay_on_loopback)


@pytest.fixture(autouse=True)
def no_earlier_attempts() -> None:
    """Clear the cache of this process, which counts calls, so that no test is refused because of earlier ones."""
    caches["process"].clear()


@pytest.fixture
def fast_password_hasher(settings: Settings) -> None:
    """Use a fast password hasher, because the default one is slow on purpose."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(scope="session")
def django_db_keepdb(django_db_modify_db_settings: None) -> bool:
    """Return whether the test database exists already: several workers with SQLite copy a file."""
    if connection.vendor != "sqlite" or "PYTEST_XDIST_WORKER" not in os.environ:
        return False
    shutil.copy(sqlite_template().with_name(MIGRATED_FILE), connection.settings_dict["TEST"]["NAME"])
    return True


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Keep the rows that migrations create for every test: tests with real transactions empty all tables.

    At the end, close the connections of threads: asgiref's thread, on which `await …aexists()` runs, and the product's.
    PostgreSQL does not drop a database with connections, so the connections of all other threads are ended too.
    """
    with django_db_blocker.unblock():
        put_back = kept_rows()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flush, "emit_post_migrate_signal", put_back)
        yield
    SyncToAsync.single_thread_executor.submit(connections.close_all).result()
    for thread in (turn_store, prompt_reader, log_folder, session_store):
        thread.close_connection()
    if connection.vendor == "postgresql":
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            cursor.execute(END_OTHER_CONNECTIONS)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail tests of formulas if Temml is missing, and skip them if the runner has found that it cannot be fetched."""
    if item.get_closest_marker("formulas") and missing_scripts():
        if os.environ.get(WITHOUT_SCRIPTS):
            pytest.skip("Temml is missing, and npm's registry cannot be reached.")
        pytest.fail("Temml is missing, which draws formulas: run `make setup`.", pytrace=False)


@pytest.fixture
def shown(record_property: Callable[[str, object], None]) -> Shown:
    """Return a function that records a line. The lines of all workers are printed at the end of the run."""
    return lambda line: record_property("shown", line)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the recorded lines."""
    for report in [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]:
        for name, line in report.user_properties:
            if name == "shown":
                terminalreporter.write_line(str(line))
