"""Draws the main states of the product: `python -m tests.browser.screenshots FOLDER` (`make screenshots`).

A server is started on a temporary database. Its demo model answers, and its code really runs. Times are replaced, so
that a picture changes only if the page does.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Browser, Page, StorageState, expect, sync_playwright

from bench.chromium_flags import FLAGS
from tests.browser.actions import ask, ask_and_wait
from tests.browser.conftest import chromium_path, sign_in
from tests.browser.database import run_in_shell
from tests.kernel_service import running_service
from tests.live_server import LiveServer, running_server

DESKTOP = (1280, 900)
PHONE = (390, 844)
QUALITY = 82
"""The quality of the WebP files, of which each has 45 to 120 KB."""
DATA = b"month,visitors\n2026-01,820\n2026-02,910\n2026-03,1290\n2026-04,1370\n2026-05,1820\n2026-06,1760\n"
OTHER_GRAPHS = ("pie chart: A 30, B 20, C 50", "roll two dice 1000 times and plot the distribution", "Plot a sine wave")
SLOW_CODE = "```python\nimport time\nfor year in range(1990, 2020):\n    time.sleep(1)\n    print(year)\n```"
SESSION_CODE = """\
import numpy as np
import pandas as pd

days = pd.date_range("2026-01-01", periods=90)
rain_mm = pd.Series(np.random.default_rng(7).gamma(1.2, 2.0, 90), index=days)
weekly = rain_mm.resample("W").sum()
weekly.to_csv("weekly.csv")
print(f"{len(weekly)} weeks, wettest: {weekly.max():.1f} mm")"""
STEADY = """() => {
    for (const time of document.querySelectorAll("time")) {
        time.dateTime = "2026-05-04T09:30:00Z";
        time.textContent = "2026-05-04 09:30 UTC";
    }
}"""


class Photographer:
    """Opens windows and saves pictures of them."""

    def __init__(self, browser: Browser, server: LiveServer, state: StorageState, folder: Path) -> None:
        """Save pictures in this folder."""
        self._browser, self._server, self._state, self._folder = browser, server, state, folder

    @contextmanager
    def window(
        self,
        path: str,
        size: tuple[int, int] = DESKTOP,
        scheme: Literal["light", "dark"] = "light",
        locale: str = "en-US",
    ) -> Iterator[Page]:
        """Open a page in a window. Windows of phones have touch and twice the pixels. `locale`: language of the
        browser.
        """
        is_phone = size == PHONE
        window = self._browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme=scheme,
            reduced_motion="reduce",
            has_touch=is_phone,
            is_mobile=is_phone,
            device_scale_factor=2 if is_phone else 1.5,
            locale=locale,
            timezone_id="UTC",
            storage_state=self._state,
            # Playwright evaluates conditions in the page, which the policy forbids.
            bypass_csp=True,
        )
        page = window.new_page()
        page.goto(self._server.url + path)
        yield page
        window.close()

    def save(self, page: Page, name: str) -> None:
        """Save a picture of the window when its images are loaded and its socket has sent the state of an answer."""
        page.wait_for_load_state("networkidle")
        page.wait_for_function(
            "() => [...document.images].every((image) => image.complete || !image.checkVisibility())"
        )
        page.evaluate(STEADY)
        picture = Image.open(io.BytesIO(page.screenshot(animations="disabled")))
        picture.convert("RGB").save(self._folder / f"{name}.webp", quality=QUALITY, method=6)
        print(name, (self._folder / f"{name}.webp").stat().st_size // 1024, "KB")


def show_end(page: Page) -> None:
    """Move the pointer and the focus away, and show the end of the conversation."""
    page.mouse.move(2, 2)
    page.evaluate("document.activeElement.blur()")
    page.locator("#scroller").evaluate("box => { box.scrollTop = box.scrollHeight; }")


def new_conversation(page: Page) -> None:
    """Open an empty conversation."""
    with page.expect_navigation():
        page.locator("#sidebar form[action='/c/new/']").evaluate("form => form.submit()")


def draw_graphs(camera: Photographer) -> str:
    """Ask for graphs in new conversations, and return the path of the last one."""
    with camera.window("/") as page:
        new_conversation(page)
        page.set_input_files("#file", {"name": "visitors.csv", "mimeType": "text/csv", "buffer": DATA})
        expect(page.locator("#files li:not([aria-busy])")).to_have_count(1)
        ask_and_wait(page, "total visitors by month as a bar chart")
        for question in (*OTHER_GRAPHS, "Compare sin(x) and cos(x) from 0 to 10"):
            new_conversation(page)
            ask_and_wait(page, question)
        return page.url.removeprefix(page.url.split("/c/")[0])


def take_answers(camera: Photographer, path: str) -> None:
    """Take pictures of the answer with a graph in four forms, and of its large view."""
    for name, size, scheme in (
        ("answer-light", DESKTOP, "light"),
        ("answer-dark", DESKTOP, "dark"),
        ("phone-light", PHONE, "light"),
        ("phone-dark", PHONE, "dark"),
    ):
        with camera.window(path, size, scheme) as page:  # type: ignore[arg-type]  # the tuple's literals
            show_end(page)
            camera.save(page, name)
    with camera.window(path, scheme="dark") as page:
        page.locator("#transcript a.zoom").last.click()
        expect(page.locator("#lightbox img")).to_be_visible()
        camera.save(page, "large-view")
    with camera.window("/gallery/") as page:
        camera.save(page, "gallery")


def take_empty_and_running(camera: Photographer) -> None:
    """Take pictures of an empty conversation, its settings, and an answer whose code runs."""
    with camera.window("/") as page:
        new_conversation(page)
        camera.save(page, "empty")
        page.click('button[data-action="settings"]')
        camera.save(page, "settings")
        page.keyboard.press("Escape")
        answer = ask(page, SLOW_CODE)
        expect(answer.locator('[data-when="code"]')).to_be_visible()
        answer.locator('[data-part-kind="executable_code"] summary').click()
        show_end(page)
        camera.save(page, "running")
        page.click('#composer button[data-action="stop"]')
        expect(answer).to_have_attribute("data-status", "stopped")


def take_languages(camera: Photographer) -> None:
    """Take pictures of an answer in German, and of one in Chinese on a phone."""
    for name, size, locale, question in (
        ("german", DESKTOP, "de-DE", "Vergleiche sin(x) und cos(x) von 0 bis 10"),
        ("chinese", PHONE, "zh-CN", "画正弦曲线"),
    ):
        with camera.window("/", size, locale=locale) as page:
            new_conversation(page)
            ask_and_wait(page, question)
            show_end(page)
            camera.save(page, name)


def take_session(camera: Photographer) -> None:
    """Take a picture of a Python session after its code has run."""
    with camera.window("/") as page:
        new_conversation(page)
        page.click('button[data-action="open-session"]')
        page.fill("#own-code textarea", SESSION_CODE)
        page.press("#own-code textarea", "Control+Enter")
        expect(page.locator('article[data-role="model"]')).to_have_attribute("data-status", "done")
        expect(page.get_by_role("row", name="weekly")).to_be_visible()
        show_end(page)
        camera.save(page, "session")


def take_stored(camera: Photographer) -> None:
    """Take pictures of the conversations of `shown_conversations`, and of the review of one of them."""
    with camera.window("/") as page:
        for name, title in (("approval", "Clean up the reports"), ("maths", "Confidence of a mean")):
            page.locator("#conversations a", has_text=title).click()
            expect(page.locator("#conversation-title")).to_have_text(title)
            show_end(page)
            page.locator("#scroller").evaluate("box => { box.scrollTop = 0; }")
            camera.save(page, name)
        conversation_id = page.url.rstrip("/").rpartition("/")[2]
        page.goto(page.url.partition("/c/")[0] + f"/admin/chat/conversation/{conversation_id}/change/")
        camera.save(page, "review")


def main() -> None:
    """Take all pictures."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as var_dir,
        running_service() as service,
        sync_playwright() as playwright,
    ):
        os.environ["PLOTLINE_VAR_DIR"] = var_dir
        with running_server(GEMINI_MODEL="plotline-demo", KERNEL_SERVICE_DIR=str(service.directory)) as server:
            run_in_shell(server, "from tests.browser.shown_conversations import create_shown; create_shown()")
            browser = playwright.chromium.launch(executable_path=chromium_path(), args=FLAGS)
            window = browser.new_context()
            sign_in(window.new_page(), server)
            camera = Photographer(browser, server, window.storage_state(), folder)
            take_empty_and_running(camera)
            take_answers(camera, draw_graphs(camera))
            take_languages(camera)
            take_session(camera)
            take_stored(camera)
            browser.close()


if __name__ == "__main__":
    main()
