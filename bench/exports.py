"""The export benchmark: time and memory of each format; `python -m bench exports`.

Each format is exported from a generated database by its own process. The growth of that process's peak memory is
what the export held in memory at once.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from tempfile import TemporaryDirectory
from typing import TypedDict

from bench.product import run_python
from bench.tables import format_markdown_table, format_number

FORMATS = ("json", "md", "html", "ipynb", "zip")


class ExportCost(TypedDict):
    """The JSON document that `bench.export_costs` prints."""

    bytes: int
    seconds: float
    grown_mib: float
    """Growth of the peak memory during the export."""


def main(argv: Sequence[str]) -> None:
    """Generate a conversation, export it in each format, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench exports", description=__doc__)
    parser.add_argument("formats", nargs="*", choices=[*FORMATS, []], metavar="FORMAT", help="default: all formats")
    parser.add_argument("--messages", type=int, default=5000, help="messages of the conversation (default 5000)")
    parser.add_argument("--graphs", type=int, default=500, help="graphs of 60 KB in it (default 500)")
    options = parser.parse_args(argv)
    with TemporaryDirectory(prefix="plotline-bench-") as folder:
        variables = os.environ | {"PLOTLINE_VAR_DIR": folder, "DATABASE_URL": "", "REDIS_URL": "", "DEBUG": "1"}
        run_python(variables, "manage.py", "migrate", "--verbosity=0")
        counts = str(options.messages), str(options.graphs)
        run_python(variables, "-m", "bench.with_django", "bench.export_dataset", *counts)
        costs: dict[str, ExportCost] = {
            name: json.loads(run_python(variables, "-m", "bench.with_django", "bench.export_costs", name))
            for name in options.formats or FORMATS
        }
    print(f"{options.messages} messages, {options.graphs} graphs of 60 KB\n")
    print(format_costs_table(costs))


def format_costs_table(costs: Mapping[str, ExportCost]) -> str:
    """Return a Markdown table with a row for each format."""
    rows: list[tuple[str, ...]] = [("format", "MB", "s", "peak memory growth, MiB")]
    for name, cost in costs.items():
        values = (cost["bytes"] / 1e6, cost["seconds"], cost["grown_mib"])
        rows.append((name, *(format_number(value, 1) for value in values)))
    return format_markdown_table(rows)
