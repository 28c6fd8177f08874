"""Health checks for load balancers: `/healthz` (the process is up) and `/readyz` (the process can serve).

A process that is about to end is not ready, so that load balancers send requests to others.
Without the database a process cannot serve. Without another dependency it serves what does not need it: it is ready,
and the response names what is degraded. The endpoints are public, so a response contains only the names of failed
checks. The reasons are logged.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeAlias, cast

from asgiref.sync import async_to_sync, iscoroutinefunction, sync_to_async
from channels.layers import BaseChannelLayer, InMemoryChannelLayer, channel_layers
from django.conf import settings
from django.db import connection
from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from attachments import storage
from chat.answering.turns.draining import is_draining
from chat.python.sessions import places

logger = logging.getLogger(__name__)

#: Maximum duration of all checks together.
CHECK_LIMIT_S = 3.0
#: A result is cached for this time, so that public requests cannot put load on the storage.
RESULT_LIFETIME_S = 2.0
#: Free bytes on the disk of `PLOTLINE_VAR_DIR` below which the disk counts as full.
DISK_RESERVE_BYTES = 200 * 1024 * 1024


def check_database() -> None:
    """Run a query. Raise django.db.Error if the database does not answer it."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    finally:
        connection.close()


def check_channel_layer() -> None:
    """Send a message through Redis and receive it. Raise OSError, redis.RedisError or TimeoutError if this fails."""
    # The check creates its own layer, because a layer cannot receive on two event loops at once.
    layer = channel_layers.make_backend("default")
    if not isinstance(layer, InMemoryChannelLayer):
        async_to_sync(_send_and_receive)(layer)


def check_disk() -> None:
    """Raise OSError if the disk is nearly full."""
    free_bytes = shutil.disk_usage(settings.VAR_DIR).free
    if free_bytes < DISK_RESERVE_BYTES:
        raise OSError(f"only {free_bytes // 1024**2} MB are free")


async def _send_and_receive(layer: BaseChannelLayer) -> None:
    async with asyncio.timeout(CHECK_LIMIT_S):
        channel = await layer.new_channel("ready")
        await layer.send(channel, {"type": "ready"})
        await layer.receive(channel)


CHECKS: dict[str, Callable[[], None]] = {
    "database": check_database,
    "channel_layer": check_channel_layer,
    "storage": storage.probe,
    "disk": check_disk,
    "kernels": places.probe,
}
#: The checks without which a process is not ready.
NEEDED = frozenset({"database"})
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
    """Return 200 if this process can serve, else 503; with the names of the checks that failed."""
    if is_draining():
        body = {"status": "draining", "checked": [], "failing": [], "degraded": []}
        return JsonResponse(body, status=503)
    failed = READINESS.find_failing_checks()
    failing = [name for name in failed if name in NEEDED]
    degraded = [name for name in failed if name not in NEEDED]
    status = "failing" if failing else "degraded" if degraded else "ok"
    body = {"status": status, "checked": list(CHECKS), "failing": failing, "degraded": degraded}
    return JsonResponse(body, status=503 if failing else 200)


VIEWS: dict[str, Callable[[HttpRequest], JsonResponse]] = {"/healthz": healthz, "/readyz": readyz}

SyncHandler: TypeAlias = Callable[[HttpRequest], HttpResponseBase]
AsyncHandler: TypeAlias = Callable[[HttpRequest], Awaitable[HttpResponseBase]]


@sync_and_async_middleware
def answer_any_host(get_response: SyncHandler | AsyncHandler) -> SyncHandler | AsyncHandler:
    """Return middleware that answers health checks whatever their Host header names, before Django refuses it.

    A load balancer sends the address of the process, which is not one of ALLOWED_HOSTS.
    """

    async def answer_async(request: HttpRequest) -> HttpResponseBase:
        if view := VIEWS.get(request.path_info):
            # The view does not run on Django's shared thread, which other requests may keep busy.
            return await sync_to_async(view, thread_sensitive=False)(request)
        return await cast("AsyncHandler", get_response)(request)

    def answer(request: HttpRequest) -> HttpResponseBase:
        if view := VIEWS.get(request.path_info):
            return view(request)
        return cast("SyncHandler", get_response)(request)

    return answer_async if iscoroutinefunction(get_response) else answer


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
                reasons = _run_checks()
                self._log_changes(reasons)
                self._failing = list(reasons)
                self._checked_at_s = time.monotonic()
            return self._failing

    def _log_changes(self, reasons: Mapping[str, str]) -> None:
        """Log each check that fails now or passes again, and not every run: load balancers ask every few seconds."""
        for name, reason in reasons.items():
            if name not in self._failing:
                logger.warning("Check failed: %s: %s", name, reason)
        for name in self._failing:
            if name not in reasons:
                logger.warning("Check passes again: %s", name)


READINESS = Readiness()


def _run_checks() -> dict[str, str]:
    """Run all checks in parallel, and return the names of those that failed, with the reasons."""
    deadline_s = time.monotonic() + CHECK_LIMIT_S
    runs = {name: EXECUTORS[name].submit(check) for name, check in CHECKS.items()}
    reasons = {name: _failure(run, deadline_s) for name, run in runs.items()}
    return {name: reason for name, reason in reasons.items() if reason}


def _failure(run: Future[None], deadline_s: float) -> str:
    """Wait for a check until the deadline, and return why it failed; empty if it passed.

    A check that has not begun is cancelled.
    """
    try:
        error = run.exception(timeout=max(0.0, deadline_s - time.monotonic()))
    except TimeoutError:
        run.cancel()
        return f"no answer within {CHECK_LIMIT_S:g} s"
    return "" if error is None else f"{type(error).__name__}: {error}"
