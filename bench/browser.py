"""The browser's side: what Chromium's main thread does while an answer comes; `python -m bench browser`.

A signed-in page of the product as served. One run is measured without tracing, and a short one with it: tracing
costs the main thread time of its own, but alone tells how long each task was.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
from playwright.sync_api import Browser, BrowserContext, CDPSession, Page, sync_playwright

from bench.answers import RICH_PIECES, Answer
from bench.figures import Figures, medians
from bench.layout import markdown_table, number
from bench.processes import BenchError, cores, settle_here
from bench.product import Product, make_template, running_product
from bench.results import machine, write
from bench.targets import running_upstream

#: As the browser tests start it.
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]

ANSWER = Answer(chunks=1000, rate=50, graphs=4, is_rich=True)
"""20 KB in 20 s."""
TRACED = Answer(chunks=500, rate=50, graphs=2, is_rich=True)
READ = Answer(chunks=200, rate=50, graphs=2, is_rich=True)
WARM_UP = Answer(chunks=len(RICH_PIECES), rate=100, graphs=1, is_rich=True)
TINY = Answer(chunks=60, rate=50, graphs=1, is_rich=True)

TRACE_CATEGORIES = "toplevel,devtools.timeline,disabled-by-default-devtools.timeline"
AFTER_S = 1.0
"""For the last frame to be drawn."""
LATE_S = 30.0
"""How much later than that an answer may end."""
STATUS = "() => document.querySelector('article:last-child')?.dataset.status"

#: What moved without anybody's doing, by the browser's own account; its `sources` say which elements.
WATCH_SHIFTS = """() => {
  window.shifts = [];
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries()) {
      const nodes = sources.map(({ node }) => node?.parentElement?.closest("[id]")?.id ?? node?.nodeName ?? "gone");
      window.shifts.push({ value, hadRecentInput, nodes });
    }
  }).observe({ type: "layout-shift", buffered: true });
}"""

#: Graphs that were laid out, those whose picture came later than that, and by how much they grew or shrank afterwards.
WATCH_GRAPHS = """() => {
  window.graphs = { shown: 0, late: 0, resizedPx: 0 };
  const heights = new WeakMap();
  const sizes = new ResizeObserver((entries) => {
    for (const { target, contentRect } of entries) {
      if (!target.isConnected) continue;
      if (heights.has(target)) {
        window.graphs.resizedPx += Math.abs(contentRect.height - heights.get(target));
      } else {
        window.graphs.shown += 1;
        window.graphs.late += target.querySelector("img").naturalHeight === 0;
      }
      heights.set(target, contentRect.height);
    }
  });
  new MutationObserver((records) => {
    for (const node of records.flatMap(({ addedNodes }) => [...addedNodes])) {
      if (!(node instanceof Element)) continue;
      for (const graph of node.querySelectorAll("figure[data-graph-index]")) sizes.observe(graph);
      if (node.matches("figure[data-graph-index]")) sizes.observe(node);
    }
  }).observe(document.body, { childList: true, subtree: true });
}"""

#: A reader who scrolled up keeps the first block in view in mind: how far down it stands.
READ_ABOVE = """() => {
  const scroller = document.getElementById("scroller");
  const view = scroller.getBoundingClientRect();
  const blocks = document.querySelectorAll('article:last-child [data-part-kind="text"] > *, article:last-child figure');
  const first = Array.from(blocks).find((block) => block.getBoundingClientRect().top >= view.top);
  if (!first) return null;
  window.held ??= first;
  return window.held.getBoundingClientRect().top;
}"""
SCROLL_UP = """() => {
  const scroller = document.getElementById("scroller");
  scroller.dispatchEvent(new WheelEvent("wheel", { deltaY: -400 }));
  scroller.scrollTop -= 400;
}"""


@contextmanager
def running_chromium() -> Iterator[Browser]:
    """Chromium as the system's package manager installs it, on all cores: people's machines have several.

    Drawing without a graphics card is work of other threads, for which the main thread waits.
    """
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next((found for name in names if (found := shutil.which(name))), None)
    if path is None:
        raise BenchError("Chromium is not installed: apt-get install chromium")
    own = os.sched_getaffinity(0)
    with sync_playwright() as playwright:
        # What is started next inherits it.
        os.sched_setaffinity(0, cores())
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()
            os.sched_setaffinity(0, own)


class Tab:
    """A signed-in page of one empty conversation."""

    def __init__(self, context: BrowserContext, product: Product, conversation_id: str) -> None:
        self.page: Page = context.new_page()
        self.devtools: CDPSession = context.new_cdp_session(self.page)
        self.devtools.send("Performance.enable")
        self.page.goto(f"http://127.0.0.1:{product.port}/c/{conversation_id}/")
        self.page.evaluate(WATCH_SHIFTS)
        self.page.evaluate(WATCH_GRAPHS)
        # The page's own modules, and its socket.
        self.page.wait_for_selector("textarea[name=text]")
        self.page.wait_for_timeout(700)

    def ask(self, answer: Answer) -> None:
        """Send the question as a person would."""
        self.page.fill("textarea[name=text]", answer.prompt())
        self.page.keyboard.press("Enter")

    def wait(self, seconds: float) -> None:
        """Leave the page alone: asking it anything would cost its main thread time."""
        time.sleep(seconds)

    def check(self) -> None:
        """Raises BenchError where the answer does not come to its end soon."""
        give_up_at = time.monotonic() + LATE_S
        while (status := self.page.evaluate(STATUS)) in (None, "queued", "running") and time.monotonic() < give_up_at:
            self.wait(0.1)
        if status != "done":
            raise BenchError(f"the browser's answer is {status!r}, not done")

    def metrics(self) -> Figures:
        """Seconds of the main thread so far: by the clock, as Chromium counts, others' load with it, and of CPU."""
        counted = self.devtools.send("Performance.getMetrics")["metrics"]
        seconds = {metric["name"]: float(metric["value"]) for metric in counted}
        return {
            "browser_main_thread_s": seconds["TaskDuration"],
            "browser_cpu_s": main_threads_cpu_s(),
            "browser_script_s": seconds["ScriptDuration"],
            "browser_layout_s": seconds["LayoutDuration"] + seconds["RecalcStyleDuration"],
            "browser_layouts": seconds["LayoutCount"],
        }


