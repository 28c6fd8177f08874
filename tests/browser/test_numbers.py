"""The line below an answer about its numbers, in Chromium: it says where they come from, live and after a reload."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.actions import ANSWER, ask_and_wait, change_settings
from tests.browser.axe import findings

pytestmark = pytest.mark.drill

UNDERLINED = "() => Array.from(CSS.highlights.get('unsourced') ?? [], String)"
CLICK_POINT = """(item) => {
    const walker = document.createTreeWalker(document.querySelector('[data-part-kind="text"]'), NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const at = walker.currentNode.data.indexOf(item);
        if (at < 0) continue;
        const range = new Range();
        range.setStart(walker.currentNode, at);
        range.setEnd(walker.currentNode, at + item.length);
        const { x, y, width, height } = range.getBoundingClientRect();
        return [x + width / 2, y + height / 2];
    }
}"""


def test_line_names_the_source_of_each_number_live_and_after_a_reload(page: Page) -> None:
    change_settings(page, model="scenario-code")
    ask_and_wait(page, "Please compute 17")
    line = page.locator(f"{ANSWER} > .numbers")
    summary = line.locator("summary")
    expect(summary).to_contain_text("in the results")
    live = (line.inner_html(), page.evaluate(UNDERLINED))
    number = line.locator("li b").first.text_content()
    page.mouse.click(*page.evaluate(CLICK_POINT, number))
    expect(line).to_have_attribute("open", "")
    expect(line.locator("li").first).to_be_focused()
    assert findings(page) == []
    page.reload()
    expect(summary).to_contain_text("in the results")
    assert (line.inner_html(), page.evaluate(UNDERLINED)) == live
    summary.press("Enter")
    expect(line.locator("li").first).to_be_visible()
