"""No element jumps while an answer grows or code is opened. The panel of the session belongs to one conversation."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.actions import ANSWER, BOX, ask_and_wait

pytestmark = pytest.mark.drill

PLOT = """```python
import matplotlib.pyplot as plt
for number in range(30):
    print(number)
plt.plot([1, 3, 2])
plt.show()
```"""

OBSERVE = """() => {
    window.shifts = [];
    const root = (node) => (node?.nodeType === 1 ? node : node?.parentElement);
    new PerformanceObserver((list) => {
        for (const { hadRecentInput, sources } of list.getEntries()) {
            if (hadRecentInput) continue;
            for (const { node, previousRect, currentRect } of sources) {
                const element = root(node);
                // The box becomes lower when its text has been sent.
                if (!element?.isConnected || element.closest("#composer")) continue;
                const isEnd = element.closest(".status, .actions") !== null;
                const down_px = currentRect.top - previousRect.top;
                if (!isEnd || down_px < -1) window.shifts.push([element.outerHTML.slice(0, 120), down_px]);
            }
        }
    }).observe({ type: "layout-shift" });
}"""
"""Collects elements that moved without an action of the reader, and by how many CSS pixels down.

The row below the text that grows moves down, and nothing else does.
"""


def test_nothing_above_the_growing_end_of_an_answer_moves(page: Page) -> None:
    ask_and_wait(page, "First 50 primes")
    page.evaluate(OBSERVE)
    answer = ask_and_wait(page, PLOT)
    expect(answer.locator("figure img")).to_be_visible()
    # Two frames later, all shifts have been observed.
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert page.evaluate("window.shifts") == []


def test_opening_folded_code_does_not_move_its_summary_line(page: Page) -> None:
    answer = ask_and_wait(page, PLOT)
    summary = answer.locator('[data-part-kind="executable_code"] > summary')
    summary.scroll_into_view_if_needed()
    before = summary.bounding_box()
    summary.click()
    expect(answer.locator('[data-part-kind="executable_code"] pre')).to_be_visible()
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    after = summary.bounding_box()
    assert before is not None
    assert after is not None
    assert abs(after["y"] - before["y"]) < 1
    # The end is out of view, and one click scrolls to it.
    page.get_by_role("button", name="Jump to latest").click()
    expect(page.locator(ANSWER).last.locator(".actions")).to_be_in_viewport()


def test_panel_of_the_session_stays_open_only_in_its_conversation(page: Page) -> None:
    # An empty conversation would be the new one.
    ask_and_wait(page, "First 50 primes")
    page.click('[data-action="open-session"]')
    expect(page.locator("#session")).to_be_visible()
    page.reload()
    expect(page.locator("#session")).to_be_visible()
    with page.expect_navigation():
        page.click("text=New conversation")
    expect(page.locator(BOX)).to_be_editable()
    expect(page.locator("#session")).to_be_hidden()
