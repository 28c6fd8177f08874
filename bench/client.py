"""A client of the product's socket that does what its page does: send, read frames, acknowledge.

It runs on uvloop in the process that measures, and is timed itself: a busy client would be taken for a slow server.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import aiohttp

from bench.answers import Level, Reading, now_us
from bench.figures import Observed
from bench.processes import BenchError

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


@dataclass(frozen=True, slots=True)
class Door:
    """Where one conversation's socket is."""

    url: str
    headers: dict[str, str]
    is_product: bool
    """The product sends JSON, wants acknowledgements and says when a turn has ended; a bare relay sends text."""


async def run_level(doors: Sequence[Door], level: Level, sample: Callable[[], tuple[float, int]]) -> Observed:
    """Open a socket for each door, ask on all of them, and read to the end.

    `sample` gives the server's CPU seconds and memory in bytes now.
    """
    observed = Observed(asked_per_s=level.conversations * level.answer.rate)
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=30)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=timeout) as session:
        gate = asyncio.Semaphore(HANDSHAKES_AT_ONCE)
        sockets = await asyncio.gather(*(_open(session, door, gate) for door in doors))
        await asyncio.sleep(SETTLE_S)
        begun_at, begun_cpu_s = time.monotonic(), time.process_time()
        server_cpu_s, _ = sample()
        start_at = asyncio.get_running_loop().time() + 0.02
        weighing = asyncio.create_task(_weigh(observed, level, sample))
        pause_s = level.stagger_s / level.conversations
        followers = [
            _Follower(socket, door, level, observed).run(start_at + number * pause_s)
            for number, (socket, door) in enumerate(zip(sockets, doors, strict=True))
        ]
        async with asyncio.timeout(level.stagger_s + level.answer.duration_s + DRAIN_LIMIT_S):
            await asyncio.gather(*followers)
        observed.wall_s = time.monotonic() - begun_at
        observed.client_share = (time.process_time() - begun_cpu_s) / observed.wall_s
        observed.cpu_s = sample()[0] - server_cpu_s
        await weighing
        await asyncio.gather(*(socket.close() for socket in sockets))
    return observed


async def _open(
    session: aiohttp.ClientSession, door: Door, gate: asyncio.Semaphore
) -> aiohttp.ClientWebSocketResponse[bool]:
    async with gate:
        return await session.ws_connect(door.url, headers=door.headers, max_msg_size=0)


async def _weigh(observed: Observed, level: Level, sample: Callable[[], tuple[float, int]]) -> None:
    # Shortly before the first answer ends: then all are live, and as long as they get.
    await asyncio.sleep(max(level.stagger_s, level.answer.duration_s) * 0.9)
    observed.rss_live_bytes = sample()[1]


class _Follower:
    """One conversation of a level."""

    def __init__(
        self, socket: aiohttp.ClientWebSocketResponse[bool], door: Door, level: Level, observed: Observed
    ) -> None:
        self._socket, self._door, self._level, self._observed = socket, door, level, observed
        self._reading = Reading()
        self._expected = level.answer.stamps
        self._unacknowledged = 0
        self._acknowledged_us = 0

    async def run(self, start_at: float) -> None:
        """Ask at that time of the loop's clock and read the whole answer."""
        await asyncio.sleep(max(0.0, start_at - asyncio.get_running_loop().time()))
        question = {"action": "send", "text": self._level.answer.prompt(), "client_id": str(uuid.uuid4())}
        self._reading.send()
        self._acknowledged_us = self._reading.sent_us
        await self._socket.send_str(json.dumps(question))
        while True:
            message = await self._socket.receive()
            at_us = now_us()
            if message.type is not aiohttp.WSMsgType.TEXT:
                raise BenchError(f"the socket closed in the middle of an answer: {message!r}")
            if await self._take(message.data, at_us):
                break
        self._observed.add(self._reading, self._expected)

    async def _take(self, data: str, at_us: int) -> bool:
        """One message; whether it was the last."""
        frame = json.loads(data) if self._door.is_product else {"content": data}
        content = frame.get("content", "")
        is_news = self._reading.take(content, at_us)
        if not self._door.is_product:
            has_ended = len(self._reading.delays_us) >= self._expected
        else:
            statuses = ANSWER_STATUS.findall(content)
            has_ended = bool(statuses) and statuses[-1] != "running"
            if has_ended and statuses[-1] != "done":
                raise BenchError(f"a turn ended as {statuses[-1]}")
            if complaint := COMPLAINT.search(content):
                raise BenchError(f"the server complained: {complaint[1]}")
            await self._acknowledge(frame, at_us)
        self._count(len(data.encode()), is_progress=is_news and not (self._door.is_product and has_ended))
        return has_ended

    async def _acknowledge(self, frame: dict[str, object], at_us: int) -> None:
        if "seq" not in frame:
            return
        self._unacknowledged += 1
        if self._unacknowledged >= ACK_EVERY_FRAMES or at_us - self._acknowledged_us >= ACK_AFTER_US:
            self._unacknowledged, self._acknowledged_us = 0, at_us
            told = {"action": "ack", "turn": frame.get("turn"), "seq": frame["seq"]}
            await self._socket.send_str(json.dumps(told))

    def _count(self, size_bytes: int, *, is_progress: bool) -> None:
        self._observed.frames += 1
        self._observed.bytes += size_bytes
        if is_progress:
            self._observed.progress_frames += 1
            self._observed.progress_bytes += size_bytes
