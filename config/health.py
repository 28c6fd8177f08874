"""What a load balancer asks: is the process up, and can it reach what it needs?

Anybody may ask, so an answer names what fails and nothing more; the reason goes to the log.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from asgiref.sync import async_to_sync
from channels.layers import BaseChannelLayer, InMemoryChannelLayer, channel_layers
from django.db import connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from attachments import storage

logger = logging.getLogger(__name__)

#: Seconds within which everything must have answered.
LIMIT_S = 3.0
#: Seconds for which a result answers all who ask: strangers must not make storage work.
KEPT_S = 2.0


def check_database() -> None:
    """Raises django.db.Error."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    finally:
        connection.close()


def check_channel_layer() -> None:
    """Send one message through Redis and receive it. Raises OSError, redis.RedisError, TimeoutError."""
    # A layer of its own: one layer cannot receive on two event loops at once.
    layer = channel_layers.make_backend("default")
    if not isinstance(layer, InMemoryChannelLayer):
        async_to_sync(_round_trip)(layer)


async def _round_trip(layer: BaseChannelLayer) -> None:
    async with asyncio.timeout(LIMIT_S):
        channel = await layer.new_channel("ready")
        await layer.send(channel, {"type": "ready"})
        await layer.receive(channel)


CHECKS: dict[str, Callable[[], None]] = {
    "database": check_database,
    "channel_layer": check_channel_layer,
    "storage": storage.probe,
}
# One thread each: a check that hangs holds up neither the others nor the server, and can hang only once.
WORKERS = {name: ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"ready-{name}") for name in CHECKS}


@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """The process answers."""
    return JsonResponse({"status": "ok"})


@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """200 when everything this server needs can be reached, else 503 with the names of what cannot."""
    failing = READINESS.failing()
    body = {"status": "failing" if failing else "ok", "checked": list(CHECKS), "failing": failing}
    return JsonResponse(body, status=503 if failing else 200)


class Readiness:
    """The last result of this process; whoever asks while the checks run waits for them instead of running more."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known_at = float("-inf")
        self._failing: list[str] = []

    def failing(self) -> list[str]:
        """Names of what cannot be reached, as known at most `KEPT_S` ago."""
        with self._lock:
            if time.monotonic() - self._known_at >= KEPT_S:
                self._failing = _failing_now()
                self._known_at = time.monotonic()
            return self._failing


READINESS = Readiness()


def _failing_now() -> list[str]:
    deadline = time.monotonic() + LIMIT_S
    runs = {name: WORKERS[name].submit(check) for name, check in CHECKS.items()}
    return [name for name, run in runs.items() if not _passes(name, run, deadline)]


def _passes(name: str, run: Future[None], deadline: float) -> bool:
    """Whether the check ended well in time; one that has not begun by then is taken back."""
    try:
        error = run.exception(timeout=max(0.0, deadline - time.monotonic()))
    except TimeoutError:
        run.cancel()
        logger.warning("Not ready: %s did not answer within %.0f s", name, LIMIT_S)
        return False
    if error is not None:
        logger.warning("Not ready: %s: %s: %s", name, type(error).__name__, error)
    return error is None
