"""Group commit while the database is unavailable: batches are tried again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError

from chat.answering.turns import database_retries, store
from chat.answering.turns.runner import Runner


class Database:
    """A database that fails as often as the test sets, and then stores items."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.stored: list[str] = []
        self.calls = 0

    async def write(self, items: Sequence[str]) -> list[str | Exception]:
        """Store the items, or fail."""
        self.calls += 1
        if self.failures:
            raise self.failures.pop(0)
        self.stored += items
        return [f"{item} is stored" for item in items]


def group_commit(monkeypatch: pytest.MonkeyPatch, database: Database) -> Any:  # noqa: ANN401 - items are texts here
    """Return the group commit of a process, with another function in place of the one that writes."""
    monkeypatch.setattr(store, "write", database.write)
    return Runner()._commits


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_retries, "FIRST_PAUSE_S", 0.001)
    monkeypatch.setattr(database_retries, "LONGEST_PAUSE_S", 0.002)


async def test_all_writes_of_a_batch_are_stored_after_a_short_outage(monkeypatch: pytest.MonkeyPatch) -> None:
    database = Database(OperationalError("locked"), InterfaceError("closed"), OperationalError("locked"))
    commits = group_commit(monkeypatch, database)
    results = await asyncio.gather(commits.submit("a"), commits.submit("b"))
    assert list(results) == ["a is stored", "b is stored"]
    assert database.stored == ["a", "b"]


async def test_all_writes_of_a_batch_fail_if_the_outage_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_retries, "GIVE_UP_AFTER_S", 0)
    database = Database(*[OperationalError("down")] * 100)
    commits = group_commit(monkeypatch, database)
    results = await asyncio.gather(commits.submit("a"), commits.submit("b"), return_exceptions=True)
    assert [type(result) for result in results] == [OperationalError, OperationalError]
    assert database.calls == 1, "the items are not tried one after another"
