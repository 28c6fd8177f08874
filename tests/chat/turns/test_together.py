"""Starts that come at once share a transaction; none of them can tell."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest
from asgiref.sync import sync_to_async
from django.db import IntegrityError, connection, transaction

from chat.models import Label
from chat.turns.deciding import StartRefused
from chat.turns.together import TOGETHER_LIMIT, Together

pytestmark = pytest.mark.django_db(transaction=True)


def storing(name: str) -> Callable[[], bool]:
    """Stores a row; whether it did so in a transaction of others."""

    def store() -> bool:
        is_shared = connection.in_atomic_block
        with transaction.atomic(savepoint=False):
            Label.objects.create(name=name)
        return is_shared

    return store


def refused() -> bool:
    """Stores a row, and then thinks better of it."""
    with transaction.atomic(savepoint=False):
        Label.objects.create(name="refused")
        raise StartRefused("No.")


async def all_at_once(functions: list[Callable[[], bool]]) -> list[bool | BaseException]:
    """Their outcomes, all of them being asked for while a first one is on its way."""
    together: Together[bool] = Together()
    may_go_on = threading.Event()
    first = asyncio.create_task(together.run(lambda: may_go_on.wait(10)))
    await asyncio.sleep(0)
    others = asyncio.gather(*(together.run(function) for function in functions), return_exceptions=True)
    await asyncio.sleep(0)
    may_go_on.set()
    assert await first
    return await others


async def names() -> set[str]:
    """Of all rows."""
    return await sync_to_async(lambda: set(Label.objects.values_list("name", flat=True)))()


async def test_lone_start_has_its_transaction_to_itself() -> None:
    together: Together[bool] = Together()
    assert [await together.run(storing("a")), await together.run(storing("b"))] == [False, False]
    assert await names() == {"a", "b"}


async def test_starts_that_come_at_once_share_transactions() -> None:
    count = 2 * TOGETHER_LIMIT + 1
    outcomes = await all_at_once([storing(str(number)) for number in range(count)])
    assert outcomes == [True] * count
    assert len(await names()) == count


async def test_refusal_undoes_its_own_part_alone() -> None:
    outcomes = await all_at_once([storing("a"), refused, storing("b")])
    assert [outcomes[0], outcomes[2]] == [True, True]
    assert isinstance(outcomes[1], StartRefused)
    assert await names() == {"a", "b"}


async def test_database_refusing_one_leaves_the_others_their_own_transactions() -> None:
    outcomes = await all_at_once([storing("a"), storing("a"), storing("b")])
    assert [outcomes[0], outcomes[2]] == [False, False]
    assert isinstance(outcomes[1], IntegrityError)
    assert await names() == {"a", "b"}


async def test_defect_in_one_is_its_own(caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> bool:
        raise ZeroDivisionError

    outcomes = await all_at_once([storing("a"), broken, storing("b")])
    assert [outcomes[0], outcomes[2]] == [False, False]
    assert isinstance(outcomes[1], ZeroDivisionError)
    assert await names() == {"a", "b"}


async def test_whoever_leaves_keeps_nobody_waiting() -> None:
    together: Together[bool] = Together()
    may_go_on = threading.Event()
    first = asyncio.create_task(together.run(lambda: may_go_on.wait(10)))
    await asyncio.sleep(0)
    leaving, staying = (asyncio.create_task(together.run(storing(name))) for name in ("left", "stays"))
    await asyncio.sleep(0)
    leaving.cancel()
    may_go_on.set()
    assert await first
    assert await staying
    assert await together.run(storing("later")) is False
    assert {"stays", "later"} <= await names()
