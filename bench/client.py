"""A websocket client that behaves like Plotline's page: it sends a message, reads frames and acknowledges them.

It runs on uvloop in the measuring process. Its own CPU time is measured too, because a busy client would look like a
slow server.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from bench.answers import AnswerTimings, Level
from bench.figures import LevelResult, ResourceSample
from bench.processes import BenchError
from bench.websocket import OnText, connect

#: The page's connection.js acknowledges after this number of frames, or after this time.
ACK_EVERY_FRAMES = 16
ACK_AFTER_US = 1_000_000

#: Pause between the last handshake and the first message.
SETTLE_S = 0.3

#: Maximum time for a server that fell behind to deliver the rest of a level.
DRAIN_TIMEOUT_S = 90.0

CONCURRENT_HANDSHAKES = 20

#: Status of the answer's article in the frames that start and end a turn.
ANSWER_STATUS = re.compile(r'data-role="model" data-status="(\w+)"')
LIVE_STATUSES = ("queued", "running")

#: The text of an error below the composer.
COMPOSER_ERROR = re.compile(r'hx-target="#composer-error"[^>]*><p>(.*?)</p>')


class Connection(Protocol):
    """An open connection that sends text messages and passes received ones to `on_text`."""

    on_text: OnText
    closed: asyncio.Future[None]

    def send(self, text: str) -> None:
        """Send one message."""
        ...

    async def close(self) -> None:
        """Close the connection."""
        ...


Connector = Callable[[str, Mapping[str, str]], Awaitable[Connection]]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Address and protocol of one conversation's socket."""

    url: str
    headers: dict[str, str]
    is_plotline: bool
    """Whether the server speaks Plotline's protocol: JSON frames, acknowledgements and a status at the end.

    Other targets send the text itself.
    """
    connector: Connector = connect


async def run_level(
    endpoints: Sequence[Endpoint], level: Level, take_sample: Callable[[], ResourceSample]
) -> LevelResult:
    """Connect to each endpoint, send a message on each connection, and read every answer to its end.

    `take_sample` returns the CPU time and memory that the measured processes have used so far. Raise BenchError if an
    answer fails and TimeoutError if the level does not end.
    """
    result = LevelResult(requested_per_s=level.conversations * level.answer.rate)
    semaphore = asyncio.Semaphore(CONCURRENT_HANDSHAKES)
    connections = await asyncio.gather(*(_connect(endpoint, semaphore) for endpoint in endpoints))
    clients = [
        ConversationClient(connection, endpoint, level)
        for connection, endpoint in zip(connections, endpoints, strict=True)
    ]
    await asyncio.sleep(SETTLE_S)
    started_at, before = time.monotonic(), take_sample()
    first_start_at = asyncio.get_running_loop().time() + 0.02
    recording = asyncio.create_task(record_load(result, level, take_sample))
    pause_s = level.stagger_s / level.conversations
    async with asyncio.timeout(level.stagger_s + level.answer.duration_s + DRAIN_TIMEOUT_S):
        await asyncio.gather(*(client.run(first_start_at + index * pause_s) for index, client in enumerate(clients)))
    result.wall_s = time.monotonic() - started_at
    after = take_sample()
    result.cpu_s = after.server_cpu_s - before.server_cpu_s
    for client in clients:
        client.add_to(result)
    await recording
    await asyncio.gather(*(connection.close() for connection in connections))
    return result


async def _connect(endpoint: Endpoint, semaphore: asyncio.Semaphore) -> Connection:
    async with semaphore:
        return await endpoint.connector(endpoint.url, endpoint.headers)


