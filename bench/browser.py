"""The browser benchmark: the load of Chromium's main thread while an answer streams; `python -m bench browser`.

It measures a logged-in page of Plotline as it is served. Tracing shows the length of each task, but costs time on the
main thread. The total time is therefore measured without tracing, and task lengths with a second, shorter answer.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypedDict

from playwright.sync_api import Browser

from bench.answers import RICH_PIECES, Answer
from bench.chromium import open_tab, run_chromium
from bench.figures import Figures, compute_medians
from bench.processes import BenchError, pin_client_process
from bench.product import Product, make_template, run_product
from bench.results import describe_environment, write_result
from bench.tables import format_markdown_table, format_number
from bench.targets import run_upstream

#: 20 KB in 20 s.
ANSWER = Answer(chunks=1000, rate=50, graphs=4, is_rich=True)
TRACED_ANSWER = Answer(chunks=500, rate=50, graphs=2, is_rich=True)
WARM_UP_ANSWER = Answer(chunks=len(RICH_PIECES), rate=100, graphs=1, is_rich=True)
TINY_ANSWER = Answer(chunks=60, rate=50, graphs=1, is_rich=True)

TRACE_CATEGORIES = ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline"]

#: Time for drawing the last frame.
DRAW_S = 1.0

COUNT_GRAPHS = "() => document.querySelectorAll('article:last-child figure[data-graph-index] img').length"


class TraceEvent(TypedDict, total=False):
    """The fields of Chromium's trace events that this module reads. `dur` is in microseconds."""

    name: str
    pid: int
    tid: int
    dur: int
    args: dict[str, str]


def measure_main_thread(browser: Browser, product: Product, answer: Answer) -> Figures:
    """Return the main thread's time for one answer."""
    with open_tab(browser, product) as tab:
        before = tab.read_metrics()
        tab.send_message(answer)
        tab.wait(answer.duration_s + DRAW_S)
        after = tab.read_metrics()
        tab.wait_until_done()
        graph_count: int = tab.page.evaluate(COUNT_GRAPHS)
    if graph_count < answer.graphs:
        raise BenchError(f"the page showed {graph_count} of {answer.graphs} graphs")
    figures = {name: after[name] - before[name] for name in after}
    figures["browser_s_per_1000"] = 1000 * figures["browser_main_thread_s"] / answer.chunks
    return figures


def measure_tasks(browser: Browser, product: Product, answer: Answer, trace_path: Path | None = None) -> Figures:
    """Return the length of the longest task on the main thread, and the number of long tasks.

    The trace is also written to `trace_path` if it is given.
    """
    with open_tab(browser, product) as tab:
        # Tracing starts after the message was sent, so that typing and sending are not measured.
        tab.send_message(answer)
        tab.wait(0.3)
        browser.start_tracing(page=tab.page, categories=TRACE_CATEGORIES)
        tab.wait(answer.duration_s + DRAW_S)
        trace = browser.stop_tracing()
        tab.wait_until_done()
    if trace_path:
        trace_path.write_bytes(trace)
    lengths_ms = sorted(extract_task_lengths_ms(json.loads(trace)["traceEvents"]))
    if not lengths_ms:
        raise BenchError("Chromium traced no tasks")
    return {
        "browser_longest_task_ms": lengths_ms[-1],
        "browser_tasks_over_16_ms": sum(length_ms > 16 for length_ms in lengths_ms),
        "browser_tasks_over_50_ms": sum(length_ms > 50 for length_ms in lengths_ms),
    }


def extract_task_lengths_ms(events: list[TraceEvent]) -> list[float]:
    """Return the length of each task of the busiest page's main thread."""
    main_threads = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    lengths: dict[tuple[int, int], list[float]] = {}
    for event in events:
        thread = (event.get("pid", 0), event.get("tid", 0))
        if thread in main_threads and event["name"] == "RunTask" and "dur" in event:
            lengths.setdefault(thread, []).append(event["dur"] / 1000)
    return max(lengths.values(), key=sum, default=[])


def measure_browser(*, is_tiny: bool = False, trace_path: Path | None = None) -> Figures:
    """Run every browser measurement once on a new Plotline server. It takes about 50 s, or 15 s if `is_tiny`."""
    figures: Figures = {}
    with TemporaryDirectory(prefix="plotline-bench-", ignore_cleanup_errors=True) as path:
        folder = Path(path)
        template = make_template(folder / "template", users=1, conversations_per_user=3)
        with (
            run_upstream(folder) as upstream,
            run_product(template, upstream, folder / "product") as product,
            run_chromium() as browser,
        ):
            measure_main_thread(browser, product, TINY_ANSWER if is_tiny else WARM_UP_ANSWER)
            figures |= measure_main_thread(browser, product, TINY_ANSWER if is_tiny else ANSWER)
            figures |= measure_tasks(browser, product, TINY_ANSWER if is_tiny else TRACED_ANSWER, trace_path)
    summary = ", ".join(f"{name.removeprefix('browser_')} {value:.3g}" for name, value in figures.items())
    print(f"  browser   {summary}", file=sys.stderr, flush=True)
    return figures


def main(argv: Sequence[str]) -> None:
    """Measure, write the result and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench browser", description=__doc__)
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="report medians of N runs (default 1)")
    parser.add_argument("--tiny", action="store_true", help="only test the harness")
    parser.add_argument("--trace", type=Path, metavar="FILE", help="keep the last trace, for Chromium's trace viewers")
    options = parser.parse_args(argv)
    pin_client_process()
    environment = describe_environment()
    repeats = [measure_browser(is_tiny=options.tiny, trace_path=options.trace) for _ in range(options.repeat)]
    medians = compute_medians(repeats)
    path = write_result("browser", environment | {"medians": medians, "repeats": repeats})
    rows = [("measure", "Plotline")]
    rows += [
        (name.removeprefix("browser_").replace("_", " "), format_number(value, 3)) for name, value in medians.items()
    ]
    print(format_markdown_table(rows))
    print(f"\nWritten to {path}", file=sys.stderr)
