"""The process beside the server that runs tasks and sweeps up uploads that are due: several threads, one loop.

Any number of these processes may run, and any may be killed: tasks only wake it up, the pending rows say what
is to do, and claims on them expire. While there is nothing to do it reads and never writes.
"""

from __future__ import annotations

import logging
import random
import threading
import time
import uuid
from collections.abc import Callable
from datetime import timedelta

import django.db
from django.db import close_old_connections, connections
from django.utils import timezone
from django_tasks import DEFAULT_TASK_BACKEND_ALIAS, DEFAULT_TASK_QUEUE_NAME, TaskResultStatus
from django_tasks_db.management.commands.db_worker import Worker
from django_tasks_db.models import DBTaskResult

from attachments import uploads
from attachments.storage.base import ATTEMPT_LIMIT_S
from attachments.tasks import upload_attachment

logger = logging.getLogger(__name__)

#: Between looks for work, of each thread.
IDLE_S = 1.0
#: Due rows that a thread chooses from, so that threads seldom race for the same one.
SWEEP_CHOICE = 16
PRUNE_EVERY_S = 3600.0
TASK_LIFE = timedelta(days=1)


class AttachmentsWorker:
    """Threads that each do one task or one due upload at a time, so that one that hangs stops no other."""

    def __init__(self, threads: int) -> None:
        self._stopping = threading.Event()
        self._threads = [self._new_thread() for _ in range(threads)]

    def run(self) -> None:
        """Work until `stop`; a thread that died of a defect is replaced."""
        for thread in self._threads:
            thread.start()
        prune_at_s = time.monotonic()
        while not self._stopping.wait(IDLE_S):
            for index, thread in enumerate(self._threads):
                if not thread.is_alive():
                    logger.error("A thread of the attachments worker died; another takes its place.")
                    self._threads[index] = self._new_thread()
                    self._threads[index].start()
            if time.monotonic() >= prune_at_s:
                prune_at_s = time.monotonic() + PRUNE_EVERY_S
                _guarded(prune_tasks)
        connections.close_all()
        for thread in self._threads:
            thread.join(ATTEMPT_LIMIT_S)

    def stop(self) -> None:
        """Begin nothing new; `run` returns when the attempts under way have ended."""
        self._stopping.set()

    def _new_thread(self) -> threading.Thread:
        return threading.Thread(target=self._work, name="attachments-worker", daemon=True)

    def _work(self) -> None:
        # Threads of one process look at different moments, so that new work is noticed sooner.
        self._stopping.wait(random.uniform(0, IDLE_S))
        try:
            while not self._stopping.is_set():
                if not _guarded(one_step):
                    self._stopping.wait(IDLE_S)
        finally:
            connections.close_all()


def one_step() -> bool:
    """Do one task, or else one due upload; returns whether there was any."""
    ready = DBTaskResult.objects.ready().filter(
        backend_name=DEFAULT_TASK_BACKEND_ALIAS, queue_name=DEFAULT_TASK_QUEUE_NAME
    )
    # The stock worker takes SQLite's write lock even to find nothing, so it is asked only when there is something.
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
    due = list(uploads.due().values_list("pk", flat=True)[:SWEEP_CHOICE])
    if due:
        uploads.attempt(random.choice(due))
    return bool(due)


def prune_tasks() -> bool:
    """Delete our old task rows, those too that stay "running" for ever because their worker was killed."""
    old = DBTaskResult.objects.filter(
        task_path=upload_attachment.module_path, enqueued_at__lt=timezone.now() - TASK_LIFE
    ).exclude(status=TaskResultStatus.READY)
    return old.exists() and bool(old.delete())


def _guarded(step: Callable[[], bool]) -> bool:
    """Do the step; a database that is locked, restarting or full is a reason to wait, not to end."""
    close_old_connections()
    try:
        return step()
    except django.db.Error as error:
        logger.warning("The attachments worker waits for the database: %s", error)
        connections.close_all()
        return False
