"""The reader of a response stops at its limits and at the first error, and lets other tasks run in between."""

from __future__ import annotations

import asyncio
import base64
import io
import random
import time
from collections.abc import AsyncGenerator, Iterable

import pytest
from PIL import Image

from chat.providers.openai_compatible import reader as reader_module
from chat.providers.openai_compatible.accumulator import Accumulator
from chat.providers.openai_compatible.chunks import ChunkDecoder, Delta
from chat.providers.openai_compatible.pace import WORK_S
from chat.providers.openai_compatible.reader import PAUSE_BYTES, PAUSE_STEPS, ResponseReader
from chat.providers.openai_compatible.transport import UNARY_LIMIT_BYTES, Response
from chat.providers.provider_errors import MalformedResponse, Overloaded, ProviderError, Stalled, Unreachable
from chat.providers.sse import EventParser, JSONEvent
from chat.providers.untrusted_json import BRACKETS_LIMIT, VALUES_LIMIT, read_json
from chat.vocabulary.parts import InlineData, Text
from chat.vocabulary.stream_events import Finished, PartReceived, StreamEvent

ERROR = b'data: {"error": {"code": 503, "message": "overloaded"}}\n\n'
PIECE_BYTES = 65_536


def text(content: str) -> bytes:
    """Return an event with a piece of text."""
    return b'data: {"choices": [{"delta": {"content": "%b"}}]}\n\n' % content.encode()


async def body(pieces: Iterable[bytes]) -> AsyncGenerator[bytes, None]:
    for piece in pieces:
        yield piece


def make_reader() -> ResponseReader:
    return ResponseReader(Accumulator(has_functions=True), ChunkDecoder(), api_key="")


async def read(reader: ResponseReader, *pieces: bytes, is_stream: bool = True) -> list[StreamEvent]:
    """Return all events of a response."""
    return [event async for events in reader.read(Response(is_stream, body(pieces))) for event in events]


def texts_of(events: Iterable[StreamEvent]) -> list[str]:
    return [event.part.text for event in events if isinstance(event, PartReceived) and isinstance(event.part, Text)]


class WorkBetweenTurns:
    """Measures how much work is done before other tasks run."""

    def __init__(self) -> None:
        self.most = 0
        self._done = 0

    def count(self, work: int) -> None:
        """Add to the work since another task has run."""
        self._done += work
        self.most = max(self.most, self._done)

    async def run_others(self) -> None:
        """Run as another task, and end the count of work each time."""
        while True:
            self._done = 0
            await asyncio.sleep(0)


@pytest.fixture
async def work() -> AsyncGenerator[WorkBetweenTurns, None]:
    measured = WorkBetweenTurns()
    task = asyncio.ensure_future(measured.run_others())
    yield measured
    task.cancel()


@pytest.mark.parametrize(
    "piece", [b"\n" * PIECE_BYTES, b": comment\n\n" * 6_000, b"\n"], ids=["lines", "comments", "single"]
)
async def test_other_tasks_run_while_empty_lines_and_comments_are_parsed(
    work: WorkBetweenTurns, monkeypatch: pytest.MonkeyPatch, piece: bytes
) -> None:
    feed = EventParser.feed

    def counted(parser: EventParser, data: bytes) -> Iterable[JSONEvent]:
        work.count(len(data))
        return feed(parser, data)

    monkeypatch.setattr(EventParser, "feed", counted)
    await read(make_reader(), *[piece] * 20)
    assert work.most <= PAUSE_BYTES


@pytest.mark.parametrize("is_stream", [True, False])
@pytest.mark.parametrize(
    "event",
    [
        b'data: {"choices": [{"delta": {"tool_calls": [%b]}}]}\n\n' % b",".join([b"{}"] * 20_000),
        b'data: {"choices": [{"delta": {"content": [%b]}}]}\n\n' % b",".join([b'{"text": "a"}'] * 20_000),
        b'data: {"system_fingerprint": "a"}\n\n' * 20_000,
    ],
    ids=["calls", "texts", "events"],
)
async def test_other_tasks_run_while_many_deltas_are_parsed(
    work: WorkBetweenTurns, monkeypatch: pytest.MonkeyPatch, event: bytes, is_stream: bool
) -> None:
    add = Accumulator.add

    def counted(accumulator: Accumulator, delta: Delta) -> Iterable[StreamEvent]:
        work.count(1)
        return add(accumulator, delta)

    monkeypatch.setattr(Accumulator, "add", counted)
    pieces = [event[start : start + PIECE_BYTES] for start in range(0, len(event), PIECE_BYTES)]
    await read(make_reader(), *(pieces if is_stream else [event.partition(b"\n")[0][6:]]), is_stream=is_stream)
    assert 0 < work.most <= PAUSE_STEPS


async def test_events_after_the_first_error_are_not_read() -> None:
    reader = make_reader()
    events = await read(reader, text("a") + ERROR + text("b"), text("c"))
    assert texts_of(events) == ["a"]
    assert isinstance(reader.error, Overloaded)


