"""Reading with JavaScript turned off."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, StorageState, expect

from tests.browser.actions import press_in_header
from tests.browser.sample_conversations import RICH_ID
from tests.live_server import LiveServer

pytestmark = pytest.mark.drill

NOTICE = "JavaScript is off."


def test_conversation_gallery_and_list_are_read_without_scripts(
    browser: Browser, reader_state: StorageState, server: LiveServer
) -> None:
    window = browser.new_context(
        java_script_enabled=False, storage_state=reader_state, viewport={"width": 390, "height": 844}
    )
    page = window.new_page()
    page.goto(f"{server.url}/c/{RICH_ID}/")
    expect(page.get_by_text(NOTICE)).to_be_visible()
    graph = page.locator("figure[data-graph-index] img")
    graph.scroll_into_view_if_needed()
    expect(graph).to_be_visible()
    assert page.request.get(f"{server.url}{graph.get_attribute('src')}").ok
    code = page.locator('details[data-part-kind="executable_code"]').first
    expect(code.locator("pre")).to_be_hidden()
    code.locator("summary").click()
    expect(code.locator("pre")).to_contain_text("plt.bar")
    expect(page.locator(".display tbody").first).to_contain_text("Oslo")
    # No control is shown that needs a script, except headers of tables. Controls that need no script are still there.
    expect(page.locator('button[data-action]:not([data-action="sort"]):visible')).to_have_count(0)
    expect(page.locator("form#composer")).to_be_hidden()
    press_in_header(page, "button[popovertarget=export-menu]")
    expect(page.locator("#export-menu a").first).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.get_by_text("All conversations", exact=True).last.click()
    expect(page.locator("h1")).to_have_text("Conversations")
    page.fill("#search-box", "sales")
    page.press("#search-box", "Enter")
    expect(page.locator("#conversations .found")).not_to_have_count(0)
    page.goto(f"{server.url}/gallery/")
    expect(page.locator(".tiles img").first).to_be_visible()
    page.locator(".tiles a").first.click()
    expect(page.locator("#conversation-title")).to_have_text("Sales")
    window.close()
