"""Ends a server process in steps, so that a restart interrupts few answers and loses nothing.

At the first SIGTERM or SIGINT the process begins to drain: `/readyz` returns 503, and no turn is started here any more.
Its live turns may end within `DRAIN_SECONDS`. Meanwhile open pages are told to connect again, a few at a time, so that
they move to other processes. A page whose answer is written here moves when the answer has ended. After that time the
remaining turns are marked as interrupted, all connections are closed, and the process ends. A second signal ends it
at once; another process then marks its turns when their leases have expired.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
import signal

from django.conf import settings

from chat.answering.turns import draining
from chat.answering.turns.runner import Runner
from chat.page.relay import broadcast
from chat.page.relay.broadcast import Movable
from chat.python.newer_files import run as newer_file_runs
from chat.python.table_readings import live_readings
from config import daphne_server
from config.daphne_server import Request, WebSocket

logger = logging.getLogger(__name__)

SIGNALS = (signal.SIGTERM, signal.SIGINT)
NOTICE_S = 3.0
"""Time for which the process still serves requests, so that a load balancer notices that `/readyz` fails."""
MOVES_PER_S = 200
"""Maximum number of pages per second that are told to reconnect. The process that they move to takes about 5 ms for
each handshake."""
MOVE_INTERVAL_S = 0.1
STORE_LIMIT_S = 5.0
"""Maximum time for storing the ends of interrupted turns. If it is too short, their leases expire."""


class Server(daphne_server.Server):
    """A server that drains before it stops."""

    def run(self) -> None:
        """Serve until the process has drained after a signal."""
        # Twisted's own handlers would stop the server at once.
        self.signal_handlers = False
        for number in SIGNALS:
            # An ignored signal stays ignored: a shell starts processes in the background with SIGINT ignored.
            if signal.getsignal(number) is not signal.SIG_IGN:
                daphne_server.EVENT_LOOP.add_signal_handler(number, self._begin_to_drain)
        super().run()

    def _begin_to_drain(self) -> None:
        draining.begin()
        for number in SIGNALS:
            # The default handler of the system is not enough: it does nothing in the first process of a container.
            daphne_server.EVENT_LOOP.add_signal_handler(number, os._exit, 128 + number)
        self._draining = asyncio.get_running_loop().create_task(self._drain(), name="draining")

    async def _drain(self) -> None:
        loop = asyncio.get_running_loop()
        end_at = loop.time() + settings.DRAIN_SECONDS
        try:
            await drain(settings.DRAIN_SECONDS)
            self.stop_listening()
            await _move(broadcast.all_subscribers())
            await asyncio.gather(
                self.wait_until_closed(WebSocket, daphne_server.CLOSE_LIMIT_S),
                # Open requests are downloads, and requests that wait for code.
                self.wait_until_closed(Request, max(daphne_server.CLOSE_LIMIT_S, end_at - loop.time())),
            )
        except Exception:
            logger.exception("the server could not drain")
        try:
            await newer_file_runs.end_all()
            await live_readings.end_all()
        finally:
            self.stop()


async def drain(limit_s: float) -> None:
    """Wait until all turns have ended and pages have moved. After `limit_s` interrupt the remaining turns."""
    runner = Runner.current()
    logger.info("draining: %d answers may end within %d s", len(runner.live_turns()), limit_s)
    try:
        async with asyncio.timeout(limit_s):
            await asyncio.sleep(NOTICE_S)
            await move_pages(runner)
            await runner.drain()
    except TimeoutError:
        pass
    try:
        async with asyncio.timeout(STORE_LIMIT_S):
            interrupted = await runner.interrupt_turns()
    except TimeoutError:
        logger.warning("drained: some answers could not be marked as interrupted in time")
    else:
        logger.info("drained: %d answers were interrupted", interrupted)


async def move_pages(runner: Runner) -> None:
    """Close the open connections in random order, each as soon as no turn of its conversation runs in this process."""
    waiting = broadcast.all_subscribers()
    random.shuffle(waiting)
    while waiting:
        live = runner.live_conversations()
        idle = [pair for pair in waiting if pair[0] not in live][: int(MOVES_PER_S * MOVE_INTERVAL_S)]
        await _move(idle)
        moved = set(idle)
        waiting = [pair for pair in waiting if pair not in moved]
        await asyncio.sleep(MOVE_INTERVAL_S)


async def _move(subscribers: list[tuple[str, broadcast.Subscriber]]) -> None:
    """Tell these pages to connect again, and close their connections."""
    movable = [subscriber for _, subscriber in subscribers if isinstance(subscriber, Movable)]
    await asyncio.gather(*(subscriber.move() for subscriber in movable), return_exceptions=True)