@pytest.mark.parametrize("end", [b"\n\n", b""])
async def test_no_event_follows_an_error_at_the_end_of_the_stream(end: bytes) -> None:
    reader = make_reader()
    events = await read(reader, text("a"), ERROR.strip() + end)
    assert texts_of(events) == ["a"]
    assert isinstance(reader.error, Overloaded)
    assert not any(isinstance(event, Finished) for event in events)


async def test_event_that_exceeds_the_size_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_module, "EVENT_LIMIT_BYTES", 10_000)
    reader = make_reader()
    events = await read(reader, text("a"), *text("b" * 10_000).partition(b"content")[::2], text("c"))
    assert texts_of(events) == ["a"]
    assert isinstance(reader.error, MalformedResponse)
    reader = make_reader()
    assert texts_of(await read(reader, text("b" * 5_000))) == ["b" * 5_000]
    assert reader.error is None


@pytest.mark.parametrize("is_stream", [True, False])
async def test_event_may_contain_an_image_of_some_megabytes(is_stream: bool) -> None:
    out = io.BytesIO()
    Image.frombytes("RGB", (1_000, 2_500), random.Random(1).randbytes(7_500_000)).save(out, "PNG", compress_level=0)
    event = text(f"![image](data:image/png;base64,{base64.b64encode(out.getvalue()).decode()})")
    assert len(event) > UNARY_LIMIT_BYTES
    reader = make_reader()
    body = event if is_stream else event.removeprefix(b"data: ")
    pieces = [body[start : start + PIECE_BYTES] for start in range(0, len(body), PIECE_BYTES)]
    [picture] = [
        event.part for event in await read(reader, *pieces, is_stream=is_stream) if isinstance(event, PartReceived)
    ]
    assert picture == InlineData("image/png", data=out.getvalue())


@pytest.mark.parametrize("error", [Stalled("silent"), Unreachable("reset")])
async def test_incomplete_image_is_described_in_words_if_the_connection_breaks(error: ProviderError) -> None:
    async def broken() -> AsyncGenerator[bytes, None]:
        yield text("Look: ![image](data:image/png;base64,iVBORw0KGgoAAAAN")
        raise error

    reader = make_reader()
    events = [event async for events in reader.read(Response(True, broken())) for event in events]
    assert texts_of(events) == ["Look: ", "(An image that cannot be shown: image/png, 12 bytes)"]
    assert reader.error is error


async def test_stream_that_exceeds_the_size_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_module, "RESPONSE_LIMIT_BYTES", 10 * PIECE_BYTES)
    reader, sent = make_reader(), 0

    async def endless() -> AsyncGenerator[bytes, None]:
        nonlocal sent
        while True:
            sent += PIECE_BYTES
            yield b"\n" * PIECE_BYTES
            await asyncio.sleep(0)

    async for _ in reader.read(Response(True, endless())):
        if reader.error:
            break
    assert isinstance(reader.error, MalformedResponse)
    assert str(10 * PIECE_BYTES) in reader.error.detail


@pytest.mark.parametrize("is_stream", [True, False])
async def test_json_with_too_many_lists_is_refused(is_stream: bool) -> None:
    reader = make_reader()
    value = b'{"choices": [%b]}' % b",".join([b"{}"] * BRACKETS_LIMIT)
    await read(reader, b"data: %b\n\n" % value if is_stream else value, is_stream=is_stream)
    assert isinstance(reader.error, MalformedResponse)
    assert "too many lists" in reader.error.detail


@pytest.mark.parametrize("value", [b'""', b"0"], ids=["strings", "numbers"])
async def test_json_with_too_many_values_is_refused(value: bytes) -> None:
    reader = make_reader()
    await read(reader, b'{"choices": [%b]}' % b",".join([value] * (VALUES_LIMIT + 2)), is_stream=False)
    assert isinstance(reader.error, MalformedResponse)
    assert "too many values" in reader.error.detail


async def test_commas_and_quotes_in_a_long_text_do_not_count_as_json_values() -> None:
    content = '\\",\\\\,' * (2 * VALUES_LIMIT)
    [part] = texts_of(await read(make_reader(), text(content)[6:-2], is_stream=False))
    assert part == '",\\,' * (2 * VALUES_LIMIT)


def test_json_string_without_an_end_is_refused_quickly() -> None:
    # A regular expression that tried each quotation mark as the beginning of a string would take minutes.
    with pytest.raises(ValueError, match="Unterminated"):
        read_json('{"a": "' + '\\",' * (2 * VALUES_LIMIT))


async def test_reader_sleeps_for_as_long_as_it_has_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    worked_s, rests = 0.0, []

    def clock() -> float:
        return worked_s

    def feed(parser: EventParser, data: bytes) -> Iterable[JSONEvent]:
        nonlocal worked_s
        worked_s += WORK_S / 2
        return iter(())

    sleep = asyncio.sleep

    async def counted(seconds: float) -> None:
        rests.append(seconds)
        await sleep(0)

    monkeypatch.setattr(time, "perf_counter", clock)
    monkeypatch.setattr(asyncio, "sleep", counted)
    monkeypatch.setattr(EventParser, "feed", feed)
    await read(make_reader(), *[b"\n" * PIECE_BYTES] * 2)
    assert sum(rests) >= worked_s - WORK_S
    assert max(rests) <= 2 * WORK_S
