"""The benchmark of one page: how a conversation of 30, 1,000 and 20,000 messages opens; `python -m bench page`.

Chromium opens pages as they are served with `DEBUG` off: first with an empty cache, then again. A page is interactive
when the message box handles keys and the socket is open. The time to the first graph is measured with the demo model,
on what `make run` starts.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser

from bench.chromium import run_chromium
from bench.demo_site import run_demo_site
from bench.figures import Figures, compute_medians
from bench.page_load import load_messages, measure_load, measure_server, measure_typing, open_context
from bench.product import DATABASE, Product, make_template, run_product, run_python
from bench.results import describe_environment, write_result
from bench.tables import format_markdown_table, format_number
from bench.targets import run_upstream

COUNTS = (30, 1_000, 20_000)
LOADED = 600
"""Number of messages that are loaded for the second measurement of typing."""
REPEATS = 3
"""Number of times that each page is opened with an empty cache, and then with a full one."""
GRAPHS = 4
EXAMPLE = "Plot a sine wave"


def main(argv: Sequence[str]) -> None:
    """Measure, write the result and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench page", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="result file (default var/bench/<date>-page.json)")
    parser.add_argument("--no-graph", action="store_true", help="skip the time to the first graph")
    options = parser.parse_args(argv)
    with run_chromium() as browser, TemporaryDirectory(prefix="plotline-bench-", ignore_cleanup_errors=True) as name:
        figures = measure_conversations(browser, Path(name))
        graph = {} if options.no_graph else measure_first_graph(browser)
    path = write_result("page", describe_environment() | {"conversations": figures, "graph": graph}, options.json)
    print(format_page_table(figures))
    for label, value in graph.items():
        print(f"\n{label}: {format_number(value, 2)} s")
    print(f"\nWritten to {path}", file=sys.stderr)


def measure_conversations(browser: Browser, folder: Path) -> dict[str, Figures]:
    """Return the figures of a conversation of each length, by its number of messages."""
    template = make_template(folder / "template", users=1, conversations_per_user=1)
    arguments = [str(count) for count in COUNTS]
    seeded = json.loads(run_python(template.variables, "-m", "bench.with_django", "bench.page_seed", *arguments))
    with closing(sqlite3.connect(template.folder / DATABASE)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with run_upstream(folder) as upstream:
        figures = {}
        for count, conversation_id in seeded["conversations"].items():
            # Each length has a new server, so that its memory is that of this length.
            with run_product(template, upstream, folder / f"product-{count}") as product:
                figures[count] = measure_conversation(browser, product, conversation_id, seeded["cookie"], int(count))
            print(f"  {count} messages measured", file=sys.stderr, flush=True)
    return figures


def measure_conversation(browser: Browser, product: Product, conversation_id: str, cookie: str, count: int) -> Figures:
    """Return the figures of one conversation, on a server that has served nothing yet."""
    site = f"http://127.0.0.1:{product.port}"
    url = f"{site}/c/{conversation_id}/"
    measure_server(f"{site}/healthz", cookie)
    memory_bytes = product.process.read_rss_bytes()
    figures = measure_server(url, cookie)
    cold, warm = [], []
    for _ in range(REPEATS):
        with open_context(browser, site, cookie) as context:
            page, loaded = measure_load(context, url, "cold")
            cold.append(loaded)
            page.close()
            page, loaded = measure_load(context, url, "warm")
            warm.append(loaded)
            page.close()
    figures |= compute_medians(cold) | compute_medians(warm)
    figures |= {f"{name}, fastest": min(load[name] for load in cold) for name in cold[0] if "interactive" in name}
    figures |= {f"{name}, fastest": min(load[name] for load in warm) for name in warm[0] if "interactive" in name}
    with open_context(browser, site, cookie) as context:
        page, _ = measure_load(context, url, "cold")
        figures |= measure_typing(page, "typing")
        messages = load_messages(page, min(LOADED, count))
        figures |= {"messages loaded": messages} | measure_typing(page, "typing with them")
        page.close()
    figures["server memory, growth, MB"] = (product.process.read_rss_bytes() - memory_bytes) / 1e6
    return figures


def measure_first_graph(browser: Browser) -> Figures:
    """Return the seconds from a click on an example to its graph, in the first conversation and in later ones."""
    times_s = []
    with TemporaryDirectory(prefix="plotline-bench-") as name, run_demo_site(Path(name)) as site:
        page = browser.new_page()
        page.goto(f"{site}/")
        page.fill("input[name=login]", "demo")
        page.fill("input[name=password]", "demo")
        page.click("button[type=submit]")
        for _ in range(GRAPHS):
            page.wait_for_selector("#connection[hidden]", state="attached")
            page.wait_for_timeout(1000)
            started_at = time.perf_counter()
            page.click(f"text={EXAMPLE}")
            page.wait_for_function("() => document.querySelector('figure[data-graph-index] img')?.complete")
            times_s.append(time.perf_counter() - started_at)
            page.wait_for_selector("article[data-status=done]")
            with page.expect_navigation():
                page.click("text=New conversation")
        page.close()
    return {"first graph after a click, of the server": times_s[0], "of the next conversations": median(times_s[1:])}


def format_page_table(figures: Mapping[str, Figures]) -> str:
    """Return a Markdown table with a row for each figure and a column for each length."""
    rows = [("measure", *(f"{int(count):,} messages" for count in figures))]
    rows += [
        (label, *(format_number(values.get(label), 1) for values in figures.values()))
        for label in next(iter(figures.values()))
    ]
    return format_markdown_table(rows)
