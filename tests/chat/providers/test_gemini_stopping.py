"""Whoever stops reading closes the upstream request, whatever the stream is doing at that moment."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

import pytest
from pytest_django import Settings

from chat.parts import PartReceived, StreamEvent
from chat.providers.base import Stalled, Unreachable
from chat.providers.gemini import GeminiProvider
from chat.providers.read_ahead import LIMIT_EVENTS
from tests.chat.providers.conftest import REQUEST, Serve, all_of, parts_of, text_event
from tests.chat.providers.raw_server import Exchange, RawServer, events

CLOSES_WITHIN_S = 0.5


async def trickle(exchange: Exchange) -> None:
    """An event each 50 ms, for ever."""
    exchange.head()
    while True:
        exchange.event(text_event("more "))
        await asyncio.sleep(0.05)


async def flood(exchange: Exchange) -> None:
    """Far more at once than is read ahead, then silence."""
    exchange.head()
    for number in range(LIMIT_EVENTS * 3):
        exchange.event(text_event(f"{number} "))
    await asyncio.sleep(60)


async def silence(exchange: Exchange) -> None:
    """Headers, and nothing else."""
    exchange.head()
    await asyncio.sleep(60)


async def deafness(exchange: Exchange) -> None:
    """Not even headers."""
    await asyncio.sleep(60)


async def cancel_consumer(stream: AsyncGenerator[StreamEvent, None]) -> None:
    async def consume() -> None:
        async with aclosing(stream):
            async for _ in stream:
                pass

    task = asyncio.create_task(consume())
    await asyncio.sleep(0.2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def cancel_consumer_without_closing(stream: AsyncGenerator[StreamEvent, None]) -> None:
    async def consume() -> None:
        async for _ in stream:
            pass

    task = asyncio.create_task(consume())
    await asyncio.sleep(0.2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def close_after_one(stream: AsyncGenerator[StreamEvent, None]) -> None:
    await anext(stream)
    await asyncio.sleep(0.1)
    await stream.aclose()


async def break_and_close(stream: AsyncGenerator[StreamEvent, None]) -> None:
    async for _ in stream:
        break
    await stream.aclose()


Stop = Callable[[AsyncGenerator[StreamEvent, None]], Awaitable[None]]


async def assert_stops(provider: GeminiProvider, server: RawServer, stop: Stop) -> None:
    before = asyncio.all_tasks()
    stream = provider.stream(REQUEST)
    await stop(stream)
    stopped_at = time.monotonic()
    exchange = server.exchanges[-1]
    await asyncio.wait_for(exchange.closed.wait(), CLOSES_WITHIN_S)
    assert exchange.closed_at - stopped_at < CLOSES_WITHIN_S
    assert asyncio.all_tasks() - before - server.tasks == set()


@pytest.mark.parametrize("stop", [cancel_consumer, cancel_consumer_without_closing, close_after_one, break_and_close])
@pytest.mark.parametrize("answer", [trickle, flood])
async def test_stopping_closes_the_request(
    stop: Stop, answer: Callable[[Exchange], Awaitable[None]], provider: GeminiProvider, serve: Serve
) -> None:
    async with serve(answer) as server:
        await assert_stops(provider, server, stop)


@pytest.mark.parametrize("stop", [cancel_consumer, cancel_consumer_without_closing])
@pytest.mark.parametrize("answer", [silence, deafness])
async def test_stopping_before_the_first_event_closes_the_request(
    stop: Stop, answer: Callable[[Exchange], Awaitable[None]], provider: GeminiProvider, serve: Serve
) -> None:
    async with serve(answer) as server:
        await assert_stops(provider, server, stop)


async def test_forgotten_stream_closes_the_request(provider: GeminiProvider, serve: Serve) -> None:
    async with serve(trickle) as server:
        async for _ in provider.stream(REQUEST):
            break
        await asyncio.wait_for(server.exchanges[0].closed.wait(), CLOSES_WITHIN_S)


async def test_stream_that_failed_unseen_leaves_nothing_behind(provider: GeminiProvider, serve: Serve) -> None:
    async def answer(exchange: Exchange) -> None:
        exchange.head()
        exchange.event(text_event("a"))
        exchange.send(b"data: nonsense\r\n\r\n")

    async with serve(answer):
        stream = provider.stream(REQUEST)
        await anext(stream)
        await asyncio.sleep(0.05)
        await stream.aclose()


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
    assert len(parts_of(received)) == LIMIT_EVENTS * 3
    assert isinstance(error, Stalled)


async def test_slow_consumer_is_no_stall(provider: GeminiProvider, serve: Serve, settings: Settings) -> None:
    settings.PROVIDER_IDLE_LIMIT_S = 0.2
    numbers = range(LIMIT_EVENTS * 2)
    received = []
    async with serve(events(*(text_event(str(number)) for number in numbers))):
        async for event in provider.stream(REQUEST):
            assert isinstance(event, PartReceived)
            received.append(event.part.text)
            if len(received) == 1:
                await asyncio.sleep(0.5)
    assert received == [str(number) for number in numbers]


async def test_break_of_the_connection_loses_nothing_to_a_slow_consumer(provider: GeminiProvider, serve: Serve) -> None:
    async def answer(exchange: Exchange) -> None:
        exchange.head()
        for number in range(30):
            exchange.event(text_event(str(number)))
            await asyncio.sleep(0.002)
        exchange.transport.abort()

    async with serve(answer):
        received, error = await all_of(provider, pause_s=0.01)
    assert [part.text for part in parts_of(received)] == [str(number) for number in range(30)]
    assert type(error) is Unreachable
