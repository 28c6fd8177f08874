"""What comes at once is done at once; nobody who asks can tell."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from asgiref.sync import sync_to_async
from django.db import IntegrityError, OperationalError, transaction

from chat.models import Label
from chat.turns.deciding import StartRefused
from chat.turns.together import TOGETHER_LIMIT, Together

pytestmark = pytest.mark.django_db(transaction=True)


class Storing:
    """Stores a row for each name and says it loudly; refuses `no`, and cannot stand `broken` or `away`."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        """Of the batches."""
        self.may_go_on = threading.Event()
        """The first batch waits for it."""
        self.together: Together[str, str] = Together(self)

    def __call__(self, names: Sequence[str]) -> list[str | Exception]:
        self.sizes.append(len(names))
        if len(self.sizes) == 1:
            assert self.may_go_on.wait(10)
        with transaction.atomic():
            Label.objects.bulk_create(Label(name=name) for name in names if name != "no")
            if "broken" in names:
                raise ZeroDivisionError
            if "away" in names:
                raise OperationalError
        return [StartRefused("No.") if name == "no" else name.upper() for name in names]

    @asynccontextmanager
    async def busy(self) -> AsyncIterator[None]:
        """Something is being stored for the length of the block."""
        first = asyncio.create_task(self.together.run("first"))
        await asyncio.sleep(0)
        yield
        self.may_go_on.set()
        assert await first == "FIRST"

    async def all_at_once(self, *names: str) -> list[str | BaseException]:
        """Their outcomes, all of them being asked for while a first one is on its way."""
        async with self.busy():
            others = asyncio.gather(*map(self.together.run, names), return_exceptions=True)
            await asyncio.sleep(0)
        return await others


async def stored() -> set[str]:
    """Names of all rows, but for the first."""
    return await sync_to_async(lambda: set(Label.objects.values_list("name", flat=True)))() - {"first"}


async def test_those_that_come_one_after_the_other_are_done_one_by_one() -> None:
    storing = Storing()
    storing.may_go_on.set()
    assert [await storing.together.run(name) for name in ("a", "b")] == ["A", "B"]
    assert storing.sizes == [1, 1]
    assert await stored() == {"a", "b"}


async def test_those_that_come_while_one_is_done_are_done_at_once() -> None:
    storing, names = Storing(), [str(number) for number in range(TOGETHER_LIMIT + 7)]
    assert await storing.all_at_once(*names) == names
    assert storing.sizes == [1, TOGETHER_LIMIT, 7]
    assert await stored() == set(names)


async def test_refusal_keeps_back_no_other() -> None:
    storing = Storing()
    a, refusal, b = await storing.all_at_once("a", "no", "b")
    assert (a, b) == ("A", "B")
    assert isinstance(refusal, StartRefused)
    assert storing.sizes == [1, 3]
    assert await stored() == {"a", "b"}


@pytest.mark.parametrize(("wrong", "error"), [("a", IntegrityError), ("broken", ZeroDivisionError)])
async def test_one_that_is_wrong_is_told_so_alone(wrong: str, error: type[Exception]) -> None:
    storing = Storing()
    a, other, b = await storing.all_at_once("a", wrong, "b")
    assert (a, b) == ("A", "B")
    assert isinstance(other, error)
    assert storing.sizes == [1, 3, 1, 1, 1]
    assert await stored() == {"a", "b"}


async def test_database_that_is_away_is_not_asked_for_each() -> None:
    storing = Storing()
    outcomes = await storing.all_at_once("a", "away", "b")
    assert [type(outcome) for outcome in outcomes] == [OperationalError] * 3
    assert storing.sizes == [1, 3]
    assert await stored() == set()
    assert await storing.together.run("later") == "LATER"


async def test_whoever_leaves_keeps_nobody_waiting() -> None:
    storing = Storing()
    async with storing.busy():
        leaving, staying = (asyncio.create_task(storing.together.run(name)) for name in ("left", "stays"))
        await asyncio.sleep(0)
        leaving.cancel()
    assert await staying == "STAYS"
    assert await storing.together.run("later") == "LATER"
    assert {"stays", "later"} <= await stored()
