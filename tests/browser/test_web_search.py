"""The switch for web search in the composer: what it saves, says and shows, on a phone and by keyboard."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.actions import ask_and_wait, change_settings, press_in_header
from tests.browser.database import run_in_shell
from tests.live_server import LiveServer

pytestmark = pytest.mark.drill

SWITCH = "form#composer [role=switch]"
DIALOG = "dialog#conversation-settings"
ADD_MODEL = (
    "from chat.models import LanguageModel;"
    "LanguageModel.objects.create(name='scenario-search-and-plot', code_execution=True, web_search=True,"
    " search_price=14)"
)


def test_switch_turns_web_search_on_and_shows_the_cost(page: Page, server: LiveServer) -> None:
    switch, note = page.locator(SWITCH), page.locator("#composer-note")
    # The demo model cannot search. A press shows a note about this, because fingers cannot open a tooltip.
    expect(switch).to_have_attribute("aria-disabled", "true")
    switch.press("Enter")
    expect(note).to_contain_text("The demo model has no access to the web")
    expect(switch).to_have_attribute("aria-checked", "false")

    run_in_shell(server, ADD_MODEL)
    change_settings(page, model="scenario-search-and-plot", code_execution="on")
    page.set_viewport_size({"width": 390, "height": 844})
    page.reload()
    expect(switch).to_have_accessible_name("Search the web")
    expect(switch).not_to_have_attribute("aria-disabled", "true")
    expect(ask_and_wait(page, "Show me a Bitcoin price chart")).to_contain_text("I cannot search the web here")

    switch.press("Space")
    expect(switch).to_have_attribute("aria-checked", "true")
    expect(note).to_contain_text("$14 per 1,000 searches")
    page.reload()
    expect(switch).to_have_attribute("aria-checked", "true")
    answer = ask_and_wait(page, "And now")
    expect(answer.locator("figure img")).to_have_count(1)
    expect(answer.get_by_role("link", name="example.org")).to_be_visible()

    press_in_header(page, 'button[data-action="settings"]')
    expect(page.locator(f'{DIALOG} input[name="web_search"]:checked')).to_have_value("on")
    page.locator(f'{DIALOG} input[name="web_search"][value="off"]').check()
    page.click(f'{DIALOG} button[type="submit"]')
    expect(switch).to_have_attribute("aria-checked", "false")
