"""The background process that runs queued tasks, uploads and deletions that are due, and imports, in several threads.

Several of these processes may run, and each may be killed at any time: rows record what is still to be uploaded and
deleted, and a worker's claim on a row expires. An idle worker only reads from the database.
"""

from __future__ import annotations

import logging
import random
import threading
import time
import uuid
from collections.abc import Callable
from datetime import timedelta
from importlib import import_module
from pathlib import Path

import django.db
from django.conf import settings
from django.db import close_old_connections, connections
from django.utils import timezone
from django.utils.module_loading import import_string
from django_tasks import DEFAULT_TASK_BACKEND_ALIAS, DEFAULT_TASK_QUEUE_NAME, TaskResultStatus
from django_tasks_db.management.commands.db_worker import Worker
from django_tasks_db.models import DBTaskResult

from attachments import deletions, storage, uploads
from attachments.storage.base import ATTEMPT_LIMIT_S, StorageError
from attachments.tasks import upload_attachment

logger = logging.getLogger(__name__)

#: Seconds between two queries of an idle thread.
POLL_INTERVAL_S = 1.0
#: A thread chooses at random among this many due rows, so that threads rarely claim the same one.
DUE_CANDIDATES = 16
PRUNE_INTERVAL_S = 3600.0
TASK_RETENTION = timedelta(days=1)


class AttachmentsWorker:
    """A pool of threads. Each does one thing at a time, so a call to storage that hangs blocks only one thread."""

    def __init__(self, threads: int, heartbeat: Path | None = None) -> None:
        """`heartbeat`: a file that is touched every second while the process is healthy."""
        self._heartbeat = heartbeat
        self._stop_event = threading.Event()
        self._threads = [self._new_thread() for _ in range(threads)]

    def run(self) -> None:
        """Work until `stop` is called. A thread that ended with an unexpected error is replaced."""
        for thread in self._threads:
            thread.start()
        check_storage()
        prune_at_s = time.monotonic()
        while not self._stop_event.wait(POLL_INTERVAL_S):
            if self._heartbeat is not None:
                self._heartbeat.touch()
            for index, thread in enumerate(self._threads):
                if not thread.is_alive():
                    logger.error("A thread of the attachments worker ended with an error and is replaced.")
                    self._threads[index] = self._new_thread()
                    self._threads[index].start()
            if time.monotonic() >= prune_at_s:
                prune_at_s = time.monotonic() + PRUNE_INTERVAL_S
                _run_step(prune_tasks)
                _run_step(clear_expired_sessions)
        connections.close_all()
        for thread in self._threads:
            thread.join(ATTEMPT_LIMIT_S)

    def stop(self) -> None:
        """Start no new work. `run` returns when the current work has ended, or after `ATTEMPT_LIMIT_S` per thread."""
        self._stop_event.set()

    def _new_thread(self) -> threading.Thread:
        return threading.Thread(target=self._work, name="attachments-worker", daemon=True)

    def _work(self) -> None:
        # The random delay makes the threads of one process poll at different times, so new work is noticed sooner.
        self._stop_event.wait(random.uniform(0, POLL_INTERVAL_S))
        try:
            while not self._stop_event.is_set():
                if not _run_step(run_one_step):
                    self._stop_event.wait(POLL_INTERVAL_S)
        finally:
            connections.close_all()


def run_one_step() -> bool:
    """Run a queued task, or else an upload or deletion that is due, or else other work.

    Return whether work was done.
    """
    ready = DBTaskResult.objects.ready().filter(
        backend_name=DEFAULT_TASK_BACKEND_ALIAS, queue_name=DEFAULT_TASK_QUEUE_NAME
    )
    # The library's worker takes SQLite's write lock even if the queue is empty, so it is started only for a ready task.
    if ready.exists():
        Worker(
            queue_names=[DEFAULT_TASK_QUEUE_NAME],
            interval=0,
            batch=True,
            backend_name=DEFAULT_TASK_BACKEND_ALIAS,
            startup_delay=False,
            max_tasks=1,
            worker_id=uuid.uuid4().hex,
            excluded_queue_names=[],
        ).run()
        return True
    due_ids = list(uploads.find_due_uploads().values_list("pk", flat=True)[:DUE_CANDIDATES])
    if due_ids:
        uploads.attempt_upload(random.choice(due_ids))
        return True
    deletion_ids = list(deletions.find_due_deletions().values_list("pk", flat=True)[:DUE_CANDIDATES])
    if deletion_ids:
        deletions.attempt_deletion(random.choice(deletion_ids))
        return True
    step: Callable[[], bool] = import_string(settings.WORKER_STEP)
    return step()


def check_storage() -> None:
    """Log an error if storage does not take files, for example because its bucket does not exist."""
    try:
        storage.probe()
    except StorageError as error:
        logger.error("Files wait in the database, because storage does not take them. %s", error)


def prune_tasks() -> None:
    """Delete the ended and running upload tasks older than `TASK_RETENTION`.

    The worker of a task that is still "running" then was killed.
    """
    old_tasks = DBTaskResult.objects.filter(
        task_path=upload_attachment.module_path, enqueued_at__lt=timezone.now() - TASK_RETENTION
    ).exclude(status=TaskResultStatus.READY)
    # A deletion takes SQLite's write lock even if there is nothing to delete.
    if old_tasks.exists():
        old_tasks.delete()


def clear_expired_sessions() -> None:
    """Delete the expired login sessions, as `manage.py clearsessions` does."""
    import_module(settings.SESSION_ENGINE).SessionStore.clear_expired()


def _run_step(step: Callable[[], bool | None]) -> bool:
    """Run the step and return whether it has done work.

    A database error is logged and gives False, because a database that is locked, restarting or full will recover.
    """
    close_old_connections()
    try:
        return bool(step())
    except django.db.Error as error:
        logger.warning("The attachments worker waits for the database: %s", error)
        connections.close_all()
        return False
