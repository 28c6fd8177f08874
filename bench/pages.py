"""The page benchmark: time, queries and size of pages in a large account; `python -m bench pages`.

The account is created anew for each run, in SQLite under `var/bench/pages/`. Views run with `DEBUG` off in one
process, without a network. `bench.page_dataset` describes the account and `bench.page_costs` the measurement.
"""

from __future__ import annotations

import argparse
import json
import secrets
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from bench.processes import ROOT, build_product_environment
from bench.product import run_python
from bench.results import describe_environment, write_result
from bench.tables import format_markdown_table, format_number

FOLDER = ROOT / "var" / "bench" / "pages"


class RequestCost(TypedDict):
    """The costs of one request."""

    label: str
    server_ms: float
    queries: int
    bytes: int


class PageCosts(TypedDict):
    """The JSON document that `bench.page_costs` prints."""

    build_s: float
    database_mb: float
    requests: list[RequestCost]


def main(argv: Sequence[str]) -> None:
    """Build the account, measure, write the result and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench pages", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="result file (default var/bench/<date>-pages.json)")
    options = parser.parse_args(argv)
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    variables = build_product_environment(
        DEBUG="0",
        HTTPS="0",
        SECRET_KEY=secrets.token_urlsafe(60),
        PLOTLINE_VAR_DIR=str(FOLDER),
        ALLOWED_HOSTS="testserver",
    )
    run_python(variables, "manage.py", "migrate", "--verbosity=0")
    run_python(variables, "manage.py", "collectstatic", "--noinput", "--verbosity=0")
    costs: PageCosts = json.loads(run_python(variables, "-m", "bench.with_django", "bench.page_costs"))
    print(f"The database of {costs['database_mb']:.0f} MB was built in {costs['build_s']:.0f} s.", file=sys.stderr)
    path = write_result("pages", describe_environment() | costs, options.json)
    print(format_costs_table(costs["requests"]))
    print(f"\nWritten to {path}", file=sys.stderr)


def format_costs_table(requests: Sequence[RequestCost]) -> str:
    """Return a Markdown table with a row for each request."""
    rows = [("what", "server time, ms", "queries", "KB")]
    for cost in requests:
        size_kb = format_number(cost["bytes"] / 1000, 1)
        rows.append((cost["label"], format_number(cost["server_ms"], 1), format_number(cost["queries"], 0), size_kb))
    return format_markdown_table(rows)