def main_threads_cpu_s() -> float:
    """CPU seconds of the main threads of all live pages; all but one do nothing."""
    total_ns = 0
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess, OSError):
            if "--type=renderer" in process.cmdline():
                # A process's first thread has its id; the first field is nanoseconds on a core.
                schedule = Path(f"/proc/{process.pid}/task/{process.pid}/schedstat").read_text()
                total_ns += int(schedule.split()[0])
    return total_ns / 1e9


@contextmanager
def open_tab(browser: Browser, product: Product) -> Iterator[Tab]:
    """A tab of 1280 x 800 on the next unused conversation."""
    cookie, conversation_id = next(product.places)
    name, _, value = cookie.partition("=")
    with browser.new_context(viewport={"width": 1280, "height": 800}) as context:
        context.add_cookies([{"name": name, "value": value, "url": f"http://127.0.0.1:{product.port}"}])
        yield Tab(context, product, conversation_id)


def main_thread(browser: Browser, product: Product, answer: Answer) -> tuple[Figures, list[dict[str, Any]]]:
    """What one answer costs the main thread, and what moved on its own."""
    with open_tab(browser, product) as tab:
        before = tab.metrics()
        tab.ask(answer)
        tab.wait(answer.duration_s + AFTER_S)
        after = tab.metrics()
        tab.check()
        shifts: list[dict[str, Any]] = tab.page.evaluate("() => window.shifts")
        graphs: dict[str, float] = tab.page.evaluate("() => window.graphs")
        nodes = tab.page.evaluate("() => document.querySelectorAll('article:last-child *').length")
    if graphs["shown"] < answer.graphs:
        raise BenchError(f"the page showed {graphs['shown']} graphs of {answer.graphs}")
    figures = {name: after[name] - before[name] for name in after}
    figures["browser_s_per_1000"] = 1000 * figures["browser_main_thread_s"] / answer.chunks
    figures["browser_layout_shift"] = sum(shift["value"] for shift in shifts)
    figures["browser_graphs_late"] = graphs["late"]
    figures["browser_graphs_resized_px"] = graphs["resizedPx"]
    figures["browser_nodes"] = nodes
    return figures, shifts


