"""The benchmark of turn logs: rows of the log while many answers are written; `python -m bench turn-logs`.

SQLite is always measured, PostgreSQL with the URL of an empty database.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypedDict

from bench.processes import build_product_environment
from bench.product import run_python
from bench.results import describe_environment, write_result
from bench.tables import format_markdown_table, format_number

ANSWERS = 20_000


class TurnLogs(TypedDict):
    """The result for one database. Rows are those of the table of turn logs."""

    answers: int
    duration_s: float
    rows_written: int
    most_rows: int
    """The most at once."""
    rows_at_end: int
    """When the last answer had ended."""
    rows_left: int
    """When no log was due any more, or after the time limit of the benchmark."""
    deleted_after_s: float
    """The time from the end of the last answer until then. Logs are kept for 10 s in this benchmark."""


def main(argv: Sequence[str]) -> None:
    """Measure each database, write the result and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench turn-logs", description=__doc__)
    parser.add_argument("--postgresql", metavar="URL", help="an empty database of PostgreSQL, to measure that too")
    parser.add_argument("--answers", type=int, default=ANSWERS, help=f"default {ANSWERS}")
    options = parser.parse_args(argv)
    urls = {"SQLite": ""} | ({"PostgreSQL": options.postgresql} if options.postgresql else {})
    logs = {name: measure_database(url, options.answers) for name, url in urls.items()}
    path = write_result("turn-logs", describe_environment() | logs)
    print(format_table(logs))
    print(f"\nWritten to {path}", file=sys.stderr)


def measure_database(url: str, answers: int) -> TurnLogs:
    """Migrate an empty database, and write answers into it."""
    with TemporaryDirectory(prefix="plotline-bench-") as folder:
        variables = build_product_environment(DEBUG="1", DATABASE_URL=url, PLOTLINE_VAR_DIR=str(Path(folder) / "var"))
        run_python(variables, "manage.py", "migrate", "--verbosity=0")
        output = run_python(variables, "-m", "bench.with_django", "bench.turn_logs_process", str(answers))
    logs: TurnLogs = json.loads(output)
    return logs


def format_table(logs: dict[str, TurnLogs]) -> str:
    """Return a Markdown table with a row for each database."""
    rows: list[tuple[str, ...]] = [
        ("rows of the turn log", "answers", "s", "written", "most at once", "at the end", "left", "after, s")
    ]
    for name, one in logs.items():
        counts = (one["rows_written"], one["most_rows"], one["rows_at_end"], one["rows_left"])
        cells = (format_number(count, 0) for count in counts)
        rows.append(
            (
                name,
                f"{one['answers']:,}",
                format_number(one["duration_s"], 0),
                *cells,
                format_number(one["deleted_after_s"], 0),
            )
        )
    return format_markdown_table(rows)
