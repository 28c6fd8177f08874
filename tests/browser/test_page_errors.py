"""Which errors of pages fail a browser test."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.page_errors import Watch

ADDRESS = "http://127.0.0.1:9/"
LOST = (
    "connectionreset",
    "connectionrefused",
    "connectionclosed",
    "connectionaborted",
    "connectionfailed",
    "addressunreachable",
    "timedout",
    "failed",
)
"""Playwright's names of errors that end a connection."""


@pytest.fixture
def pages(browser: Browser) -> Watch:
    """A separate watch, so that the errors of these tests do not fail the tests themselves."""
    watch = Watch()
    browser.once("context", watch.add)
    return watch


def errors_of_failing_image(page: Page, watch: Watch, reason: str) -> list[str]:
    """Load a page whose image ends with this error, and return the unexpected errors."""
    page.route(f"{ADDRESS}*.svg", lambda route: route.abort(reason))
    page.route(ADDRESS, lambda route: route.fulfill(body="<img src=/icon.svg>", content_type="text/html"))
    # Chromium may log the error after the page's `load` event.
    with page.expect_console_message(lambda message: "net::ERR_" in message.text):
        page.goto(ADDRESS)
    # A response to the page comes after all events that the browser has sent before.
    page.evaluate("null")
    return watch.take_errors()


def test_only_connection_errors_are_ignored_while_a_test_expects_a_lost_server(
    browser: Browser, pages: Watch, watch: Watch
) -> None:
    watch.expect("icon.svg")
    page = browser.new_page()
    for reason in LOST:
        (error,) = errors_of_failing_image(page, pages, reason)
        assert "net::ERR_" in error, reason
        pages.expect_lost_server()
        assert errors_of_failing_image(page, pages, reason) == [], reason
    pages.expect_lost_server()
    (error,) = errors_of_failing_image(page, pages, "blockedbyclient")
    assert "ERR_BLOCKED_BY_CLIENT" in error
    page.close()


def test_window_that_a_test_left_open_is_closed_but_a_window_of_a_module_fixture_stays_open(browser: Browser) -> None:
    watch = Watch()
    browser.on("context", watch.add)
    of_module, of_test = browser.new_context(), browser.new_context()
    browser.remove_listener("context", watch.add)
    page = of_test.new_page()
    watch.close_windows([of_module])
    assert page.is_closed()
    assert watch.open_windows() == [of_module]
    of_module.close()
    assert watch.open_windows() == []
