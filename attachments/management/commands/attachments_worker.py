"""`manage.py attachments_worker`: the background process of uploads, beside the server."""

from __future__ import annotations

import logging
import signal
import threading
from argparse import ArgumentParser
from types import FrameType

from django.core.management.base import BaseCommand

from attachments.worker import AttachmentsWorker


class Command(BaseCommand):
    """Run tasks and due uploads until told to end; a second signal ends it at once, which loses nothing."""

    # The server is checked when it starts; this process serves no pages and need not load them.
    requires_system_checks = ()
    help = "Bring new attachments into storage in the background; any number of these may run."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """`--threads`: uploads at once; one that hangs takes up one of them."""
        parser.add_argument("--threads", type=int, default=4, choices=range(1, 33), metavar="1..32")

    def handle(self, *, threads: int, **options: object) -> None:
        """Work until SIGINT or SIGTERM."""
        # The stock worker tells of every single task at INFO.
        logging.getLogger("django_tasks_db").setLevel(logging.WARNING)
        logging.getLogger("django_tasks").setLevel(logging.WARNING)
        worker = AttachmentsWorker(threads)

        def end(signum: int, frame: FrameType | None) -> None:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            # Not here: a second signal could come while this one holds the event's lock.
            threading.Thread(target=worker.stop).start()

        signal.signal(signal.SIGINT, end)
        signal.signal(signal.SIGTERM, end)
        self.stdout.write(f"Attachments worker: {threads} threads.")
        worker.run()
