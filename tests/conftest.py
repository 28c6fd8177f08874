"""What holds for every test: nothing leaves this machine, random examples are the same in every run.

And what a run tells at its end besides failures.
"""

from __future__ import annotations

import ipaddress
import sys
from collections.abc import Callable, Iterator
from typing import TypeAlias

import pytest
from asgiref.sync import SyncToAsync
from django.apps import AppConfig
from django.core.cache import cache
from django.db import connections
from django.db.models.signals import post_migrate
from django.dispatch import receiver
from hypothesis import settings

from tests.first_rows import load_first_rows

Shown: TypeAlias = Callable[[str], None]
"""Takes a line that stands at the run's end."""

# Two busy cores make any deadline a coin toss; seeds come from the test, so a failure repeats.
settings.register_profile("plotline", deadline=None, derandomize=True)
settings.load_profile("plotline")


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
def nothing_counted() -> None:
    """No test is refused for what others did before: limits of attempts are counted in the cache of this process."""
    cache.clear()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> Iterator[None]:
    """What tests ask with `await …aexists()` and the like, they ask on asgiref's thread, whose connection stays open.

    PostgreSQL drops no database that somebody is connected to.
    """
    yield
    SyncToAsync.single_thread_executor.submit(connections.close_all).result()


@receiver(post_migrate)
def first_rows_again(sender: AppConfig, using: str, **_: object) -> None:
    """What migrations put into tables is there in every test: those with transactions of their own empty all tables.

    Django tells of that as of a migration.
    """
    if sender.name == "chat":
        load_first_rows(using)


@pytest.fixture
def shown(record_property: Callable[[str, object], None]) -> Shown:
    """For what the run is read for: lines that are told at its end, whichever worker found them."""
    return lambda line: record_property("shown", line)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell them."""
    for report in [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]:
        for name, line in report.user_properties:
            if name == "shown":
                terminalreporter.write_line(str(line))
