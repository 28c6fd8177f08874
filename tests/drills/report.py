"""The report of drills: one line of JSON for each exercise, and a table in docs/drills.md."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from bench.tables import format_markdown_table, format_number

BEGIN, END = "<!-- table -->", "<!-- end of the table -->"
#: Figures that have their own columns. All other figures share the last column.
COLUMNS = ("answers", "interrupted", "lost", "doubled", "stuck", "graphs")


class Entry(TypedDict):
    """One line of the report."""

    name: str
    at: str
    """Time of its end, in UTC."""
    figures: dict[str, float]
    faults: list[str]


@dataclass(frozen=True)
class Report:
    """A file to which lines are only appended."""

    path: Path

    def append(self, entry: Entry) -> None:
        """Add one line."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write(json.dumps(entry) + "\n")

    def read(self) -> list[Entry]:
        """Return all entries, oldest first."""
        if not self.path.exists():
            return []
        return [json.loads(line) for line in self.path.read_text().splitlines()]


def latest_entries(entries: Iterable[Entry]) -> list[Entry]:
    """Return the last entry of each name, ordered by name."""
    by_name: dict[str, Entry] = {}
    for entry in entries:
        by_name[entry["name"]] = entry
    return [by_name[name] for name in sorted(by_name)]


def format_table(entries: Sequence[Entry]) -> str:
    """Return a Markdown table with a row for each entry."""
    rows: list[tuple[str, ...]] = [("drill", *COLUMNS, "more", "broken promises")]
    for entry in entries:
        figures = entry["figures"]
        more = ", ".join(f"{name} {format_figure(value)}" for name, value in figures.items() if name not in COLUMNS)
        counts = (format_figure(figures[name]) for name in COLUMNS)
        rows.append((entry["name"], *counts, more, "; ".join(entry["faults"][:3]) or "none"))
    return format_markdown_table(rows)


def format_figure(value: float) -> str:
    """Return a figure with at most one decimal place."""
    return format_number(value, 0 if value == int(value) else 1)


def replace_table(document: str, table: str) -> str:
    """Return the document with another table between its marks. Raise ValueError if they are missing."""
    before, _, rest = document.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise ValueError(f"The document has no {BEGIN} and {END}.")
    return f"{before}{BEGIN}\n\n{table.strip()}\n\n{END}{after}"


def as_entry(name: str, at: str, figures: Mapping[str, float], faults: Sequence[str]) -> Entry:
    """Return a line of the report."""
    return {"name": name, "at": at, "figures": dict(figures), "faults": list(faults)}
