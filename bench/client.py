"""A client of the product's socket that does what its page does: send, read frames, acknowledge.

It runs on uvloop in the process that measures, and is timed itself: a busy client would be taken for a slow server.
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

from bench.answers import Level, Reading
from bench.figures import Observed, Sample
from bench.processes import BenchError
from bench.websocket import connect

ACK_EVERY_FRAMES = 16
ACK_AFTER_US = 1_000_000
"""As in the page's connection.js."""

SETTLE_S = 0.3
"""Between the last handshake and the first question."""
DRAIN_LIMIT_S = 90.0
"""How long a server that fell behind may take to deliver the rest."""
HANDSHAKES_AT_ONCE = 20

#: The answer's article in the frames that open and close a turn.
ANSWER_STATUS = re.compile(r'data-role="model" data-status="(\w+)"')
COMPLAINT = re.compile(r'hx-target="#composer-error"[^>]*><p>(.*?)</p>')


class Line(Protocol):
    """A connection that has been opened: texts go out, and come in with their time in microseconds."""

    on_text: Callable[[bytes, int], None]
    closed: asyncio.Future[None]

    def send(self, text: str) -> None:
        """Send one message."""
        ...

    async def close(self) -> None:
        """End it."""
        ...


Opener = Callable[[str, Mapping[str, str]], Awaitable[Line]]


@dataclass(frozen=True, slots=True)
class Door:
    """Where one conversation's socket is."""

    url: str
    headers: dict[str, str]
    is_product: bool
    """The product sends JSON, wants acknowledgements and says when a turn has ended; a bare relay sends text."""
    asks: bool = True
    """Whether this tab asks the question; others on the same conversation only read."""
    opener: Opener = connect


async def run_level(doors: Sequence[Door], level: Level, sample: Callable[[], Sample]) -> Observed:
    """Open a socket for each door, ask on all of them, and read to the end; `sample` weighs the other processes now."""
    observed = Observed(asked_per_s=level.conversations * level.answer.rate)
    gate = asyncio.Semaphore(HANDSHAKES_AT_ONCE)
    sockets = await asyncio.gather(*(_open(door, gate) for door in doors))
    followers = [Follower(socket, door, level) for socket, door in zip(sockets, doors, strict=True)]
    await asyncio.sleep(SETTLE_S)
    begun_at, before = time.monotonic(), sample()
    start_at = asyncio.get_running_loop().time() + 0.02
    weighing = asyncio.create_task(weigh(observed, level, sample))
    pause_s = level.stagger_s / level.conversations
    async with asyncio.timeout(level.stagger_s + level.answer.duration_s + DRAIN_LIMIT_S):
        await asyncio.gather(*(follower.run(start_at + number * pause_s) for number, follower in enumerate(followers)))
    observed.wall_s = time.monotonic() - begun_at
    after = sample()
    observed.cpu_s = after.server_cpu_s - before.server_cpu_s
    for follower in followers:
        follower.tell(observed)
    await weighing
    await asyncio.gather(*(socket.close() for socket in sockets))
    return observed


async def _open(door: Door, gate: asyncio.Semaphore) -> Line:
    async with gate:
        return await door.opener(door.url, door.headers)


async def weigh(observed: Observed, level: Level, sample: Callable[[], Sample]) -> None:
    """Note how busy all were while all answers were live, and the server's memory shortly before the first one ends."""
    length_s = max(level.stagger_s, level.answer.duration_s)
    await asyncio.sleep(min(level.stagger_s, length_s * 0.4))
    begun_at, before = time.monotonic(), sample()
    await asyncio.sleep(length_s * 0.9 - min(level.stagger_s, length_s * 0.4))
    after, wall_s = sample(), time.monotonic() - begun_at
    observed.rss_live_bytes = after.server_rss_bytes
    if wall_s > 0:
        observed.server_share = (after.server_cpu_s - before.server_cpu_s) / wall_s
        observed.upstream_share = (after.upstream_cpu_s - before.upstream_cpu_s) / wall_s
        observed.client_share = (after.client_cpu_s - before.client_cpu_s) / wall_s


class Follower:
    """One conversation of a level."""

    def __init__(self, socket: Line, door: Door, level: Level) -> None:
        self._socket, self._door, self._level = socket, door, level
        self._reading = Reading()
        self._expected = level.answer.stamps
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._frames = self._bytes = self._progress_frames = self._progress_bytes = 0
        self._unacknowledged = 0
        self._acknowledged_us = 0
        socket.on_text = self._take if door.is_product else self._take_plain

    async def run(self, start_at: float) -> None:
        """Ask at that time of the loop's clock and read the whole answer."""
        await asyncio.sleep(max(0.0, start_at - asyncio.get_running_loop().time()))
        question = {"action": "send", "text": self._level.answer.prompt(), "client_id": str(uuid.uuid4())}
        self._reading.send()
        self._acknowledged_us = self._reading.sent_us
        if self._door.asks:
            self._socket.send(json.dumps(question))
        await asyncio.wait((self._ended, self._socket.closed), return_when=asyncio.FIRST_COMPLETED)
        if not self._ended.done():
            raise BenchError("the socket closed in the middle of an answer")
        self._ended.result()

    def tell(self, observed: Observed) -> None:
        """Add what was seen."""
        observed.add(self._reading, self._expected)
        observed.frames += self._frames
        observed.bytes += self._bytes
        observed.progress_frames += self._progress_frames
        observed.progress_bytes += self._progress_bytes

    def _take_plain(self, data: bytes, at_us: int) -> None:
        self._count(data, is_progress=self._reading.take(data, at_us))
        if len(self._reading.delays_us) >= self._expected:
            self._end()

    def _take(self, data: bytes, at_us: int) -> None:
        is_news = self._reading.take(data, at_us)
        frame = json.loads(data)
        self._acknowledge(frame, at_us)
        content = frame.get("content", "")
        statuses = ANSWER_STATUS.findall(content)
        has_ended = bool(statuses) and statuses[-1] not in ("queued", "running")
        self._count(data, is_progress=is_news and not has_ended)
        if complaint := COMPLAINT.search(content):
            self._end(BenchError(f"the server complained: {complaint[1]}"))
        elif has_ended:
            self._end(None if statuses[-1] == "done" else BenchError(f"a turn ended as {statuses[-1]}"))

    def _end(self, error: BenchError | None = None) -> None:
        if self._ended.done():
            return
        if error:
            self._ended.set_exception(error)
        else:
            self._ended.set_result(None)

    def _acknowledge(self, frame: dict[str, object], at_us: int) -> None:
        if "seq" not in frame:
            return
        self._unacknowledged += 1
        if self._unacknowledged >= ACK_EVERY_FRAMES or at_us - self._acknowledged_us >= ACK_AFTER_US:
            self._unacknowledged, self._acknowledged_us = 0, at_us
            self._socket.send(json.dumps({"action": "ack", "turn": frame.get("turn"), "seq": frame["seq"]}))

    def _count(self, data: bytes, *, is_progress: bool) -> None:
        self._frames += 1
        self._bytes += len(data)
        if is_progress:
            self._progress_frames += 1
            self._progress_bytes += len(data)
