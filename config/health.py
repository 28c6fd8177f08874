"""Health checks for load balancers: `/healthz` (the process is up) and `/readyz` (its dependencies can be reached).

The endpoints are public, so a response contains only the names of failed checks. The reasons are logged.
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

#: Time limit of all checks together.
CHECK_LIMIT_S = 3.0
#: A result is cached for this time, so that public requests cannot put load on the storage.
RESULT_LIFETIME_S = 2.0


def check_database() -> None:
    """Run a query. Raise django.db.Error."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    finally:
        connection.close()


def check_channel_layer() -> None:
    """Send one message through Redis and receive it. Raise OSError, redis.RedisError or TimeoutError."""
    # The check creates its own layer, because a layer cannot receive on two event loops at once.
    layer = channel_layers.make_backend("default")
    if not isinstance(layer, InMemoryChannelLayer):
        async_to_sync(_send_and_receive)(layer)


async def _send_and_receive(layer: BaseChannelLayer) -> None:
    async with asyncio.timeout(CHECK_LIMIT_S):
        channel = await layer.new_channel("ready")
        await layer.send(channel, {"type": "ready"})
        await layer.receive(channel)


CHECKS: dict[str, Callable[[], None]] = {
    "database": check_database,
    "channel_layer": check_channel_layer,
    "storage": storage.probe,
}
# Each check has its own thread, so a check that hangs delays neither other checks nor the server, and hangs only once.
EXECUTORS = {name: ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"ready-{name}") for name in CHECKS}


@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """Return 200, because the process responds."""
    return JsonResponse({"status": "ok"})


@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Return 200 if all checks pass, else 503 with the names of the failed checks."""
    failing = READINESS.find_failing_checks()
    body = {"status": "failing" if failing else "ok", "checked": list(CHECKS), "failing": failing}
    return JsonResponse(body, status=503 if failing else 200)


class Readiness:
    """Caches the result of the checks. Concurrent requests wait for the running checks instead of starting new ones."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._checked_at_s = float("-inf")
        self._failing: list[str] = []

    def find_failing_checks(self) -> list[str]:
        """Return the names of the failed checks. The result is at most `RESULT_LIFETIME_S` old."""
        with self._lock:
            if time.monotonic() - self._checked_at_s >= RESULT_LIFETIME_S:
                self._failing = _run_checks()
                self._checked_at_s = time.monotonic()
            return self._failing


READINESS = Readiness()


def _run_checks() -> list[str]:
    """Run all checks in parallel, and return the names of those that failed."""
    deadline_s = time.monotonic() + CHECK_LIMIT_S
    runs = {name: EXECUTORS[name].submit(check) for name, check in CHECKS.items()}
    return [name for name, run in runs.items() if not _has_passed(name, run, deadline_s)]


def _has_passed(name: str, run: Future[None], deadline_s: float) -> bool:
    """Wait for a check until the deadline, and return whether it passed. A check that has not begun is cancelled."""
    try:
        error = run.exception(timeout=max(0.0, deadline_s - time.monotonic()))
    except TimeoutError:
        run.cancel()
        logger.warning("Not ready: %s did not answer within %.0f s", name, CHECK_LIMIT_S)
        return False
    if error is not None:
        logger.warning("Not ready: %s: %s: %s", name, type(error).__name__, error)
    return error is None
