"""`manage.py attachments_worker`: the background process for uploads, deletions of objects, and imports."""

from __future__ import annotations

import logging
import signal
import threading
from argparse import ArgumentParser
from pathlib import Path
from types import FrameType

from django.core.management.base import BaseCommand

from attachments.worker import AttachmentsWorker


class Command(BaseCommand):
    """Runs tasks, due uploads, due deletions and imports until SIGINT or SIGTERM.

    A second signal ends the process immediately. That loses no file, because the pending rows remain.
    """

    # The system checks run when the server starts. This process serves no pages and need not import the views.
    requires_system_checks = ()
    help = (
        "Upload new attachments to storage, and delete the objects of deleted ones, in the background."
        " Several of these processes may run at once."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add `--threads`, the number of concurrent tasks, and `--heartbeat`."""
        parser.add_argument("--heartbeat", type=Path, metavar="FILE", help="touched every second, for health checks")
        parser.add_argument("--threads", type=int, default=4, choices=range(1, 33), metavar="1..32")

    def handle(self, *, threads: int, heartbeat: Path | None, **options: object) -> None:
        """Run the worker until SIGINT or SIGTERM."""
        # The task library logs every task at level INFO.
        logging.getLogger("django_tasks_db").setLevel(logging.WARNING)
        logging.getLogger("django_tasks").setLevel(logging.WARNING)
        worker = AttachmentsWorker(threads, heartbeat)

        def stop_worker(signum: int, frame: FrameType | None) -> None:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            # A thread calls `stop`, not this handler: the code that the signal interrupted may hold the lock of the
            # event.
            threading.Thread(target=worker.stop).start()

        signal.signal(signal.SIGINT, stop_worker)
        signal.signal(signal.SIGTERM, stop_worker)
        self.stdout.write(f"Attachments worker: {threads} threads.")
        worker.run()