async def record_load(result: LevelResult, level: Level, take_sample: Callable[[], ResourceSample]) -> None:
    """Record the CPU shares while all answers are live, and the server's memory shortly before the first one ends."""
    length_s = max(level.stagger_s, level.answer.duration_s)
    start_s = min(level.stagger_s, length_s * 0.4)
    await asyncio.sleep(start_s)
    started_at, before = time.monotonic(), take_sample()
    await asyncio.sleep(length_s * 0.9 - start_s)
    after, wall_s = take_sample(), time.monotonic() - started_at
    result.rss_live_bytes = after.server_rss_bytes
    if wall_s > 0:
        result.server_share = (after.server_cpu_s - before.server_cpu_s) / wall_s
        result.upstream_share = (after.upstream_cpu_s - before.upstream_cpu_s) / wall_s
        result.client_share = (after.client_cpu_s - before.client_cpu_s) / wall_s


class ConversationClient:
    """The client of one conversation in a level."""

    def __init__(self, connection: Connection, endpoint: Endpoint, level: Level) -> None:
        self._connection, self._endpoint, self._level = connection, endpoint, level
        self._timings = AnswerTimings()
        self._expected_stamps = level.answer.stamp_count
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._frames = self._bytes = self._progress_frames = self._progress_bytes = 0
        self._unacknowledged_frames = 0
        self._acknowledged_at_us = 0
        connection.on_text = self._handle_frame if endpoint.is_plotline else self._handle_plain_text

    async def run(self, start_at: float) -> None:
        """Send the message at `start_at` of the event loop's clock, and wait until the answer has ended."""
        await asyncio.sleep(max(0.0, start_at - asyncio.get_running_loop().time()))
        message = {"action": "send", "text": self._level.answer.to_prompt(), "client_id": str(uuid.uuid4())}
        self._timings.record_send()
        self._acknowledged_at_us = self._timings.sent_at_us
        self._connection.send(json.dumps(message))
        await asyncio.wait((self._ended, self._connection.closed), return_when=asyncio.FIRST_COMPLETED)
        if not self._ended.done():
            raise BenchError("the socket closed in the middle of an answer")
        self._ended.result()

    def add_to(self, result: LevelResult) -> None:
        """Add this conversation's timings and counts to the result of the level."""
        result.add_answer(self._timings, self._expected_stamps)
        result.frames += self._frames
        result.bytes += self._bytes
        result.progress_frames += self._progress_frames
        result.progress_bytes += self._progress_bytes

    def _handle_plain_text(self, data: bytes, received_at_us: int) -> None:
        self._count(data, is_progress=self._timings.record_stamps(data, received_at_us))
        if len(self._timings.delays_us) >= self._expected_stamps:
            self._end()

    def _handle_frame(self, data: bytes, received_at_us: int) -> None:
        has_new_stamps = self._timings.record_stamps(data, received_at_us)
        frame = json.loads(data)
        self._acknowledge(frame, received_at_us)
        content = frame.get("content", "")
        statuses = ANSWER_STATUS.findall(content)
        has_ended = bool(statuses) and statuses[-1] not in LIVE_STATUSES
        self._count(data, is_progress=has_new_stamps and not has_ended)
        if error := COMPOSER_ERROR.search(content):
            self._end(BenchError(f"the server reported an error: {error[1]}"))
        elif has_ended:
            self._end(None if statuses[-1] == "done" else BenchError(f"a turn ended with status {statuses[-1]}"))

    def _end(self, error: BenchError | None = None) -> None:
        if self._ended.done():
            return
        if error:
            self._ended.set_exception(error)
        else:
            self._ended.set_result(None)

    def _acknowledge(self, frame: dict[str, object], received_at_us: int) -> None:
        if "seq" not in frame:
            return
        self._unacknowledged_frames += 1
        is_due = received_at_us - self._acknowledged_at_us >= ACK_AFTER_US
        if is_due or self._unacknowledged_frames >= ACK_EVERY_FRAMES:
            self._unacknowledged_frames, self._acknowledged_at_us = 0, received_at_us
            self._connection.send(json.dumps({"action": "ack", "turn": frame.get("turn"), "seq": frame["seq"]}))

    def _count(self, data: bytes, *, is_progress: bool) -> None:
        self._frames += 1
        self._bytes += len(data)
        if is_progress:
            self._progress_frames += 1
            self._progress_bytes += len(data)
