"""Leases for exports of all conversations: each person has at most one such export, across all server processes.

A download holds a row with a lease, which its process renews while it sends. If the process dies, the next export can
start when the lease has expired. If a process is alive but could not renew its lease in time, another export may start.
The two overlap until the first one tries its next renewal, and ends.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from asgiref.sync import sync_to_async
from django.db import IntegrityError, transaction
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Now

from chat.models import RunningExport
from chat.models.database_thread import close_connection

T = TypeVar("T")

logger = logging.getLogger(__name__)

LEASE_S = 15
"""Length of the lease in seconds. If the process of an export dies, the next export must wait this long."""
RENEWALS_PER_LEASE = 3
UNDER_WAY = (
    "Another export of all your conversations is under way. Wait until it has arrived, or cancel it. If it was cut off,"
    f" try again in {LEASE_S} seconds."
)


class ExportUnderWay(Exception):
    """Another export of everything of this person is under way. The text is a sentence for the person."""

    retry_after_s = LEASE_S

    def __init__(self) -> None:
        super().__init__(UNDER_WAY)


@dataclass(frozen=True, slots=True)
class ExportClaim:
    """The lease that a download holds while it exports everything of a person."""

    id: uuid.UUID

    def renew(self) -> bool:
        """Extend the lease; return False if another download has the lease now."""
        return RunningExport.objects.filter(claim=self.id).update(expires_at=_lease_end()) == 1

    def release(self) -> None:
        """Release the lease, so that the next export can start."""
        RunningExport.objects.filter(claim=self.id).delete()

    @asynccontextmanager
    async def hold(self) -> AsyncGenerator[asyncio.Task[None], None]:
        """Renew the lease during the block, and release it at the end.

        The block gets the task that renews the lease. The task is done when another download has the lease.
        """
        renewal = asyncio.create_task(self._renew_until_lost())
        try:
            yield renewal
        finally:
            renewal.cancel()
            with suppress(asyncio.CancelledError):
                await renewal
            await sync_to_async(_in_a_thread, thread_sensitive=False)(self.release)

    async def _renew_until_lost(self) -> None:
        is_held = True
        while is_held:
            await asyncio.sleep(LEASE_S / RENEWALS_PER_LEASE)
            try:
                # Another thread is used, because the thread of the request may wait for storage.
                is_held = await sync_to_async(_in_a_thread, thread_sensitive=False)(self.renew)
            except Exception:
                logger.warning("the lease of an export could not be renewed", exc_info=True)


def claim_export(user_id: int) -> ExportClaim:
    """Claim the export of everything for a download. Raises ExportUnderWay if another one has it."""
    claim = ExportClaim(uuid.uuid4())
    columns = {"claim": claim.id, "expires_at": _lease_end()}
    expired = RunningExport.objects.filter(user_id=user_id, expires_at__lte=Now())
    try:
        with transaction.atomic():
            if not expired.update(**columns):
                RunningExport.objects.create(user_id=user_id, **columns)
    except IntegrityError:
        raise ExportUnderWay from None
    return claim


def check_export(user_id: int) -> None:
    """Raise ExportUnderWay if an export of everything of this person is under way."""
    if RunningExport.objects.filter(user_id=user_id, expires_at__gt=Now()).exists():
        raise ExportUnderWay


def _lease_end() -> CombinedExpression:
    # The database's clock is used, because clocks of processes may differ.
    return Now() + timedelta(seconds=LEASE_S)


def _in_a_thread(function: Callable[[], T]) -> T:
    """Call a function, and then close the database connection, because this thread returns to a pool."""
    try:
        return function()
    finally:
        close_connection()
