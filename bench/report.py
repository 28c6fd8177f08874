"""Formats the figures of the relay benchmark as tables. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from bench.figures import Figures, compute_ratios, describe_rate_limit
from bench.tables import format_markdown_table, format_number


class Measure(NamedTuple):
    """A row of a table, or one row for each level."""

    name: str
    """The name of the figure, or its prefix if a level follows."""
    label: str
    digits: int
    """Decimal places."""


#: The measures that `docs/benchmarks.md` shows.
MAIN_MEASURES = (
    Measure("first_part_p50_ms single", "time to first part, one chat: p50, ms", 1),
    Measure("first_part_max_ms single", "time to first part, one chat: slowest of ten, ms", 1),
    Measure("first_part_p50_ms burst", "time to first part, burst: p50, ms", 1),
    Measure("first_part_p99_ms burst", "time to first part, burst: p99, ms", 1),
    Measure("delivery_p50_ms", "delivery p50, ms", 1),
    Measure("delivery_p99_ms", "delivery p99, ms", 1),
    Measure("highest_rate_per_s", "highest rate with p99 <= 250 ms, chunks/s", 0),
    Measure("delivered_per_s flat out", "one answer without pauses, chunks/s", 0),
    Measure("cpu_s_per_1000", "CPU per 1,000 chunks, s", 3),
    Measure("memory_idle_mb", "memory idle, MB", 0),
    Measure("memory_per_stream_mb", "memory per stream, MB", 2),
)

#: Further measures, which explain the main ones.
DETAIL_MEASURES = (
    Measure("stolen_share", "CPU time that other virtual machines took, share of both cores", 3),
    Measure("bytes_per_frame", "bytes per frame", 0),
    Measure("bytes_per_chunk", "bytes per chunk, all frames", 0),
    Measure("frames_per_s", "frames/s", 0),
    Measure("commits_per_s", "commits/s", 0),
    Measure("chunks_per_commit", "chunks per commit", 1),
    Measure("browser_main_thread_s", "browser: main thread, s", 2),
    Measure("browser_cpu_s", "browser: CPU of the main thread, s", 2),
    Measure("browser_script_s", "browser: script, s", 2),
    Measure("browser_layout_s", "browser: layout and style, s", 2),
    Measure("browser_layouts", "browser: number of layouts", 0),
    Measure("browser_s_per_1000", "browser: main thread per 1,000 chunks, s", 2),
    Measure("browser_longest_task_ms", "browser: longest task while streaming, ms", 1),
)

TARGET_LABELS = {
    "relay": "bare relay",
    "plotline": "Plotline",
    "plotline-openai": "Plotline, chat completions",
    "plotline-responses": "Plotline, Responses API",
    "plotline-interactions": "Plotline, Interactions API",
}


def format_figures_table(measures: tuple[Measure, ...], results: Mapping[str, Figures], browser: Figures) -> str:
    """Return a Markdown table with a column for each target and Plotline's ratios to the bare relay.

    `results` maps targets to their medians and must hold `plotline`; `browser` holds the figures of Plotline's page.
    """
    plotline = results["plotline"] | browser
    columns = dict(results) | {"plotline": plotline}
    ratios = compute_ratios(plotline, results.get("relay", {}))
    rows = [("measure", *(TARGET_LABELS.get(name, name) for name in columns), "of bare relay")]
    for measure in measures:
        for name in plotline:
            if name != measure.name and not name.startswith(f"{measure.name} "):
                continue
            level = name.removeprefix(measure.name).strip()
            cells = [format_number(figures.get(name), measure.digits) for figures in columns.values()]
            label = f"{measure.label}; {level}" if level else measure.label
            rows.append((label, *cells, format_number(ratios.get(name), 2)))
    return format_markdown_table(rows)


def format_rate_limits(results: Mapping[str, Figures]) -> str:
    """Return a Markdown list that says for each target what ended the search for its highest rate."""
    return "\n".join(
        f"- {TARGET_LABELS.get(name, name)}: {describe_rate_limit(figures)}." for name, figures in results.items()
    )
