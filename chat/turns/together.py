"""Starts that share a transaction: those that come while another is being stored are stored in one, as rounds are.

A lone start waits for nothing and has its transaction to itself. Of fifty at once, each is spared a commit and a
crossing to the store's thread, a tenth of what it costs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from django.core.exceptions import ObjectDoesNotExist
from django.db import DatabaseError, transaction
from django.http import Http404

from chat.turns import store
from chat.turns.deciding import StartRefused

TOGETHER_LIMIT = 16
"""So many share one: those behind them are not kept waiting long."""

REFUSALS = (StartRefused, Http404, ObjectDoesNotExist)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Stored(Generic[T]):
    """What one of several returned."""

    value: T


@dataclass(frozen=True, slots=True)
class Refused:
    """Why one of several stored nothing."""

    error: Exception


Outcome: TypeAlias = Stored[T] | Refused | None
"""None: they failed together, so each is to be tried by itself."""


class Together(Generic[T]):
    """Runs functions on the store's thread, each in a transaction; some share one."""

    def __init__(self) -> None:
        self._is_busy = False
        self._waiting: list[tuple[Callable[[], T], asyncio.Future[Outcome[T]]]] = []
        self._sharing: asyncio.Task[None] | None = None

    async def run(self, function: Callable[[], T]) -> T:
        """What it returns, or raises. It may be run twice, the first time being undone."""
        if not self._is_busy:
            self._is_busy = True
            try:
                return await store.run(function)
            finally:
                self._go_on()
        future: asyncio.Future[Outcome[T]] = asyncio.get_running_loop().create_future()
        self._waiting.append((function, future))
        match await future:
            case Stored(value):
                return value
            case Refused(error):
                raise error
        return await store.run(function)

    def _go_on(self) -> None:
        self._is_busy = bool(self._waiting)
        if self._waiting:
            self._sharing = asyncio.get_running_loop().create_task(self._share(), name="starts")

    async def _share(self) -> None:
        taken, self._waiting = self._waiting[:TOGETHER_LIMIT], self._waiting[TOGETHER_LIMIT:]
        outcomes: list[Outcome[T]] = [None] * len(taken)
        try:
            outcomes = await store.run(_together, [function for function, _ in taken])
        except DatabaseError:
            # None is stored. One of them may be wrong, or two wait for each other: each for itself, then.
            pass
        finally:
            for (_, future), outcome in zip(taken, outcomes, strict=True):
                if not future.done():
                    future.set_result(outcome)
            self._go_on()


def _together(functions: Sequence[Callable[[], T]]) -> list[Outcome[T]]:
    """In one transaction; a refusal undoes its own part alone."""
    outcomes: list[Outcome[T]] = []
    with transaction.atomic():
        for function in functions:
            try:
                with transaction.atomic():
                    outcomes.append(Stored(function()))
            except REFUSALS as refusal:
                outcomes.append(Refused(refusal))
    return outcomes
