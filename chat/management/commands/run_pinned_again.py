"""`manage.py run_pinned_again`: runs all code of pinned conversations again, for those whose owners want it."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter

from django.core.management.base import BaseCommand, CommandError

from chat.python.kernels.errors import KernelsUnavailable
from chat.python.reruns.nightly import RunsElsewhere, run_pinned
from chat.python.sessions.places import TURNED_OFF, is_enabled, probe


class Command(BaseCommand):
    """Prints only how many conversations ran. It leaves out those that have run in the last 12 hours."""

    help = (
        "Runs all code of each pinned conversation again, if its owner has turned this on, and stores whether it gives"
        " the same. Let a timer call it every night. Code of deleted conversations, and of those in which an answer is"
        " being written, does not run. The quotas of the owners count."
    )

    def handle(self, *args: object, **options: object) -> None:
        """Run until all are done, or until SIGTERM. Raise CommandError if no kernel can be started."""
        if not is_enabled():
            raise CommandError(TURNED_OFF)
        counts: Counter[str] = Counter()
        try:
            probe()
            asyncio.run(_run(counts))
        except KernelsUnavailable as error:
            raise CommandError(str(error)) from error
        except RunsElsewhere:
            raise CommandError("Another process runs the code of pinned conversations now.") from None
        except asyncio.CancelledError:
            raise CommandError("Stopped.") from None
        finally:
            self.stdout.write(f"Conversations whose code ran again: {counts.total()}. {_sentence(counts)}".strip())


def _sentence(counts: Counter[str]) -> str:
    return "".join(f"{verdict or 'without a verdict'}: {counts[verdict]}. " for verdict in sorted(counts))


async def _run(counts: Counter[str]) -> None:
    task = asyncio.current_task()
    assert task is not None, "a coroutine runs in a task"
    # Cancelling the task leaves the `async with` blocks of the kernels, which ends the kernels.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    async for verdict in run_pinned():
        counts[verdict] += 1
