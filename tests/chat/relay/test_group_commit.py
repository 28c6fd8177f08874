"""Group commit: batches are retried while the database is unavailable, and one wrong item fails alone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from django.db import IntegrityError, InterfaceError, OperationalError

from chat.relay import group_commit
from chat.relay.group_commit import GroupCommit


class Database:
    """Stores items, after as many failures as are set."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.stored: list[str] = []

    async def write(self, items: Sequence[str]) -> list[str | Exception]:
        """Store the items, or fail."""
        if self.failures:
            raise self.failures.pop(0)
        if "wrong" in items:
            raise IntegrityError
        self.stored += items
        return [f"{item} is stored" for item in items]


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_commit, "FIRST_PAUSE_S", 0.001)
    monkeypatch.setattr(group_commit, "LONGEST_PAUSE_S", 0.002)


async def test_items_are_stored_after_an_outage() -> None:
    database = Database(OperationalError("locked"), InterfaceError("closed"), OperationalError("locked"))
    commits: GroupCommit[str, str] = GroupCommit(database.write)
    results = await asyncio.gather(commits.submit("a"), commits.submit("b"))
    assert list(results) == ["a is stored", "b is stored"]
    assert database.stored == ["a", "b"]


async def test_outage_that_is_too_long_fails_all_items(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_commit, "GIVE_UP_AFTER_S", 0)
    commits: GroupCommit[str, str] = GroupCommit(Database(*[OperationalError("down")] * 100).write)
    results = await asyncio.gather(commits.submit("a"), commits.submit("b"), return_exceptions=True)
    assert [type(result) for result in results] == [OperationalError, OperationalError]


async def test_item_that_cannot_be_stored_fails_alone() -> None:
    database = Database()
    commits: GroupCommit[str, str] = GroupCommit(database.write)
    a, wrong, b = await asyncio.gather(*map(commits.submit, ["a", "wrong", "b"]), return_exceptions=True)
    assert (a, b) == ("a is stored", "b is stored")
    assert isinstance(wrong, IntegrityError)
    assert database.stored == ["a", "b"]
