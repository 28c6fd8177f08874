"""Previews of attached tables: a card in the composer, questions that are sent with it, and a dialog."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, FilePayload, Page, expect

from tests.browser.actions import BOX, QUESTION, articles
from tests.browser.conftest import sign_in
from tests.kernel_service import running_service
from tests.live_server import LiveServer, running_server

pytestmark = pytest.mark.drill

CSV = "day;city;sales\n01.02.2024;Köln;1,5\n13.02.2024;Bonn;\n14.02.2024;Köln;2,5\n".encode("cp1252")
CARD = "#previews .table-preview"
SUMMARY = "details:not(.reading) > summary"


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    with (
        running_service() as service,
        running_server(GEMINI_MODEL="plotline-demo", KERNEL_SERVICE_DIR=str(service.directory)) as running,
    ):
        yield running


@pytest.fixture(scope="module")
def context(browser: Browser, server: LiveServer) -> Iterator[BrowserContext]:
    window = browser.new_context(viewport={"width": 390, "height": 844})
    window.set_default_timeout(30_000)
    sign_in(window.new_page(), server)
    yield window
    window.close()


@pytest.fixture
def page(context: BrowserContext, server: LiveServer) -> Page:
    """Open a new conversation on a phone, whose menu is closed."""
    tab = context.new_page()
    tab.goto(f"{server.url}/")
    with tab.expect_navigation():
        tab.locator("form[action$='/c/new/']").evaluate("form => form.submit()")
    tab.wait_for_load_state("load")
    return tab


def attach(page: Page, name: str, data: bytes) -> None:
    page.set_input_files("#file", FilePayload(name=name, mimeType="text/csv", buffer=data))


def test_attached_table_has_a_preview_of_one_line_with_questions_that_can_be_sent(page: Page) -> None:
    page.fill(BOX, "My thought")
    attach(page, "sales.csv", CSV)
    card = page.locator(CARD)
    expect(card.locator(SUMMARY)).to_have_text("sales.csv 3 rows × 3 columns, CSV")
    row = card.locator("tbody tr", has_text="sales")
    expect(row).to_be_hidden()
    card.locator(SUMMARY).click()
    expect(row).to_be_visible()
    expect(row.locator("td")).to_have_text(["number", "1 (33%)", re.compile("^1.5 to 2.5“sales” has decimal commas")])
    expect(card.locator(".preview-notes")).to_contain_text("Windows-1252")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    results = Axe().run(page, context="#previews")
    assert results.violations_count == 0, results.generate_report()
    # The draft comes back with its preview, which needs no kernel.
    page.reload()
    expect(page.locator(BOX)).to_have_value("My thought")
    expect(card.locator(SUMMARY)).to_contain_text("3 rows × 3 columns")
    card.get_by_role("button", name='Compare "sales" by "city"').click()
    expect(page.locator(QUESTION)).to_contain_text('Compare "sales" by "city"')
    expect(page.locator(QUESTION).locator(".chip")).to_contain_text("sales.csv")
    expect(card).to_have_count(0)
    expect(page.locator(BOX)).to_have_value("My thought")


def test_controls_of_a_preview_change_the_encoding_of_the_table_and_can_be_reset(page: Page) -> None:
    attach(page, "prodazhi.csv", "Город;Продажи\nКазань;500\nОмск;509\n".encode("cp1251"))
    card = page.locator(CARD)
    card.locator(SUMMARY).click()
    expect(card.locator("tbody th").first).to_have_text("Город")
    card.locator(".reading > summary").click()
    encoding = card.get_by_label("Encoding")
    expect(encoding.locator("option").nth(1)).to_have_text("KOI8-R")
    results = Axe().run(page, context="#previews")
    assert results.violations_count == 0, results.generate_report()
    encoding.focus()
    encoding.select_option("KOI8-R")
    expect(card.locator("tbody th").first).to_have_text("Город".encode("cp1251").decode("koi8-r"))
    expect(card.locator("[data-note]").first).to_have_text(re.compile("as you chose"))
    # The controls stay open, and the focus stays where it was.
    expect(encoding).to_be_focused()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    # Enter in a control sends no message. For a choice that is not allowed, a sentence and the former table are shown.
    words = card.get_by_label("Words for “missing”")
    words.press_sequentially("x" * 41)
    words.press("Enter")
    expect(card.get_by_role("alert")).to_contain_text("must be a list of at most 20 texts")
    expect(encoding).to_have_value("KOI8-R")
    expect(page.locator(QUESTION)).to_have_count(0)
    # The choice is still there after a reload, and can be taken back.
    page.reload()
    card.locator(SUMMARY).click()
    card.locator(".reading > summary").click()
    card.get_by_role("button", name="Back to automatic").click()
    expect(card.locator("tbody th").first).to_have_text("Город")
    expect(card.get_by_role("button", name="Back to automatic")).to_have_count(0)


def test_preview_of_a_sent_table_opens_in_a_dialog_and_does_not_change_the_message(page: Page) -> None:
    attach(page, "<b>.csv", b"<img src=x onerror=alert(1)>,n\na,1\nb,2\n")
    expect(page.locator(f"{CARD} {SUMMARY}")).to_contain_text("2 rows × 2 columns")
    page.fill(BOX, "Describe this table")
    page.press(BOX, "Enter")
    expect(page.locator(f'{QUESTION} ~ article[data-status="done"]')).to_have_count(1)
    expect(page.locator(CARD)).to_have_count(0)
    before = articles(page)
    page.locator(QUESTION).get_by_role("button", name="Preview of <b>.csv").click()
    dialog = page.locator("#preview")
    expect(dialog.locator("tbody th").first).to_have_text("<img src=x onerror=alert(1)>")
    assert articles(page) == before
    dialog.get_by_role("button", name=re.compile("^Show the distribution")).click()
    expect(dialog).to_be_hidden()
    expect(page.locator(QUESTION).last).to_contain_text('Show the distribution of "n"')
    # The file of a message can be replaced by a newer one.
    page.locator(QUESTION).first.get_by_role("button", name="Preview of <b>.csv").click()
    dialog.get_by_role("link", name="Replace by a newer file…").click()
    expect(page.get_by_role("heading", name="Replace by a newer file: <b>.csv")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    results = Axe().run(page)
    assert results.violations_count == 0, results.generate_report()
