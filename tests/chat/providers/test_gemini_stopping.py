"""A caller that stops reading closes the upstream request, and one that reads slowly makes the API wait."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import TypeAlias

import pytest
from pytest_django import Settings

from chat.providers.google.provider import GeminiProvider
from chat.providers.provider_errors import Stalled, Unreachable
from tests.chat.providers.conftest import REQUEST, Serve, parts_of, read_all, text_chunk, texts_of
from tests.chat.providers.raw_server import WAIT_LIMIT_S, Exchange, RawServer, never_answer

LARGE_CHUNKS = 1000
LARGE_TEXT = "x" * 64 * 1024
"""1000 texts of this size exceed the buffers of the kernel, of aiohttp and of the parser."""


async def one_chunk(exchange: Exchange) -> None:
    """Send one chunk, then nothing."""
    exchange.head()
    exchange.event(text_chunk("a"))
    await never_answer(exchange)


async def endless(exchange: Exchange) -> None:
    """Send chunks as fast as they are read."""
    exchange.head()
    while not exchange.closed.is_set():
        await exchange.writable.wait()
        exchange.event(text_chunk("a"))
        # Let the client read.
        await asyncio.sleep(0)


async def head_only(exchange: Exchange) -> None:
    """Send the headers, then nothing."""
    exchange.head()
    await never_answer(exchange)


async def cancel(provider: GeminiProvider) -> None:
    """Cancel the task that reads, once it has received events."""
    has_received = asyncio.Event()

    async def read() -> None:
        async for _ in provider.stream(REQUEST):
            has_received.set()

    task = asyncio.create_task(read())
    await has_received.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def close(provider: GeminiProvider) -> None:
    """Close the generator after its first events."""
    stream = provider.stream(REQUEST)
    await anext(stream)
    await stream.aclose()


async def fail(provider: GeminiProvider) -> None:
    """Raise in the loop over the events. The provider must not translate the error, which has a type of its own."""

    async def read() -> None:
        async with aclosing(provider.stream(REQUEST)) as stream:
            async for _ in stream:
                raise ValueError("of the caller")

    with pytest.raises(ValueError, match="of the caller"):
        await read()


Stop: TypeAlias = Callable[[GeminiProvider], Awaitable[None]]


async def assert_closed(server: RawServer, tasks_before: set[asyncio.Task[object]]) -> None:
    """Wait until the request is closed; no task of the provider may be left."""
    await server.exchanges[-1].wait_until_closed()
    assert asyncio.all_tasks() - tasks_before - server.tasks == set()


@pytest.mark.parametrize("stop", [cancel, close, fail])
@pytest.mark.parametrize("answer", [one_chunk, endless])
async def test_request_is_closed_when_its_caller_is_cancelled_stops_or_fails(
    stop: Stop, answer: Callable[[Exchange], Awaitable[None]], provider: GeminiProvider, serve: Serve
) -> None:
    async with serve(answer) as server:
        tasks = asyncio.all_tasks()
        await asyncio.wait_for(stop(provider), WAIT_LIMIT_S)
        await assert_closed(server, tasks)


@pytest.mark.parametrize("answer", [head_only, never_answer])
async def test_cancelling_before_the_first_event_closes_the_request(
    answer: Callable[[Exchange], Awaitable[None]], provider: GeminiProvider, serve: Serve
) -> None:
    async with serve(answer) as server:
        tasks = asyncio.all_tasks()
        task = asyncio.create_task(read_all(provider))
        await server.next_request()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await assert_closed(server, tasks)


@pytest.mark.parametrize("answer", [head_only, never_answer])
async def test_response_without_data_gives_the_error_stalled(
    answer: Callable[[Exchange], Awaitable[None]], provider: GeminiProvider, serve: Serve, settings: Settings
) -> None:
    settings.PROVIDER_IDLE_LIMIT_S = 0.2
    async with serve(answer) as server:
        tasks = asyncio.all_tasks()
        received, error = await asyncio.wait_for(read_all(provider), WAIT_LIMIT_S)
        assert (received, type(error)) == ([], Stalled)
        await assert_closed(server, tasks)


async def test_events_before_a_stall_are_kept(provider: GeminiProvider, serve: Serve, settings: Settings) -> None:
    settings.PROVIDER_IDLE_LIMIT_S = 0.5
    async with serve(one_chunk):
        received, error = await asyncio.wait_for(read_all(provider), WAIT_LIMIT_S)
    assert texts_of(received) == ["a"]
    assert isinstance(error, Stalled)
    assert error.status == 200


async def test_events_before_a_break_of_the_connection_are_kept(provider: GeminiProvider, serve: Serve) -> None:
    texts = [str(number) for number in range(30)]
    all_are_read = asyncio.Event()

    async def answer(exchange: Exchange) -> None:
        exchange.head()
        for text in texts:
            exchange.event(text_chunk(text))
        await all_are_read.wait()
        exchange.transport.abort()

    received: list[str] = []
    async with serve(answer), asyncio.timeout(WAIT_LIMIT_S):
        stream = provider.stream(REQUEST)
        while len(received) < len(texts):
            received += texts_of(await anext(stream))
        all_are_read.set()
        with pytest.raises(Unreachable):
            await anext(stream)
    assert received == texts


async def test_server_has_to_wait_if_the_caller_does_not_read(provider: GeminiProvider, serve: Serve) -> None:
    is_blocked = asyncio.Event()

    async def answer(exchange: Exchange) -> None:
        exchange.head()
        for _ in range(LARGE_CHUNKS):
            if not exchange.writable.is_set():
                is_blocked.set()
            await exchange.writable.wait()
            exchange.event(text_chunk(LARGE_TEXT))
            await asyncio.sleep(0)

    async with serve(answer) as server:
        async with aclosing(provider.stream(REQUEST)) as stream:
            assert parts_of(await anext(stream))
            await asyncio.wait_for(is_blocked.wait(), WAIT_LIMIT_S)
            # In this time, a provider that reads ahead without a limit would read everything.
            for _ in range(20 * LARGE_CHUNKS):
                await asyncio.sleep(0)
            assert server.exchanges[0].sent_bytes < LARGE_CHUNKS * len(LARGE_TEXT)
        await server.exchanges[0].wait_until_closed()