def tasks(browser: Browser, product: Product, answer: Answer, trace: Path | None = None) -> Figures:
    """How long the main thread's tasks were while the answer came."""
    with open_tab(browser, product) as tab:
        # After the question has left: typing and sending it is no part of this.
        tab.ask(answer)
        tab.wait(0.3)
        browser.start_tracing(page=tab.page, categories=TRACE_CATEGORIES.split(","))
        tab.wait(answer.duration_s + AFTER_S)
        recorded = browser.stop_tracing()
        tab.check()
    if trace:
        trace.write_bytes(recorded)
    lengths_ms = sorted(task_lengths_ms(json.loads(recorded)["traceEvents"]))
    if not lengths_ms:
        raise BenchError("Chromium traced no tasks")
    return {
        "browser_longest_task_ms": lengths_ms[-1],
        "browser_tasks_over_16_ms": sum(length_ms > 16 for length_ms in lengths_ms),
        "browser_tasks_over_50_ms": sum(length_ms > 50 for length_ms in lengths_ms),
    }


def task_lengths_ms(events: list[dict[str, Any]]) -> list[float]:
    """Of each task of the busiest page's main thread, from a trace's events."""
    mains = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    lengths: dict[tuple[int, int], list[float]] = {}
    for event in events:
        place = (event.get("pid", 0), event.get("tid", 0))
        if place in mains and event["name"] == "RunTask" and "dur" in event:
            lengths.setdefault(place, []).append(event["dur"] / 1000)
    return max(lengths.values(), key=sum, default=[])


def reader_above(browser: Browser, product: Product, answer: Answer) -> Figures:
    """How far what a reader looks at moves, who scrolled up while the answer came."""
    with open_tab(browser, product) as tab:
        tab.ask(answer)
        tab.wait(answer.duration_s / 2)
        tab.page.evaluate(SCROLL_UP)
        tab.wait(0.2)
        before = tab.page.evaluate(READ_ABOVE)
        tab.wait(answer.duration_s / 2 + AFTER_S)
        after = tab.page.evaluate(READ_ABOVE)
        tab.check()
    return {} if before is None else {"browser_reader_moved_px": abs(after - before)}


def measure_browser(*, is_tiny: bool = False, trace: Path | None = None) -> Figures:
    """Everything once, on a product of its own; about 50 s, tiny 15 s."""
    figures: Figures = {}
    with TemporaryDirectory(prefix="plotline-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        template = make_template(folder / "template", people=1, conversations=4)
        with (
            running_upstream(folder) as upstream,
            running_product(template, upstream, folder / "product") as product,
            running_chromium() as browser,
        ):
            main_thread(browser, product, TINY if is_tiny else WARM_UP)
            measured, shifts = main_thread(browser, product, TINY if is_tiny else ANSWER)
            figures |= measured
            figures |= tasks(browser, product, TINY if is_tiny else TRACED, trace)
            if not is_tiny:
                figures |= reader_above(browser, product, READ)
    for shift in sorted(shifts, key=lambda shift: -shift["value"])[:5]:
        print(f"  browser   moved by {shift['value']:.4f}: {', '.join(shift['nodes'])}", file=sys.stderr)
    told = ", ".join(f"{name.removeprefix('browser_')} {value:.3g}" for name, value in figures.items())
    print(f"  browser   {told}", file=sys.stderr, flush=True)
    return figures


def main(argv: Sequence[str]) -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(prog="python -m bench browser", description=__doc__)
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="medians of so many runs (default 1)")
    parser.add_argument("--tiny", action="store_true", help="only tries the harness itself")
    parser.add_argument("--trace", type=Path, metavar="FILE", help="keep the last trace, for a browser's own tools")
    options = parser.parse_args(argv)
    settle_here()
    about = machine()
    repeats = [measure_browser(is_tiny=options.tiny, trace=options.trace) for _ in range(options.repeat)]
    figures = medians(repeats)
    rows = [("measure", "Plotline")]
    rows += [(name.removeprefix("browser_").replace("_", " "), number(figures[name], 3)) for name in figures]
    print(markdown_table(rows))
    path = write("browser", about | {"medians": figures, "repeats": repeats})
    print(f"\nWritten to {path}", file=sys.stderr)
