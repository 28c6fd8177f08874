"""The newcomer benchmark: ten first tasks in Chromium, with their clicks, keys and seconds; `python -m bench newcomer`.

The tasks are done on what `make run` starts, with the demo model. `bench.newcomer_tasks` describes them. To measure an
older version, copy both modules into its `bench/` and run `python -c 'from bench.newcomer import main;
main(["--allow-missing"])'` there.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.chromium import run_chromium
from bench.newcomer_tasks import Newcomer, TaskResult
from bench.processes import BenchError
from bench.reruns import run_plotline
from bench.results import describe_environment, write_result
from bench.tables import format_markdown_table, format_number


def main(argv: Sequence[str]) -> None:
    """Do the tasks, write the result and print a table. Raise BenchError if the result of a task is wrong."""
    parser = argparse.ArgumentParser(prog="python -m bench newcomer", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="result file (default in var/bench/)")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="save a picture of each step")
    parser.add_argument("--dark", action="store_true", help="use the dark color scheme")
    parser.add_argument("--allow-missing", action="store_true", help="succeed if an older version lacks a feature")
    options = parser.parse_args(argv)
    if options.pictures:
        options.pictures.mkdir(parents=True, exist_ok=True)
    with (
        run_chromium() as browser,
        TemporaryDirectory(prefix="plotline-bench-", ignore_cleanup_errors=True) as name,
        run_plotline(Path(name)) as client,
    ):
        results = Newcomer(browser, client.url, options.pictures, is_dark=options.dark).do_tasks()
    path = write_result("newcomer", describe_environment() | {"tasks": [asdict(r) for r in results]}, options.json)
    print(format_tasks_table(results))
    print(f"\nWritten to {path}", file=sys.stderr)
    failed = [result for result in results if result.error or (result.is_missing and not options.allow_missing)]
    if failed:
        raise BenchError("\n".join(f"{result.task}: {result.error or 'not possible'}" for result in failed))


def format_tasks_table(results: Sequence[TaskResult]) -> str:
    """Return a Markdown table with a row for each task. Tasks without a correct result have no figures."""
    rows = [("task", "clicks", "keys", "seconds")]
    for result in results:
        if result.is_missing or result.error:
            rows.append((result.task, "not possible" if result.is_missing else "FAILED", "-", "-"))
        else:
            rows.append((result.task, str(result.clicks), str(result.keys), format_number(result.seconds, 1)))
    return format_markdown_table(rows)
