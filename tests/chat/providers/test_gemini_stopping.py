"""Whoever stops reading closes the upstream request, whatever the stream is doing at that moment."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import pytest
from pytest_django import Settings

from chat.parts import StreamEvent
from chat.providers.base import Stalled, Unreachable
from chat.providers.gemini import GeminiProvider
from tests.chat.providers.conftest import REQUEST, Serve, all_of, parts_of, text_event
from tests.chat.providers.raw_server import Exchange, RawServer

CLOSES_WITHIN_S = 0.5
FLOOD_EVENTS = 200


async def trickle(exchange: Exchange) -> None:
    """An event each 50 ms, for ever."""
    exchange.head()
    while True:
        exchange.event(text_event("more "))
        await asyncio.sleep(0.05)


async def flood(exchange: Exchange) -> None:
    """Far more at once than is read at once, then silence."""
    exchange.head()
    for number in range(FLOOD_EVENTS * 3):
        exchange.event(text_event(f"{number} "))
    await asyncio.sleep(60)


async def silence(exchange: Exchange) -> None:
    """Headers, and nothing else."""
    exchange.head()
    await asyncio.sleep(60)


async def deafness(exchange: Exchange) -> None:
    """Not even headers."""
    await asyncio.sleep(60)


class Enough(Exception):
    """What a caller raises that wants no more."""


async def cancel(provider: GeminiProvider) -> None:
    task = asyncio.create_task(provider.generate(REQUEST, lambda _: None))
    await asyncio.sleep(0.2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def refuse_the_first(provider: GeminiProvider) -> None:
    def take(_: list[StreamEvent]) -> None:
        raise Enough

    with pytest.raises(Enough):
        await provider.generate(REQUEST, take)


async def fail_as_the_sdk_would(provider: GeminiProvider) -> None:
    def take(_: list[StreamEvent]) -> None:
        raise ValueError("of the caller")

    with pytest.raises(ValueError, match="of the caller"):
        await provider.generate(REQUEST, take)


Stop = Callable[[GeminiProvider], Awaitable[None]]


async def assert_stops(provider: GeminiProvider, server: RawServer, stop: Stop) -> None:
    before = asyncio.all_tasks()
    await stop(provider)
    stopped_at = time.monotonic()
    exchange = server.exchanges[-1]
    await asyncio.wait_for(exchange.closed.wait(), CLOSES_WITHIN_S)
    assert exchange.closed_at - stopped_at < CLOSES_WITHIN_S
    assert asyncio.all_tasks() - before - server.tasks == set()


@pytest.mark.parametrize("stop", [cancel, refuse_the_first, fail_as_the_sdk_would])
@pytest.mark.parametrize("answer", [trickle, flood])
async def test_stopping_closes_the_request(
    stop: Stop, answer: Callable[[Exchange], Awaitable[None]], provider: GeminiProvider, serve: Serve
) -> None:
    async with serve(answer) as server:
        await assert_stops(provider, server, stop)


@pytest.mark.parametrize("answer", [silence, deafness])
async def test_stopping_before_the_first_event_closes_the_request(
    answer: Callable[[Exchange], Awaitable[None]], provider: GeminiProvider, serve: Serve
) -> None:
    async with serve(answer) as server:
        await assert_stops(provider, server, cancel)


@pytest.mark.parametrize("answer", [silence, deafness])
async def test_silence_is_a_stall(
    answer: Callable[[Exchange], Awaitable[None]], provider: GeminiProvider, serve: Serve, settings: Settings
) -> None:
    settings.PROVIDER_IDLE_LIMIT_S = 1
    async with serve(answer) as server:
        began_at = time.monotonic()
        received, error = await all_of(provider)
        assert 0.9 < time.monotonic() - began_at < 2
        assert (received, type(error)) == ([], Stalled)
        await asyncio.wait_for(server.exchanges[0].closed.wait(), CLOSES_WITHIN_S)


async def test_silence_after_parts_keeps_the_parts(provider: GeminiProvider, serve: Serve, settings: Settings) -> None:
    settings.PROVIDER_IDLE_LIMIT_S = 0.3
    async with serve(flood):
        received, error = await all_of(provider)
    assert len(parts_of(received)) == FLOOD_EVENTS * 3
    assert isinstance(error, Stalled)


async def test_break_of_the_connection_loses_nothing_that_came(provider: GeminiProvider, serve: Serve) -> None:
    async def answer(exchange: Exchange) -> None:
        exchange.head()
        for number in range(30):
            exchange.event(text_event(str(number)))
            await asyncio.sleep(0.002)
        exchange.transport.abort()

    async with serve(answer):
        received, error = await all_of(provider)
    assert [part.text for part in parts_of(received)] == [str(number) for number in range(30)]
    assert type(error) is Unreachable
