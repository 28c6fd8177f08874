"""Fixtures: Chromium, and a server process without a key, whose demo model runs real code."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, StorageState, expect, sync_playwright

from bench.chromium_flags import FLAGS
from tests.browser.database import run_in_shell
from tests.browser.page_errors import Watch
from tests.engines.firefox import start_firefox
from tests.live_server import LiveServer, running_server

# The answers run code, and the tests share few cores, so the timeout is generous.
expect.set_options(timeout=30_000)


def chromium_path() -> str:
    """Return the path of the Chromium that the system's package manager installed."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert path, "Chromium is not installed: apt-get install chromium"
    return path


# The scope is the package and not the session. While Playwright runs, asyncio regards its event loop as running in this
# thread, so asynchronous tests in other packages would fail.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Start Chromium, or Firefox if `PLOTLINE_TEST_BROWSER` is its name."""
    with sync_playwright() as playwright:
        if os.environ.get("PLOTLINE_TEST_BROWSER") == "firefox":
            started = start_firefox(playwright)
        else:
            started = playwright.chromium.launch(executable_path=chromium_path(), args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="package")
def browser_watch(browser: Browser) -> Watch:
    """Watch all windows of the browser, also those that fixtures of modules open."""
    watch = Watch()
    browser.on("context", watch.add)
    return watch


@pytest.fixture(autouse=True)
def watch(browser_watch: Watch) -> Iterator[Watch]:
    """Fail the test if a page logs an error, throws, or breaks the content security policy."""
    browser_watch.take_errors()
    windows_of_modules = browser_watch.open_windows()
    yield browser_watch
    # A test that fails may have left its windows open.
    browser_watch.close_windows(windows_of_modules)
    assert browser_watch.take_errors() == []


@pytest.fixture(scope="package")
def server() -> Iterator[LiveServer]:
    """Start the product as `make run` does, with an endpoint whose model can be chosen beside the demo model."""
    endpoint = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "OPENAI_MODELS": "endpoint-model"}
    with running_server(GEMINI_MODEL="plotline-demo", **endpoint) as running:
        yield running


def sign_in(page: Page, server: LiveServer, username: str = "demo") -> None:
    """Log in as a user whose password is the username, with the login form."""
    page.goto(f"{server.url}/")
    page.fill("input[name=login]", username)
    page.fill("input[name=password]", username)
    page.click("button[type=submit]")
    page.wait_for_selector("form#composer")


def sign_in_state(browser: Browser, server: LiveServer, username: str = "demo") -> StorageState:
    """Log in as in `sign_in`, and return the cookies of the user."""
    window = browser.new_context()
    sign_in(window.new_page(), server, username)
    state = window.storage_state()
    window.close()
    return state


@pytest.fixture(scope="package")
def signed_in(browser: Browser, server: LiveServer) -> StorageState:
    """Return the cookies of the user `demo`."""
    return sign_in_state(browser, server)


@pytest.fixture(scope="package")
def reader_state(browser: Browser, server: LiveServer) -> StorageState:
    """Create the conversations of `sample_conversations`, and return the cookies of their owner."""
    run_in_shell(server, "from tests.browser.sample_conversations import create; create()")
    return sign_in_state(browser, server, "reader")


@pytest.fixture
def context(browser: Browser, signed_in: StorageState) -> Iterator[BrowserContext]:
    """Open a window of 1280 x 800 CSS pixels, logged in as the user `demo`."""
    window = browser.new_context(viewport={"width": 1280, "height": 800}, storage_state=signed_in)
    window.set_default_timeout(30_000)
    yield window
    window.close()


@pytest.fixture
def page(context: BrowserContext, server: LiveServer) -> Page:
    """Open a new conversation."""
    tab = context.new_page()
    tab.goto(f"{server.url}/")
    with tab.expect_navigation():
        tab.click("text=New conversation")
    return tab
