"""The line below an answer with the sources of its numbers, in Chromium, live and after a reload."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.actions import ANSWER, ask_and_wait, change_settings
from tests.browser.axe import findings
from tests.browser.database import run_in_shell
from tests.live_server import LiveServer

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


EARLIER = """
from django.utils import timezone
from datetime import timedelta
from chat.models import Turn, User
from chat.vocabulary.parts import PartKind
from tests.factories import make_conversation, make_model_message
parts = [(PartKind.CODE_EXECUTION_RESULT, "Ulm 1381"), (PartKind.TEXT, "Ulm has **1,381** orders, 99 from nowhere.")]
answer = make_model_message(make_conversation(User.objects.get(username="demo")), parts=parts)
Turn.objects.filter(message=answer).update(ended_at=timezone.now() - timedelta(hours=1))
print(answer.conversation_id)
"""


def test_line_below_an_answer_says_how_many_numbers_have_a_source_live_and_after_a_reload(page: Page) -> None:
    change_settings(page, model="scenario-code")
    ask_and_wait(page, "Please compute")
    line = page.locator(f"{ANSWER} .numbers")
    summary = line.locator("summary")
    expect(summary).to_have_text("1 of 1 number is in the results")
    live = line.inner_html()
    page.reload()
    expect(summary).to_have_text("1 of 1 number is in the results")
    assert line.inner_html() == live


def test_numbers_of_an_earlier_answer_are_checked_by_keyboard_and_lead_to_their_sources(
    page: Page, server: LiveServer
) -> None:
    page.goto(f"{server.url}/c/{run_in_shell(server, EARLIER).strip()}/")
    line = page.locator(f"{ANSWER} .numbers")
    summary = line.locator("summary")
    expect(summary).to_have_text("Check the numbers")
    summary.press("Enter")
    expect(summary).to_have_text("1 of 2 numbers are in the results")
    expect(summary).to_be_focused()
    expect(line.locator("li")).to_have_text(["1,381 output of code, line 1: Ulm 1381", "99 no source was found"])
    assert page.evaluate(UNDERLINED) == ["99"]
    assert findings(page) == []
    summary.press("Enter")
    expect(line).not_to_have_attribute("open", "")
    page.mouse.click(*page.evaluate(CLICK_POINT, "99"))
    expect(line.locator("li").last).to_be_focused()
