"""The benchmark of a large database: `python -m bench scale [--postgresql URL]`.

With a million messages of many owners, it measures searches, lists, conversations, galleries and the review queue.
SQLite is always measured, PostgreSQL with the URL of an empty database, whose user must be a superuser.
"""

from __future__ import annotations

import argparse
import json
import secrets
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias, TypedDict

from bench.processes import ROOT, build_product_environment
from bench.product import run_python
from bench.results import describe_environment, write_result
from bench.tables import format_markdown_table, format_number

FOLDER = ROOT / "var" / "bench" / "scale"


class RequestTimes(TypedDict):
    """The server times of one request that was repeated."""

    label: str
    fastest_ms: float
    median_ms: float
    p95_ms: float


ScaleCosts: TypeAlias = list[RequestTimes]
"""The result for one database."""


def main(argv: Sequence[str]) -> None:
    """Fill and measure each database, write the result and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench scale", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="result file (default var/bench/<date>-scale.json)")
    parser.add_argument("--postgresql", metavar="URL", help="an empty database of PostgreSQL, to measure that too")
    parser.add_argument("--conversations", type=int, default=100_000, help="of 10 messages each (default 100000)")
    options = parser.parse_args(argv)
    urls = {"SQLite": ""} | ({"PostgreSQL": options.postgresql} if options.postgresql else {})
    costs = {name: measure_database(url, options.conversations) for name, url in urls.items()}
    path = write_result("scale", describe_environment() | costs, options.json)
    print(format_requests_table(costs))
    print(f"\nWritten to {path}", file=sys.stderr)


def measure_database(url: str, conversations: int) -> ScaleCosts:
    """Fill a database and measure requests."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    variables = build_product_environment(
        DEBUG="0",
        HTTPS="0",
        SECRET_KEY=secrets.token_urlsafe(60),
        PLOTLINE_VAR_DIR=str(FOLDER),
        ALLOWED_HOSTS="testserver",
        DATABASE_URL=url,
    )

    def run(module: str, *arguments: str) -> str:
        print(f"  {'PostgreSQL' if url else 'SQLite'}: {module}", file=sys.stderr, flush=True)
        return run_python(variables, "-m", "bench.with_django", module, *arguments)

    run_python(variables, "manage.py", "migrate", "--verbosity=0")
    names = run("bench.scale_seed", str(conversations))
    run_python(variables, "manage.py", "collectstatic", "--noinput", "--verbosity=0")
    times: ScaleCosts = json.loads(run("bench.scale_costs", names))
    return times


def format_requests_table(costs: Mapping[str, ScaleCosts]) -> str:
    """Return a Markdown table with a row for each request and three columns for each database."""
    header = ["server time, ms", *(f"{name}, {kind}" for name in costs for kind in ("fastest", "median", "p95"))]
    rows = [tuple(header)]
    for repeated in zip(*costs.values(), strict=True):
        times = ((request["fastest_ms"], request["median_ms"], request["p95_ms"]) for request in repeated)
        cells = [format_number(value, 1) for three in times for value in three]
        rows.append((repeated[0]["label"], *cells))
    return format_markdown_table(rows)
