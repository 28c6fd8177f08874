"""Measures requests in a large account, in this process: `python -m bench.with_django bench.page_costs`.

The database must be migrated and empty. The result is printed as JSON. Times are medians of several requests after
one that warms up.
"""

from __future__ import annotations

import gc
import json
import re
import time
from collections.abc import Callable
from functools import partial
from html import unescape
from pathlib import Path
from statistics import median

from django.conf import settings
from django.db import connection, reset_queries
from django.test import Client
from django.test.utils import CaptureQueriesContext

from bench.generated_text import CHINESE, ENGLISH, GERMAN
from bench.page_dataset import RARE_WORD, PageDataset, make_dataset
from bench.pages import PageCosts, RequestCost
from bench.processes import BenchError
from chat.page.relay.page_updates import read_update

REQUESTS = 7
HTMX_HEADERS = {"HX-Request": "true"}

Request = Callable[[], bytes]


def main() -> None:
    """Build the account, measure each request and print the costs."""
    started_at = time.monotonic()
    dataset = make_dataset()
    build_s = time.monotonic() - started_at
    # When the last connection closes, SQLite moves the write-ahead log into the database.
    connection.close()
    database = Path(settings.DATABASES["default"]["NAME"])
    size_bytes = sum(path.stat().st_size for path in database.parent.glob(f"{database.name}*"))
    costs = [measure_request(label, request) for label, request in make_requests(dataset)]
    print(json.dumps(PageCosts(build_s=build_s, database_mb=size_bytes / 1e6, requests=costs)))


def make_requests(dataset: PageDataset) -> list[tuple[str, Request]]:
    """Return the label and the request of each row, in the table's order."""
    browser = Client()
    browser.force_login(dataset.owner, settings.AUTHENTICATION_BACKENDS[0])

    def get(path: str, **query: str) -> Request:
        return partial(fetch, browser, path, query)

    def search(terms: str) -> Request:
        return get("/conversations/", q=terms)

    def make_snapshot() -> bytes:
        return read_update(dataset.long.pk, None).text.encode()

    def get_next(path: str) -> Request:
        """Return the request of the page to which the button "Older" leads."""
        return get(path + find_link(r'class="button" href="(\?[^"]+)"', get(path)))

    project = dataset.project.get_absolute_url()
    two_words = " ".join(reversed(ENGLISH.split()))
    return [
        ("home, to the newest conversation", get("/")),
        ("page of an empty conversation", get(f"/c/{dataset.empty.pk}/")),
        ("page of 1,000 messages and 200 graphs", get(f"/c/{dataset.long.pk}/")),
        ("its snapshot, the first frame of a socket", make_snapshot),
        ("list, first page", get("/conversations/")),
        ("list, next page", get(find_link(r'hx-get="([^"]+)"', get("/conversations/")))),
        ("search: a word in one message", search(RARE_WORD)),
        ("search: a word in 1 % of the messages", search(GERMAN)),
        ("search: the most common word", search(dataset.most_common_word)),
        ("search: one letter", search("s")),
        ("search: two words", search(two_words)),
        ("search: two words, one of them the most common", search(f"{dataset.most_common_word} {GERMAN}")),
        ("search: a phrase", search(f'"{ENGLISH}"')),
        ("search: Chinese, four characters", search(CHINESE)),
        ("search: Chinese, two common characters", search("一丁")),
        ("search: no match", search("qqqq")),
        ("list of 500 projects, first page", get("/projects/")),
        ("list of 500 projects, next page", get_next("/projects/")),
        ("project with 5,000 conversations, first page", get(project)),
        ("project with 5,000 conversations, next page", get_next(project)),
        ("gallery of 10,200 graphs, first page", get("/gallery/")),
        ("gallery of 10,200 graphs, next page", get_next("/gallery/")),
        ("gallery of the conversation with 200 graphs", get(f"/c/{dataset.long.pk}/gallery/")),
    ]


def find_link(pattern: str, request: Request) -> str:
    """Return the address in a page that the expression's group matches. Raise BenchError if there is none."""
    match = re.search(pattern, request().decode())
    if match is None:
        raise BenchError(f"no link matches {pattern}")
    return unescape(match[1])


def fetch(browser: Client, path: str, query: dict[str, str]) -> bytes:
    """Return the body of a response. Raise BenchError for an error status."""
    response = browser.get(path, query or None, headers=HTMX_HEADERS if path.startswith("/conversations/") else {})
    if response.status_code >= 400:
        raise BenchError(f"{path}: status {response.status_code}")
    return response.content


def measure_request(label: str, request: Request) -> RequestCost:
    """Count the queries of one request, then return it with the median time of several requests.

    The garbage collector is off during a request, because a collection would charge it for earlier requests.
    """
    with CaptureQueriesContext(connection) as queries:
        size_bytes = len(request())
    query_count = len(queries)
    reset_queries()
    times_ms = []
    for _ in range(REQUESTS):
        gc.collect()
        gc.disable()
        started_at = time.perf_counter()
        request()
        times_ms.append(1000 * (time.perf_counter() - started_at))
        gc.enable()
    return RequestCost(label=label, server_ms=median(times_ms), queries=query_count, bytes=size_bytes)
