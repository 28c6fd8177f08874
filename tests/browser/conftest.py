"""A real Chromium on a real server without a key: the embedded demo model runs real code."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, StorageState, expect, sync_playwright

from tests.live_server import LiveServer, running_server

# Two busy cores, and code that really runs.
expect.set_options(timeout=30_000)

#: No sandbox of its own: tests also run as root, in containers. The rest keeps it from asking the outside anything.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


# Of this folder, not of the session: while Playwright runs, its event loop counts as running in this thread, and
# every asynchronous test after it would fail.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Chromium, as the system's package manager installs it."""
    path = next(
        (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
    )
    assert path, "Chromium is not installed: apt-get install chromium"
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture(scope="package")
def server() -> Iterator[LiveServer]:
    """The product as `make run` serves it."""
    with running_server() as running:
        yield running


def sign_in(page: Page, server: LiveServer) -> None:
    """As demo, through the form."""
    page.goto(f"{server.url}/")
    page.fill("input[name=login]", "demo")
    page.fill("input[name=password]", "demo")
    page.click("button[type=submit]")
    page.wait_for_selector("form#composer")


@pytest.fixture(scope="package")
def signed_in(browser: Browser, server: LiveServer) -> StorageState:
    """The cookies of somebody who went through the form."""
    window = browser.new_context()
    sign_in(window.new_page(), server)
    state = window.storage_state()
    window.close()
    return state


@pytest.fixture
def context(browser: Browser, signed_in: StorageState) -> Iterator[BrowserContext]:
    """A window of 1280 x 800, signed in as demo."""
    opened = browser.new_context(viewport={"width": 1280, "height": 800}, storage_state=signed_in)
    opened.set_default_timeout(30_000)
    yield opened
    opened.close()


@pytest.fixture
def page(context: BrowserContext, server: LiveServer) -> Iterator[Page]:
    """A new conversation; any script error or CSP report fails the test."""
    opened = context.new_page()
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    opened.goto(f"{server.url}/")
    with opened.expect_navigation():
        opened.click("text=New conversation")
    yield opened
    # A refusal in words is an answer like others, which Chromium calls an error.
    assert [words for words in complaints if "status of 400" not in words] == []
