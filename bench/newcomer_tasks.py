"""Ten tasks of a newcomer in Chromium. Each ends with an assertion about what the person sees or gets."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Error, FilePayload, Locator, Page, expect

RESULT_LIMIT_MS = 20_000

DATA: FilePayload = {
    "name": "visitors.csv",
    "mimeType": "text/csv",
    "buffer": b"month,visitors\n2026-01,820\n2026-02,910\n2026-03,1290\n2026-04,1370\n2026-05,1820\n2026-06,1760\n",
}
SLOW_CODE = "```python\nimport time\nfor second in range(60):\n    time.sleep(1)\n    print(second)\n```"

ANSWER = 'article[data-role="model"]'
BOX = "form#composer textarea[name=text]"
GRAPH = "figure[data-graph-index] img"
IS_LOADED = "image => image.complete && image.naturalWidth > 100"
HAS_NO_OVERFLOW = "document.documentElement.scrollWidth <= innerWidth"


@dataclass(slots=True)
class TaskResult:
    """The effort of a task. A wrong result has an error."""

    task: str
    clicks: int = 0
    keys: int = 0
    """Number of key strokes that are not text: Enter, Tab."""
    seconds: float = 0.0
    """Duration, without the time for pictures of the steps."""
    error: str = ""


class Hands:
    """Clicks, taps and types like a person, and counts these actions. Text goes only to the focused element."""

    def __init__(self, page: Page, result: TaskResult, pictures: Path | None) -> None:
        self.page, self._result, self._pictures = page, result, pictures
        self._steps = 0
        self.paused_s = 0.0
        """Time that pictures have taken."""

    def click(self, control: Locator) -> None:
        """Click a control, or tap it on a phone."""
        control.wait_for(state="visible")
        self.show()
        if self.page.evaluate("navigator.maxTouchPoints > 0"):
            control.tap()
        else:
            control.click()
        self._result.clicks += 1

    def focus(self, field: Locator) -> None:
        """Click a field, unless the page has focused it already."""
        field.wait_for(state="visible")
        if not field.evaluate("field => field === document.activeElement"):
            self.click(field)

    def type(self, text: str) -> None:
        """Type text into the focused field."""
        self.page.keyboard.insert_text(text)

    def press(self, key: str) -> None:
        """Press a key that is not text."""
        self.show()
        self.page.keyboard.press(key)
        self._result.keys += 1

    def choose_file(self, control: Locator, file: FilePayload) -> None:
        """Click a control that opens the file chooser, and choose a file. Clicks in the chooser are not counted."""
        with self.page.expect_file_chooser() as chooser:
            self.click(control)
        chooser.value.set_files(file)

    def show(self) -> None:
        """Save a picture of the page, if pictures are wanted."""
        if self._pictures:
            started_at = time.perf_counter()
            self._steps += 1
            name = f"{re.sub('[^a-z]+', '-', self._result.task.lower())}-{self._steps}.png"
            self.page.screenshot(path=self._pictures / name, animations="disabled")
            self.paused_s += time.perf_counter() - started_at


class Newcomer:
    """A person who uses the demo account for the first time."""

    def __init__(self, browser: Browser, site: str, pictures: Path | None) -> None:
        """Open a window of 1280 x 800 pixels without cookies."""
        self._browser, self._site, self._pictures = browser, site, pictures
        self._window = browser.new_context(viewport={"width": 1280, "height": 800})
        self._page = self._window.new_page()
        self._results: list[TaskResult] = []
        self._sine_url = self._table_url = ""
        expect.set_options(timeout=RESULT_LIMIT_MS)

    def do_tasks(self) -> list[TaskResult]:
        """Do all tasks in order; later ones need the conversations of earlier ones."""
        self._sign_in()
        self._plot()
        self._ask_about_a_table()
        self._change_a_graph()
        self._find()
        self._share()
        self._export()
        self._stop()
        self._undo_a_deletion()
        self._plot_on_a_phone()
        self._window.close()
        return self._results

    @contextmanager
    def _measure(self, task: str, page: Page | None = None) -> Iterator[Hands]:
        """Measure a block as a task. Errors in it are the result of the task."""
        result = TaskResult(task)
        self._results.append(result)
        hands = Hands(page or self._page, result, self._pictures)
        started_at = time.perf_counter()
        try:
            yield hands
            result.seconds = time.perf_counter() - started_at - hands.paused_s
        except (AssertionError, Error) as error:
            result.error = str(error)
        hands.show()

    def _sign_in(self) -> None:
        self._page.goto(self._site)
        with self._measure("sign in") as hands:
            hands.focus(self._page.locator("input[name=login]"))
            hands.type("demo")
            hands.press("Tab")
            hands.type("demo")
            hands.press("Enter")
            expect(self._page.locator("#empty")).to_be_visible()
            expect(self._page.locator(BOX)).to_be_editable()

    def _plot(self) -> None:
        with self._measure("plot a sine wave") as hands:
            hands.click(self._page.locator("#empty").get_by_text("Plot a sine wave"))
            expect_graph(self._page.locator(ANSWER), "sin(")
        self._sine_url = self._page.url

    def _ask_about_a_table(self) -> None:
        with self._measure("attach a CSV file and ask about it") as hands:
            hands.click(self._page.get_by_role("button", name="New conversation"))
            hands.choose_file(self._page.locator("#empty [data-action=attach]"), DATA)
            expect(self._page.locator("#files li:not([aria-busy])")).to_have_count(1)
            hands.focus(self._page.locator(BOX))
            hands.type("total visitors by month as a bar chart")
            hands.press("Enter")
            expect_graph(self._page.locator(ANSWER), "visitors")
            expect(self._page.locator(ANSWER)).to_contain_text(re.compile("1,?820"))
        self._table_url = self._page.url

    def _change_a_graph(self) -> None:
        self._page.goto(self._sine_url)
        with self._measure("change a graph") as hands:
            hands.click(self._page.get_by_role("button", name="Change this"))
            hands.type("Make it a cosine")
            hands.press("Enter")
            expect_graph(self._page.locator(ANSWER).nth(1), "cos(")
        if self._results[-1].error:
            # Later tasks need the graph of the cosine.
            self._page.fill(BOX, "make it a cosine")
            self._page.press(BOX, "Enter")
            expect_graph(self._page.locator(ANSWER).nth(2), "cos(")

    def _find(self) -> None:
        self._page.goto(self._table_url)
        with self._measure("find a conversation by a word") as hands:
            hands.focus(self._page.locator("#search-box"))
            hands.type("cosine")
            hands.click(self._page.locator("#conversations li.found a"))
            self._page.wait_for_url(f"{self._sine_url}**")
            expect(self._page.locator("article:target").filter(has_text="cosine")).to_be_in_viewport()

    def _share(self) -> None:
        self._page.goto(self._sine_url)
        self._window.grant_permissions(["clipboard-read", "clipboard-write"])
        with self._measure("share it by a link, and open the link without a login") as hands:
            hands.click(self._page.locator('[data-action="share"]'))
            hands.click(self._page.get_by_role("button", name="Make a link"))
            hands.click(self._page.get_by_role("button", name="Copy link"))
            expect(self._page.get_by_role("button", name="Copied")).to_be_visible()
            link: str = self._page.evaluate("navigator.clipboard.readText()")
            hands.show()
            stranger = self._browser.new_context()
            try:
                page = stranger.new_page()
                page.goto(link)
                page.locator(GRAPH).first.scroll_into_view_if_needed()
                expect_graph(page.locator(ANSWER).first, "sin(")
                expect(page.locator("article").filter(has_text="Make it a cosine").first).to_be_attached()
            finally:
                stranger.close()

    def _export(self) -> None:
        self._page.goto(self._sine_url)
        with self._measure("export it as a notebook") as hands:
            hands.click(self._page.locator("button[popovertarget=export-menu]"))
            with self._page.expect_download() as download:
                hands.click(self._page.locator("#export-menu").get_by_text("Notebook"))
            notebook = json.loads(download.value.path().read_text())
            code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
            assert any("sin(" in source for source in code), code
            assert any("cos(" in source for source in code), code

    def _stop(self) -> None:
        self._page.goto(self._sine_url)
        with self._page.expect_navigation():
            self._page.get_by_role("button", name="New conversation").click()
        self._page.fill(BOX, SLOW_CODE)
        self._page.press(BOX, "Enter")
        answer = self._page.locator(ANSWER)
        expect(answer.locator('[data-part-kind="executable_code"]')).to_be_visible()
        with self._measure("stop a running answer") as hands:
            hands.click(self._page.locator('#composer [data-action="stop"]'))
            expect(answer).to_have_attribute("data-status", "stopped")

    def _undo_a_deletion(self) -> None:
        self._page.goto(self._table_url)
        with self._measure("delete a conversation and undo it") as hands:
            entry = self._page.locator("#conversations li:has([aria-current])")
            # The button is only visible under the pointer.
            entry.hover()
            hands.click(entry.locator("[data-action=entry-menu]"))
            with self._page.expect_navigation():
                hands.click(self._page.locator('#entry-menu [data-action="delete"]'))
            hands.click(self._page.get_by_role("button", name="Undo"))
            self._page.wait_for_url(self._table_url)
            expect_graph(self._page.locator(ANSWER), "visitors")

    def _plot_on_a_phone(self) -> None:
        phone: BrowserContext = self._browser.new_context(
            viewport={"width": 390, "height": 844},
            has_touch=True,
            is_mobile=True,
            storage_state=self._window.storage_state(),
        )
        page = phone.new_page()
        page.goto(self._sine_url)
        with self._measure("plot in a new conversation on a phone", page) as hands:
            new_conversation = page.locator("header.conversation-head").get_by_role("button", name="New conversation")
            if not new_conversation.is_visible():
                hands.click(page.locator("[data-action=open-sidebar]"))
                new_conversation = page.locator("#sidebar").get_by_role("button", name="New conversation")
            hands.click(new_conversation)
            hands.click(page.locator("#empty").get_by_text("Plot a sine wave"))
            expect_graph(page.locator(ANSWER), "sin(")
            assert page.evaluate(HAS_NO_OVERFLOW), "the page is wider than the phone"
        phone.close()


def expect_graph(answer: Locator, code: str) -> None:
    """Wait for the end of an answer; assert that its graph is drawn and in view, and that its code contains this."""
    graph = answer.locator(GRAPH)
    expect(answer).to_have_attribute("data-status", "done")
    expect(answer.locator('[data-part-kind="executable_code"]')).to_contain_text(code)
    expect(graph).to_be_in_viewport(ratio=0.5)
    assert graph.evaluate(IS_LOADED), "the graph is not drawn"
