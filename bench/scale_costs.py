"""Measures requests in a large database: `python -m bench.with_django bench.scale_costs NAMES`.

NAMES is what `bench.scale_seed` printed. Each request runs in this process, once to warm up and then REQUESTS times.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median, quantiles

from django.conf import settings
from django.db.models import Count
from django.test import Client

from bench.generated_text import PHRASE, RARE_WORD
from bench.processes import BenchError
from bench.scale import RequestTimes
from chat.models import Conversation, User
from chat.models.full_text.query import parse
from chat.models.search_results import list_hits

ABSENT_WORD = "qqqq"
MARKED_QUERIES = (
    "C++",
    "C#",
    ".NET",
    "/etc/nginx",
    "🎉",
    "قواعد",
    "احمد",
    "على",
    "שלום",
    "काल",
    "कील",
    "duong",
    "ISIK",
)
"""Searches for the words that `bench.generated_text` puts after its phrase, and for कील, which no text contains."""

REQUESTS = 40
HTMX_HEADERS = {"HX-Request": "true"}

Request = Callable[[], bytes]


def main(names: str) -> None:
    """Measure each request and print the costs."""
    values: dict[str, str] = json.loads(names)
    requests = [
        *make_requests(User.objects.get(username=values["small"]), values["common"]),
        *make_requests(User.objects.get(username=values["large"]), values["common"]),
        *make_staff_requests(values["common"]),
    ]
    print(json.dumps([measure_times(label, request) for label, request in requests]))


def measure_times(label: str, request: Request) -> RequestTimes:
    """Return the fastest, the median and the 95th percentile of a request's times.

    The fastest time depends least on other work of the machine.
    """
    request()
    times_ms = []
    for _ in range(REQUESTS):
        started_at = time.perf_counter()
        request()
        times_ms.append(1000 * (time.perf_counter() - started_at))
    p95_ms = quantiles(times_ms, n=20, method="inclusive")[-1]
    return RequestTimes(label=label, fastest_ms=min(times_ms), median_ms=median(times_ms), p95_ms=p95_ms)


def fetch(browser: Client, path: str, query: dict[str, str]) -> bytes:
    """Return the body of a response. Raise BenchError for an error status."""
    response = browser.get(path, query or None, headers=HTMX_HEADERS if path.startswith("/conversations/") else {})
    if response.status_code >= 400:
        raise BenchError(f"{path}: status {response.status_code}")
    return response.content


def sign_in(user: User) -> Client:
    """Return a client with a session of the user."""
    browser = Client()
    browser.force_login(user, settings.AUTHENTICATION_BACKENDS[0])
    return browser


def make_requests(owner: User, common_word: str) -> Iterator[tuple[str, Request]]:
    """Yield the label and the request of each row of one owner."""
    browser, owned = sign_in(owner), Conversation.objects.owned_by(owner.pk)
    count = f"{owned.count():,} conversations"
    terms = {
        "a common word": common_word,
        "a rare word": RARE_WORD,
        "an absent word": ABSENT_WORD,
        "one letter": "s",
        "two common words": f"{common_word} {common_word[0]}",
        "a phrase": f'"{PHRASE}"',
        "two common words, one of them a part": f"{common_word} {common_word[:-1]}",
        "a common and an absent word": f"{common_word} {ABSENT_WORD}",
        "an absent sign": f"{common_word}++",
        **{f"`{word}`": word for word in MARKED_QUERIES},
    }
    for name, query in terms.items():
        yield f"{count}: search, {name}", partial(fetch, browser, "/conversations/", {"q": query})
    newest, longest = owned.newest_first()[0], owned.alias(messages_count=Count("messages")).latest("messages_count")
    hit = str(list_hits(longest, parse(common_word))[0])
    pages: dict[str, tuple[str, dict[str, str]]] = {
        "list": ("/conversations/", {}),
        "open": (f"/c/{newest.pk}/", {}),
        "open the first hit of 1,000 messages": (f"/c/{longest.pk}/", {"message": hit, "q": common_word}),
        "gallery": ("/gallery/", {}),
    }
    for name, (path, fields) in pages.items():
        yield f"{count}: {name}", partial(fetch, browser, path, fields)


def make_staff_requests(common_word: str) -> Iterator[tuple[str, Request]]:
    """Yield the label and the request of each row of a superuser."""
    browser = sign_in(User.objects.create_superuser("staff"))
    queries = {
        "first page": {},
        "unreviewed": {"state": "unreviewed"},
        "last turn failed": {"last_turn": "failed"},
        "with graphs": {"graphs": "yes"},
        "search, a common word": {"q": common_word},
        "search, a rare word": {"q": RARE_WORD},
        "search, an absent word": {"q": ABSENT_WORD},
    }
    for name, query in queries.items():
        yield f"review queue: {name}", partial(fetch, browser, "/admin/chat/conversation/", query)
