"""The figures as a table; pure."""

from __future__ import annotations

from collections.abc import Mapping

from bench.figures import Figures, ratios

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
    ("bytes_per_frame", "bytes per frame", 0),
    ("bytes_per_chunk", "bytes per chunk, all frames", 0),
    ("frames_per_s", "frames/s", 0),
    ("commits_per_s", "commits/s", 0),
    ("chunks_per_commit", "chunks per commit", 1),
)
HEAD = ("measure", "(a) SDK alone", "(b) bare relay", "Plotline", "of (a)", "of (b)")


def table(results: Mapping[str, Figures]) -> str:
    """Markdown; `results` are the medians of `sdk`, `relay` and `plotline`."""
    sdk, relay, plotline = results["sdk"], results["relay"], results["plotline"]
    of_sdk, of_relay = ratios(plotline, sdk), ratios(plotline, relay)
    rows: list[tuple[str, ...]] = [HEAD]
    for prefix, words, digits in MEASURES:
        for name in (name for name in plotline if name == prefix or name.startswith(f"{prefix} ")):
            level = name.removeprefix(prefix).strip()
            rows.append(
                (
                    f"{words}; {level}" if level else words,
                    *(_number(figures.get(name), digits) for figures in (sdk, relay, plotline)),
                    *(_number(figures.get(name), 2) for figures in (of_sdk, of_relay)),
                )
            )
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    lines = ["| " + " | ".join(_padded(row, widths)) + " |" for row in rows]
    lines.insert(
        1, "|" + "|".join("-" * (width + 1) + (":" if column else "-") for column, width in enumerate(widths)) + "|"
    )
    return "\n".join(lines)


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


def _padded(row: tuple[str, ...], widths: list[int]) -> list[str]:
    return [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
