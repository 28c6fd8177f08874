"""Fixtures: Chromium, and a server process without a key, whose demo model runs real code."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, StorageState, expect, sync_playwright

from tests.live_server import LiveServer, running_server

# The answers run code, and the tests share few cores, so the timeout is generous.
expect.set_options(timeout=30_000)

#: `--no-sandbox` is needed because tests also run as root in containers. The other flags prevent requests to the
#: network.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


# The scope is the package and not the session. While Playwright runs, asyncio regards its event loop as running in this
# thread, so asynchronous tests in other packages would fail.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Start the Chromium that the system's package manager installed."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert path, "Chromium is not installed: apt-get install chromium"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="package")
def server() -> Iterator[LiveServer]:
    """Start the product as `make run` does, with an endpoint whose model can be chosen beside the demo model."""
    endpoint = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "OPENAI_MODELS": "endpoint-model"}
    with running_server(GEMINI_MODEL="plotline-demo", **endpoint) as running:
        yield running


def sign_in(page: Page, server: LiveServer) -> None:
    """Log in as the user `demo` with the login form."""
    page.goto(f"{server.url}/")
    page.fill("input[name=login]", "demo")
    page.fill("input[name=password]", "demo")
    page.click("button[type=submit]")
    page.wait_for_selector("form#composer")


@pytest.fixture(scope="package")
def signed_in(browser: Browser, server: LiveServer) -> StorageState:
    """Return the cookies of a logged-in user."""
    window = browser.new_context()
    sign_in(window.new_page(), server)
    state = window.storage_state()
    window.close()
    return state


@pytest.fixture
def context(browser: Browser, signed_in: StorageState) -> Iterator[BrowserContext]:
    """Open a window of 1280 x 800 CSS pixels, logged in as the user `demo`."""
    window = browser.new_context(viewport={"width": 1280, "height": 800}, storage_state=signed_in)
    window.set_default_timeout(30_000)
    yield window
    window.close()


@pytest.fixture
def page(context: BrowserContext, server: LiveServer) -> Iterator[Page]:
    """Open a new conversation; script errors and CSP reports make the test fail."""
    tab = context.new_page()
    errors: list[str] = []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    tab.goto(f"{server.url}/")
    with tab.expect_navigation():
        tab.click("text=New conversation")
    yield tab
    # Chromium logs a response with status 400 as an error, but the product sends it with a message for the user.
    assert [error for error in errors if "status of 400" not in error] == []
