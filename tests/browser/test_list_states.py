"""Dots in the list of conversations: answers that are being written, that wait for a decision, and that are unread."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, StorageState, expect

from tests.browser.actions import ask, ask_and_wait, change_settings
from tests.browser.axe import findings
from tests.browser.database import run_in_shell
from tests.browser.sample_conversations import EMPTY_ID, WAITING_ID
from tests.live_server import LiveServer

pytestmark = pytest.mark.drill

STOP = """
from uuid import UUID
from chat.answering.turns.store import request_stop
assert request_stop(UUID("{}"))
"""


def id_of(page: Page) -> str:
    match = re.search(r"/c/([0-9a-f-]+)/", page.url)
    assert match
    return match[1]


def link(page: Page, conversation_id: str) -> Locator:
    return page.locator(f"#entry-{conversation_id} > a")


def state(page: Page, conversation_id: str) -> Locator:
    return link(page, conversation_id).locator(".state")


@pytest.fixture
def asking(page: Page) -> str:
    """Return the id of a conversation whose answer is being written, after the page has gone to another one."""
    change_settings(page, model="scenario-stall", title="Asking")
    ask(page, "go")
    asking = id_of(page)
    with page.expect_navigation():
        page.click("text=New conversation")
    return asking


def test_running_answer_becomes_unread_when_it_ends_and_read_when_it_is_opened(
    page: Page, asking: str, server: LiveServer
) -> None:
    expect(state(page, asking)).to_have_attribute("data-state", "running")
    expect(link(page, asking)).to_have_accessible_name("Asking Answer is being written")
    run_in_shell(server, STOP.format(asking))
    # The page was not reloaded.
    expect(state(page, asking)).to_have_attribute("data-state", "unread")
    expect(link(page, asking)).to_have_accessible_name("Asking New answer")
    expect(link(page, asking).locator(".name")).to_have_css("font-weight", "650")
    assert findings(page, "#transcript", is_brief=True) == []
    link(page, asking).press("Enter")
    page.wait_for_url(f"**/c/{asking}/")
    with page.expect_navigation():
        page.click("text=New conversation")
    expect(link(page, asking)).to_have_accessible_name("Asking")


def test_all_tabs_show_which_answers_run_and_which_were_read(page: Page, context: BrowserContext) -> None:
    asking = id_of(page)
    change_settings(page, model="scenario-text", title="In two tabs")
    other = context.new_page()
    other.goto(page.url)
    with other.expect_navigation():
        other.click("text=New conversation")
    expect(link(other, asking)).to_have_accessible_name("In two tabs")
    # The answer is seen at its end in the first tab, so it is read in the second one.
    with page.expect_response(f"**/c/{asking}/read/"):
        ask_and_wait(page, "go")
    expect(link(other, asking)).to_have_accessible_name("In two tabs")
    other.reload()
    expect(link(other, asking)).to_have_accessible_name("In two tabs")
    change_settings(page, model="scenario-stall")
    ask(page, "again")
    expect(state(other, asking)).to_have_attribute("data-state", "running")
    page.click('#composer [data-action="stop"]')
    expect(state(other, asking)).to_have_count(0)


def test_page_polls_the_states_of_listed_conversations_only_while_an_answer_is_written(
    page: Page, asking: str, server: LiveServer
) -> None:
    asked: list[str] = []
    page.clock.install()
    page.reload()
    page.on("request", lambda request: asked.append(request.url) if "/states/" in request.url else None)
    with page.expect_request("**/conversations/states/**"), page.expect_response(lambda one: one.status == 304):
        pass
    run_in_shell(server, STOP.format(asking))
    expect(state(page, asking)).to_have_attribute("data-state", "unread")
    asked.clear()
    page.clock.fast_forward(60_000)
    assert asked == []


def test_dot_of_a_waiting_answer_has_another_shape_and_another_text(
    browser: Browser, reader_state: StorageState, server: LiveServer
) -> None:
    window = browser.new_context(storage_state=reader_state, forced_colors="active")
    page = window.new_page()
    page.goto(f"{server.url}/c/{EMPTY_ID}/")
    waiting = link(page, str(WAITING_ID))
    expect(state(page, str(WAITING_ID))).to_have_attribute("data-state", "waiting")
    expect(waiting).to_have_accessible_name(re.compile("Waits for your decision$"))
    mark = state(page, str(WAITING_ID)).evaluate("one => getComputedStyle(one, '::before').content")
    assert mark.startswith('"?"')
    window.close()
