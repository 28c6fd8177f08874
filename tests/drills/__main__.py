"""Command line of the drills: `python -m tests.drills [NAME...] [--table]`; without names, all of them.

Each exercise prints one line and is added to var/drills/report.jsonl. `--table` runs nothing: it writes the latest
figures of each exercise into docs/drills.md.
"""

from __future__ import annotations

import argparse
import logging
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from importlib import import_module
from typing import TYPE_CHECKING

import tests.environment
from tests.drills.report import Report, as_entry, format_table, latest_entries, replace_table

if TYPE_CHECKING:
    from tests.drills.exercise import Outcome
    from tests.drills.installation import Installation

#: Functions by name, in the order of a run of all. They are imported once Django is set up.
DRILLS = {
    "rolling-restart": "restarts.rolling_restart",
    "web-killed": "restarts.web_killed",
    "worker-killed": "restarts.worker_killed",
    "database-away": "outages.database_away",
    "redis-away": "outages.redis_away",
    "storage-away": "outages.storage_away",
    "pgbouncer": "pooling.pgbouncer",
}
#: Drills whose installation reaches the database through PgBouncer.
POOLED = {"pgbouncer"}
REPORT = Report(tests.environment.ROOT / "var" / "drills" / "report.jsonl")
DOCUMENT = tests.environment.ROOT / "docs" / "drills.md"


def load_drill(name: str) -> Callable[[Installation], Iterator[Outcome]]:
    """Import a drill's module and return its function. Django must be set up."""
    module, _, function = DRILLS[name].partition(".")
    drill: Callable[[Installation], Iterator[Outcome]] = getattr(import_module(f"tests.drills.{module}"), function)
    return drill


def run_drill(name: str, installation: Installation) -> bool:
    """Run one drill, print and record its outcomes, and return whether all promises were kept."""
    is_kept = True
    for outcome in load_drill(name)(installation):
        print(outcome.line, flush=True)
        for fault in outcome.faults:
            print(f"  {fault}", flush=True)
        at = datetime.now(UTC).isoformat(timespec="seconds")
        REPORT.append(as_entry(outcome.name, at, outcome.figures, outcome.faults))
        is_kept = is_kept and not outcome.faults
    return is_kept


def run_drills(names: Sequence[str]) -> bool:
    """Run drills on one installation, and return whether all promises were kept.

    After an exception, the next drill gets a new installation.
    """
    import_module("django").setup()
    run_installation = import_module("tests.drills.installation").running_installation
    waiting, is_kept = list(names), True
    while waiting:
        name = waiting.pop(0)
        has_pool = name in POOLED
        try:
            with run_installation(has_pool=has_pool) as installation:
                is_kept = run_drill(name, installation) and is_kept
                while waiting and (waiting[0] in POOLED) == has_pool:
                    name = waiting.pop(0)
                    is_kept = run_drill(name, installation) and is_kept
        except Exception:
            logging.exception("%s could not be run to its end", name)
            is_kept = False
    return is_kept


def main(arguments: Sequence[str]) -> int:
    """Run the drills that are named, and return the exit status: 0 if all promises were kept."""
    parser = argparse.ArgumentParser(prog="make drills", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(DRILLS))
    parser.add_argument("--table", action="store_true", help="write the latest figures into docs/drills.md")
    options = parser.parse_args(arguments)
    if unknown := set(options.names) - DRILLS.keys():
        parser.error(f"there is no drill {', '.join(sorted(unknown))}; there are {', '.join(DRILLS)}")
    if options.table:
        DOCUMENT.write_text(replace_table(DOCUMENT.read_text(), format_table(latest_entries(REPORT.read()))))
        return 0
    # `sys.exit` raises an exception, so context managers end what the drill has started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    return 0 if run_drills(options.names or list(DRILLS)) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
