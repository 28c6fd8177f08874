"""The figures as a table; pure."""

from __future__ import annotations

from collections.abc import Mapping

from bench.figures import Figures, limit_of, ratios
from bench.layout import markdown_table, number

#: Order and words of the table: the beginning of a figure's name, what it is, digits after the point.
MEASURES = (
    ("first_part_p50_ms single", "time to first part, one chat: p50, ms", 1),
    ("first_part_max_ms single", "time to first part, one chat: slowest of ten, ms", 1),
    ("first_part_p50_ms burst", "time to first part, burst: p50, ms", 1),
    ("first_part_p99_ms burst", "time to first part, burst: p99, ms", 1),
    ("delivery_p50_ms", "delivery p50, ms", 1),
    ("delivery_p99_ms", "delivery p99, ms", 1),
    ("highest_rate_per_s", "highest rate with p99 <= 250 ms, chunks/s", 0),
    ("delivered_per_s flat out", "one answer flat out, chunks/s", 0),
    ("cpu_s_per_1000", "CPU per 1,000 chunks, s", 3),
    ("memory_idle_mb", "memory idle, MB", 0),
    ("memory_per_stream_mb", "memory per stream, MB", 2),
    ("stolen_share", "share of both cores that other virtual machines took", 3),
    ("bytes_per_frame", "bytes per frame", 0),
    ("bytes_per_chunk", "bytes per chunk, all frames", 0),
    ("frames_per_s", "frames/s", 0),
    ("commits_per_s", "commits/s", 0),
    ("chunks_per_commit", "chunks per commit", 1),
    ("browser_main_thread_s", "browser's main thread, s", 2),
    ("browser_cpu_s", "of it CPU, s", 2),
    ("browser_script_s", "of it script, s", 2),
    ("browser_layout_s", "of it layout and style, s", 2),
    ("browser_layouts", "times it was laid out", 0),
    ("browser_s_per_1000", "browser's main thread per 1,000 chunks, s", 2),
    ("browser_longest_task_ms", "browser's longest task while streaming, ms", 1),
    ("browser_layout_shift", "layout shift, the sum of all", 4),
    ("browser_graphs_late", "graphs laid out before their picture was there", 0),
    ("browser_graphs_resized_px", "what graphs grew or shrank after that, px", 1),
    ("browser_reader_moved_px", "what a reader who scrolled up saw move, px", 1),
)
WORDS = {"sdk": "(a) SDK alone", "relay": "(b) bare relay", "lean": "(c) lean relay", "plotline": "Plotline"}


def table(results: Mapping[str, Figures], browser: Figures) -> str:
    """Markdown; medians of `plotline` and what was measured beside it, and of the browser with Plotline's page."""
    plotline = results["plotline"] | browser
    of_sdk, of_relay = (ratios(plotline, results.get(name, {})) for name in ("sdk", "relay"))
    rows = [("measure", *(WORDS.get(name, name) for name in results), "of (a)", "of (b)")]
    for prefix, words, digits in MEASURES:
        for name in (name for name in plotline if name == prefix or name.startswith(f"{prefix} ")):
            level = name.removeprefix(prefix).strip()
            rows.append(
                (
                    f"{words}; {level}" if level else words,
                    *(
                        number((plotline if target == "plotline" else figures).get(name), digits)
                        for target, figures in results.items()
                    ),
                    *(number(figures.get(name), 2) for figures in (of_sdk, of_relay)),
                )
            )
    return markdown_table(rows)


def limits(results: Mapping[str, Figures]) -> str:
    """What ended each search for the highest rate, a line each."""
    return "\n".join(f"- {WORDS.get(name, name)}: {limit_of(figures)}." for name, figures in results.items())
