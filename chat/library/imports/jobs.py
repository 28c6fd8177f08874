"""Runs imports of uploaded files: a worker claims one, renews its claim while it imports, and stores the result.

A worker that dies stops renewing. When its claim has expired, another worker imports the file from the beginning.
Conversations that are here already are recognized, so none is stored twice. `ImportJob.attempts` is the fencing token:
a worker that was suspended for too long notices at its next report that another one has claimed the job, and stops.
"""

from __future__ import annotations

import logging
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from io import BufferedRandom
from pathlib import Path

import django.db
from django.conf import settings
from django.db import close_old_connections, connections
from django.db.models import Exists, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Coalesce, Now
from django.utils import timezone, translation

from attachments.store import BytesUnavailable
from chat.library.imports.large_files import Progress, import_large_file
from chat.library.imports.refusal import RefusedImport
from chat.library.imports.store import ImportResult
from chat.library.imports.uploads import cancel, delete_old, remove_pieces, write_pieces
from chat.models import ImportedConversation, ImportJob, User
from chat.people.quotas.resources import QuotaExceeded

logger = logging.getLogger(__name__)

LEASE = timedelta(seconds=90)
"""Length of a claim. It exceeds `store.UNFINISHED_LIMIT`, so the next worker can replace unfinished conversations."""
RENEWAL_S = 20.0
REPORT_S = 1.0
"""Seconds between two updates of the progress."""
RETRY = timedelta(seconds=30)
ATTEMPTS_LIMIT = 5
BROKEN_OFF = "This import has failed several times. Whoever runs this server finds the reason in its log."
SWEEP_S = 60.0

_running = threading.Lock()
"""A process imports only one file at a time, so that its other threads are free for uploads of graphs."""
_last_sweep = [-SWEEP_S]


class _Superseded(Exception):
    """The job was cancelled, another worker has claimed it, or the account was deactivated."""


def run_one_step() -> bool:
    """Import one waiting file, or delete one old upload or result. Return whether there was work."""
    if not _running.acquire(blocking=False):
        return False
    try:
        job = _claim()
        if job is not None:
            _run(job)
            return True
        if time.monotonic() - _last_sweep[0] < SWEEP_S:
            return False
        if delete_old():
            return True
        _last_sweep[0] = time.monotonic()
        return False
    finally:
        _running.release()


def _claim() -> ImportJob | None:
    """Claim the oldest free job, and return it. Jobs of a person whose other job is running are skipped."""
    is_free = Q(claimed_until=None) | Q(claimed_until__lte=Now())
    states = (ImportJob.State.QUEUED, ImportJob.State.RUNNING)
    waiting = ImportJob.objects.filter(is_free, state__in=states, owner__is_active=True)
    others = ImportJob.objects.filter(owner=OuterRef("owner"), state=ImportJob.State.RUNNING, claimed_until__gt=Now())
    job = waiting.filter(~Exists(others)).order_by("created_at").first()
    if job is None:
        return None
    claimed = waiting.filter(pk=job.pk, attempts=job.attempts).update(
        state=ImportJob.State.RUNNING,
        attempts=job.attempts + 1,
        claimed_until=Now() + LEASE,
        # This process's clock is used, as for the rows of imported conversations, with which this time is compared.
        started_at=Coalesce("started_at", Value(timezone.now())),
    )
    return ImportJob.objects.select_related("owner").get(pk=job.pk) if claimed else None


def _run(job: ImportJob) -> None:
    report = _Report(job)
    if job.attempts > ATTEMPTS_LIMIT:
        report.end(BROKEN_OFF)
        return
    try:
        # Sentences that replace missing files are in the language of the owner.
        with _renewed(job), translation.override(job.owner.shown_language), _temporary_file() as file:
            write_pieces(job, file)
            import_large_file(file, owner_id=job.owner_id, name=job.name, report=report)
        report.end()
    except (RefusedImport, QuotaExceeded) as error:
        report.end(str(error))
    except _Superseded:
        report.store_last()
        if not User.objects.filter(pk=job.owner_id, is_active=True).exists():
            cancel(job)
        _remove_unneeded_pieces(job)
    except (BytesUnavailable, OSError) as error:
        logger.warning("import %s waits: %s", job.pk, error)
        # This attempt does not count, because the file did not cause the error.
        _own(job).update(attempts=job.attempts - 1, claimed_until=Now() + RETRY)
    except Exception as error:
        logger.exception("import %s failed", job.pk)
        if isinstance(error, django.db.Error):
            # The database failed, so the claim is not updated: it expires.
            raise
        _own(job).update(claimed_until=Now() + RETRY)


