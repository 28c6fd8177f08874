"""Measures one page of Plotline in Chromium: bytes, requests, time until it is usable, long tasks, and typing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median

import requests
from playwright.sync_api import Browser, BrowserContext, CDPSession, Page

from bench.chromium import VIEWPORT_HEIGHT, VIEWPORT_WIDTH
from bench.figures import Figures
from bench.page_scripts import (
    COUNT_MESSAGES,
    HAS_MORE_THAN,
    IS_INTERACTIVE,
    OBSERVE_PAGE,
    READ_OPENING,
    SCROLL_TO_TOP,
)

SERVER_REQUESTS = 7
TYPED = "the quick brown fox jumps over"
SETTLE_S = 1.0
"""Time after the page is usable, during which its long tasks are still counted."""
LOAD_LIMIT_MS = 10_000


@dataclass(slots=True)
class Traffic:
    """The number of bytes and of requests that a page transfers over the network."""

    size_bytes: int = 0
    requests: int = 0
    _from_cache: set[str] = field(default_factory=set)

    def follow(self, devtools: CDPSession) -> None:
        """Count all responses from now on: headers and bodies, in their compressed size."""
        devtools.on("Network.requestServedFromCache", lambda event: self._from_cache.add(event["requestId"]))
        devtools.on("Network.loadingFinished", lambda event: self._count(event))
        devtools.send("Network.enable")

    def _count(self, event: dict[str, object]) -> None:
        size_bytes = event["encodedDataLength"]
        # A response from the disk cache reports no bytes.
        if isinstance(size_bytes, float | int) and size_bytes and event["requestId"] not in self._from_cache:
            self.size_bytes += int(size_bytes)
            self.requests += 1


@contextmanager
def open_context(browser: Browser, url: str, cookie: str) -> Iterator[BrowserContext]:
    """Open a window with an empty cache, logged in."""
    name, _, value = cookie.partition("=")
    with browser.new_context(viewport={"width": VIEWPORT_WIDTH, "height": VIEWPORT_HEIGHT}) as context:
        context.add_cookies([{"name": name, "value": value, "url": url}])
        context.add_init_script(OBSERVE_PAGE)
        yield context


def measure_server(url: str, cookie: str) -> Figures:
    """Return the median time of a request until its last byte, and the size of the page before compression."""
    name, _, value = cookie.partition("=")
    times_ms = []
    with requests.Session() as client:
        client.trust_env = False
        client.cookies.set(name, value)
        for _ in range(SERVER_REQUESTS + 1):
            started_at = time.perf_counter()
            response = client.get(url)
            times_ms.append(1000 * (time.perf_counter() - started_at))
            response.raise_for_status()
    return {"server time, ms": median(times_ms[1:]), "page before compression, KB": len(response.content) / 1000}


def measure_load(context: BrowserContext, url: str, name: str) -> tuple[Page, Figures]:
    """Open the page in a new tab, and return the tab and its figures. `name`: `cold` or `warm`."""
    page = context.new_page()
    traffic = Traffic()
    traffic.follow(context.new_cdp_session(page))
    page.goto(url, wait_until="commit")
    page.wait_for_function(IS_INTERACTIVE, timeout=60_000)
    time.sleep(SETTLE_S)
    opening = page.evaluate(READ_OPENING)
    return page, {
        f"{name}: KB on the wire": traffic.size_bytes / 1000,
        f"{name}: requests": traffic.requests,
        f"{name}: time to interactive, ms": max(opening["socket"], opening["box"]),
        f"{name}: longest task, ms": max(opening["longTasks"], default=0.0),
        f"{name}: long tasks": len(opening["longTasks"]),
    }


def measure_typing(page: Page, name: str) -> Figures:
    """Type into the message box, and return the time from a key to the next painted frame."""
    page.focus("#text")
    before = len(page.evaluate(READ_OPENING)["keys"])
    page.keyboard.type(TYPED, delay=60)
    time.sleep(0.3)
    keys = sorted(page.evaluate(READ_OPENING)["keys"][before:])
    page.fill("#text", "")
    return {f"{name}: p50, ms": keys[len(keys) // 2], f"{name}: slowest, ms": keys[-1]}


def load_messages(page: Page, wanted: int) -> int:
    """Scroll up until at least `wanted` messages are loaded, or all; return their number."""
    count: int = page.evaluate(COUNT_MESSAGES)
    while count < wanted:
        page.evaluate(SCROLL_TO_TOP)
        page.wait_for_function(HAS_MORE_THAN, arg=count, timeout=LOAD_LIMIT_MS)
        count = page.evaluate(COUNT_MESSAGES)
    return count
