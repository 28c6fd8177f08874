"""The newcomer benchmark: ten first tasks in Chromium, with their clicks, keys and seconds; `python -m bench newcomer`.

The tasks are done on what `make run` starts, with the demo model. `bench.newcomer_tasks` describes them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.chromium import run_chromium
from bench.demo_site import run_demo_site
from bench.newcomer_tasks import Newcomer, TaskResult
from bench.processes import BenchError
from bench.results import describe_environment, write_result
from bench.tables import format_markdown_table, format_number


def main(argv: Sequence[str]) -> None:
    """Do the tasks, write the result and print a table. Raise BenchError if the result of a task is wrong."""
    parser = argparse.ArgumentParser(prog="python -m bench newcomer", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="result file (default in var/bench/)")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="save a picture of each step")
    options = parser.parse_args(argv)
    if options.pictures:
        options.pictures.mkdir(parents=True, exist_ok=True)
    with (
        run_chromium() as browser,
        TemporaryDirectory(prefix="plotline-bench-", ignore_cleanup_errors=True) as name,
        run_demo_site(Path(name)) as site,
    ):
        results = Newcomer(browser, site, options.pictures).do_tasks()
    path = write_result("newcomer", describe_environment() | {"tasks": [asdict(r) for r in results]}, options.json)
    print(format_tasks_table(results))
    print(f"\nWritten to {path}", file=sys.stderr)
    if failed := [f"{result.task}: {result.error}" for result in results if result.error]:
        raise BenchError("\n".join(failed))


def format_tasks_table(results: Sequence[TaskResult]) -> str:
    """Return a Markdown table with a row for each task. Tasks without a correct result have no figures."""
    rows = [("task", "clicks", "keys", "seconds")]
    for result in results:
        if result.error:
            rows.append((result.task, "FAILED", "-", "-"))
        else:
            rows.append((result.task, str(result.clicks), str(result.keys), format_number(result.seconds, 1)))
    return format_markdown_table(rows)
