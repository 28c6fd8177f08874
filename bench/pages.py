"""`python -m bench pages`: what pages cost at size; server time, queries and bytes, in this process, without a network.

Runs the views on SQLite in `var/bench/pages/`, made anew each time, as in production (DEBUG off); see `bench.library`
for what is in it. Times are medians of several requests after one that warms up.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import re
import secrets
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from html import unescape
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import django
from django.conf import settings
from django.core.management import call_command
from django.db import connection, reset_queries
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.module_loading import import_string

from bench.layout import markdown_table, number
from bench.processes import ROOT, BenchError, environment

if TYPE_CHECKING:
    from bench.library import Library

FOLDER = ROOT / "var" / "bench"
REQUESTS = 7
HTMX = {"HX-Request": "true"}


@dataclass(frozen=True, slots=True)
class Cost:
    """What one thing costs."""

    what: str
    server_ms: float
    queries: int
    bytes: int


def main(argv: Sequence[str] = ()) -> None:
    """Build, measure, print a table, write JSON."""
    parser = argparse.ArgumentParser(prog="python -m bench pages", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="default: var/bench/pages-<date>.json")
    asked = parser.parse_args(argv)
    folder = FOLDER / "pages"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    _set_up(folder)
    begun_at = time.monotonic()
    library: Library = import_module("bench.library").make_library()
    build_s = time.monotonic() - begun_at
    # The last connection to close empties the log into the database.
    connection.close()
    size_mb = sum(path.stat().st_size for path in folder.glob("plotline.sqlite3*")) / 1e6
    print(f"a database of {size_mb:.0f} MB, built in {build_s:.0f} s", file=sys.stderr, flush=True)
    found = [cost(what, call) for what, call in things(library)]
    print(table(found))
    path = asked.json or FOLDER / f"pages-{datetime.now(UTC):%Y-%m-%dT%H%M%S}.json"
    figures = {"build_s": build_s, "database_mb": size_mb, "costs": [asdict(each) for each in found]}
    path.write_text(json.dumps(figures, indent=1) + "\n")
    print(f"written to {path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}", file=sys.stderr)


def _set_up(folder: Path) -> None:
    """This process as a server of its own with an empty database."""
    if settings.configured:
        raise BenchError("pages are measured in a process that has not set up Django before")
    variables = environment(DEBUG="0", HTTPS="0", SECRET_KEY=secrets.token_urlsafe(60), PLOTLINE_VAR_DIR=str(folder))
    os.environ.clear()
    os.environ.update(variables, DJANGO_SETTINGS_MODULE="config.settings")
    django.setup()
    settings.ALLOWED_HOSTS = ["testserver"]
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)


def things(library: Library) -> list[tuple[str, Callable[[], bytes]]]:
    """What is measured, in the table's order."""
    words = import_module("bench.library")
    browser = Client()
    browser.force_login(library.owner, settings.AUTHENTICATION_BACKENDS[0])

    def get(path: str, **query: str) -> Callable[[], bytes]:
        return partial(_get, browser, path, query)

    def search(question: str) -> Callable[[], bytes]:
        return get("/conversations/", q=question)

    next_page = re.search(r'hx-get="([^"]+)"', get("/conversations/")().decode())
    if next_page is None:
        raise BenchError("the list has no next page")
    read_snapshot = import_string("chat.consumers._read")
    common = words.Words().most_common
    return [
        ("home, to the newest conversation", get("/")),
        ("page of an empty conversation", get(f"/c/{library.empty.pk}/")),
        ("page of 1,000 messages and 200 graphs", get(f"/c/{library.long.pk}/")),
        ("its snapshot, a socket's opening frame", lambda: read_snapshot(library.long.pk, None)[1].encode()),
        ("list, first page", get("/conversations/")),
        ("list, next page", get(unescape(next_page[1]))),
        ("search: a word of one message", search(words.RARE)),
        ("search: a word of 1 % of them", search(words.GERMAN)),
        ("search: the commonest word", search(common)),
        ("search: one letter", search("s")),
        ("search: two words", search(" ".join(words.ENGLISH.split()[::-1]))),
        ("search: two words, one of them the commonest", search(f"{common} {words.GERMAN}")),
        ("search: a phrase", search(f'"{words.ENGLISH}"')),
        ("search: Chinese, four characters", search(words.CHINESE)),
        ("search: Chinese, two common characters", search("一丁")),
        ("search: no match", search("qqqq")),
        # Exports of the long conversation and of the library belong here, each as (what, call that gives bytes).
    ]


def _get(browser: Client, path: str, query: dict[str, str]) -> bytes:
    response = browser.get(path, query or None, headers=HTMX if path.startswith("/conversations/") else {})
    if response.status_code >= 400:
        raise BenchError(f"{path}: status {response.status_code}")
    return response.content


def cost(what: str, call: Callable[[], bytes]) -> Cost:
    """Measure one thing; with the cyclic collector off, which would bill one request for all before it."""
    with CaptureQueriesContext(connection) as queries:
        size_bytes = len(call())
    queries_count = len(queries)
    reset_queries()
    times = []
    for _ in range(REQUESTS):
        gc.collect()
        gc.disable()
        begun_at = time.perf_counter()
        call()
        times.append(1000 * (time.perf_counter() - begun_at))
        gc.enable()
    return Cost(what, median(times), queries_count, size_bytes)


def table(costs: Sequence[Cost]) -> str:
    """Markdown."""
    rows = [("what", "server time, ms", "queries", "KB")]
    rows += [
        (each.what, number(each.server_ms, 1), number(each.queries, 0), number(each.bytes / 1000, 1)) for each in costs
    ]
    return markdown_table(rows)


if __name__ == "__main__":
    main(sys.argv[1:])
