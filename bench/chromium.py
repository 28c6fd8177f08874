"""Chromium with Plotline's page: a logged-in tab, and the time that its main thread has used."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
from playwright.sync_api import Browser, BrowserContext, CDPSession, Page, sync_playwright

from bench.answers import Answer
from bench.chromium_flags import FLAGS
from bench.client import LIVE_STATUSES
from bench.figures import Figures
from bench.processes import BenchError, select_cores
from bench.product import Product, SignedInConversation

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")

VIEWPORT_WIDTH, VIEWPORT_HEIGHT = 1280, 800

#: Returns the status of the newest message, or undefined.
READ_STATUS = "() => document.querySelector('article:last-child')?.dataset.status"

#: Maximum time between the expected and the real end of an answer.
ANSWER_TIMEOUT_S = 30.0


@contextmanager
def run_chromium() -> Iterator[Browser]:
    """Run the system's Chromium on all cores until the block ends. Raise BenchError if it is not installed.

    It gets all cores, because the machines of users have several. Without a graphics card, other threads draw the page,
    and the main thread waits for them.
    """
    program = next((path for name in PROGRAMS if (path := shutil.which(name))), None)
    if program is None:
        raise BenchError("Chromium is not installed: apt-get install chromium")
    own_cores = os.sched_getaffinity(0)
    with sync_playwright() as playwright:
        # A child process inherits the cores of this process.
        os.sched_setaffinity(0, select_cores())
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()
            os.sched_setaffinity(0, own_cores)


class Tab:
    """A logged-in page with one empty conversation."""

    def __init__(self, context: BrowserContext, product: Product, conversation_id: str) -> None:
        self.page: Page = context.new_page()
        self._devtools: CDPSession = context.new_cdp_session(self.page)
        self._devtools.send("Performance.enable")
        self.page.goto(f"http://127.0.0.1:{product.port}/c/{conversation_id}/")
        # Wait for the page's JavaScript modules and its socket.
        self.page.wait_for_selector("textarea[name=text]")
        self.page.wait_for_timeout(700)

    def send_message(self, answer: Answer) -> None:
        """Type the message that requests the answer, and press Enter."""
        self.page.fill("textarea[name=text]", answer.to_prompt())
        self.page.keyboard.press("Enter")

    def wait(self, seconds: float) -> None:
        """Wait without a call to the page, because a call would cost time on its main thread."""
        time.sleep(seconds)

    def wait_until_done(self) -> None:
        """Wait until the answer has ended. Raise BenchError if it ends late or without the status `done`."""
        deadline = time.monotonic() + ANSWER_TIMEOUT_S
        while (status := self.page.evaluate(READ_STATUS)) in (None, *LIVE_STATUSES) and time.monotonic() < deadline:
            self.wait(0.1)
        if status != "done":
            raise BenchError(f"the answer in the browser has status {status!r}, not done")

    def read_metrics(self) -> Figures:
        """Return the time that the main thread has used so far.

        `browser_main_thread_s` is wall-clock time of its tasks, so load from other processes increases it.
        `browser_cpu_s` is its CPU time.
        """
        metrics = self._devtools.send("Performance.getMetrics")["metrics"]
        values = {metric["name"]: float(metric["value"]) for metric in metrics}
        return {
            "browser_main_thread_s": values["TaskDuration"],
            "browser_cpu_s": read_main_threads_cpu_s(),
            "browser_script_s": values["ScriptDuration"],
            "browser_layout_s": values["LayoutDuration"] + values["RecalcStyleDuration"],
            "browser_layouts": values["LayoutCount"],
        }


def read_main_threads_cpu_s() -> float:
    """Return the CPU seconds of the main threads of all pages. Only the measured page does any work."""
    total_ns = 0
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess, OSError):
            if "--type=renderer" in process.cmdline():
                # The main thread has the id of its process. The first field of schedstat is its CPU time in ns.
                schedstat = Path(f"/proc/{process.pid}/task/{process.pid}/schedstat").read_text()
                total_ns += int(schedstat.split()[0])
    return total_ns / 1e9


@contextmanager
def open_tab(browser: Browser, product: Product) -> Iterator[Tab]:
    """Open a tab with the next unused conversation, and close it at the end of the block."""
    conversation: SignedInConversation = next(product.conversations)
    name, _, value = conversation.cookie.partition("=")
    with browser.new_context(viewport={"width": VIEWPORT_WIDTH, "height": VIEWPORT_HEIGHT}) as context:
        context.add_cookies([{"name": name, "value": value, "url": f"http://127.0.0.1:{product.port}"}])
        yield Tab(context, product, conversation.conversation_id)