def _temporary_file() -> BufferedRandom:
    # The file is beside the stored files, because the usual temporary folder may be in memory. It has no name, so the
    # system deletes it when it is closed.
    Path(settings.MEDIA_ROOT).mkdir(parents=True, exist_ok=True)
    return tempfile.TemporaryFile(dir=settings.MEDIA_ROOT)


def _own(job: ImportJob) -> QuerySet[ImportJob]:
    """Return the row if this worker still holds the claim, the job was not cancelled, and the account is active."""
    rows = ImportJob.objects.filter(pk=job.pk, attempts=job.attempts, state=ImportJob.State.RUNNING)
    return rows.filter(owner__is_active=True)


def _remove_unneeded_pieces(job: ImportJob) -> None:
    """Delete the pieces of the file, unless another worker still imports them."""
    if not ImportJob.objects.filter(pk=job.pk, state__in=ImportJob.OPEN).exists():
        remove_pieces(job)


@contextmanager
def _renewed(job: ImportJob) -> Iterator[None]:
    """Renew the claim in a thread during the block."""
    has_ended = threading.Event()

    def renew() -> None:
        try:
            while not has_ended.wait(RENEWAL_S):
                try:
                    close_old_connections()
                    _own(job).update(claimed_until=Now() + LEASE)
                except django.db.Error as error:
                    logger.warning("the claim of import %s could not be renewed: %s", job.pk, error)
        finally:
            connections.close_all()

    thread = threading.Thread(target=renew, name="import-claim", daemon=True)
    thread.start()
    try:
        yield
    finally:
        has_ended.set()
        thread.join()


@dataclass(slots=True)
class _Report:
    """Stores the progress of a job."""

    job: ImportJob
    progress: Progress | None = None
    stored_at_s: float = 0.0

    def __call__(self, progress: Progress, result: ImportResult | None) -> None:
        """Store the progress. Raises _Superseded if this worker may not continue the job."""
        self.progress = progress
        if result is not None:
            self._mark(result)
        if time.monotonic() - self.stored_at_s < REPORT_S:
            return
        self.stored_at_s = time.monotonic()
        if not _own(self.job).update(**self._columns(), updated_at=timezone.now()):
            raise _Superseded

    def store_last(self) -> None:
        """Store the last progress of a job that was cancelled. If another worker has claimed it, store nothing."""
        ImportJob.objects.filter(pk=self.job.pk, attempts=self.job.attempts).update(**self._columns())

    def end(self, refusal: str = "") -> None:
        """Store the result, and delete the pieces."""
        state = ImportJob.State.REFUSED if refusal else ImportJob.State.DONE
        columns = {**self._columns(), "percent": 100} if not refusal else self._columns()
        _own(self.job).update(**columns, state=state, refusal=refusal, claimed_until=None, updated_at=timezone.now())
        _remove_unneeded_pieces(self.job)

    def _mark(self, result: ImportResult) -> None:
        """Record the conversations that this job has created or continued, also in attempts whose worker died."""
        rows = ImportedConversation.objects.filter(owner_id=self.job.owner_id).exclude(job=self.job)
        if changed := (*result.created, *result.continued):
            rows.filter(conversation_id__in=changed).update(job=self.job)
        elif self.job.attempts > 1:
            begun = rows.filter(conversation_id__in=result.existing, created_at__gte=self.job.started_at)
            begun.update(job=self.job)

    def _columns(self) -> dict[str, object]:
        progress = self.progress
        if progress is None:
            return {}
        marked = ImportedConversation.objects.filter(job=self.job)
        created = marked.filter(created_at__gte=self.job.started_at).count()
        continued = marked.count() - created
        # A new attempt reads the file from its start. The percentage does not decrease, because people would think that
        # work was lost.
        self.job.percent = max(self.job.percent, min(99, int(progress.share * 100)))
        return {
            "created": created,
            "continued": continued,
            "existing": max(0, progress.seen - progress.left_out - created - continued),
            "left_out": progress.left_out,
            "reasons": progress.reasons,
            "percent": self.job.percent,
        }
