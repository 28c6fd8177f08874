"""Decisions about code on the page: run, edit and run, deny; in several tabs, by keyboard, on a phone."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, StorageState, WebSocketRoute, expect

from tests.browser.actions import ANSWER, BOX, articles, ask, change_settings
from tests.browser.conftest import sign_in_state
from tests.browser.page_errors import Watch
from tests.chat.answering.tools.code_server import running_code_server
from tests.chat.answering.tools.code_tools import executed
from tests.live_server import LiveServer

CODE = "number = 1\nprint(number * 11)"
"""The code of the first call of the scenario `function-code`."""
EDITED = "print('changed by a person')"
APPROVE = 'button[data-action="approve"]'
DENY = 'button[data-action="deny"]'
EDIT = 'button[data-action="edit-code"]'
EDITOR = ".approval textarea"


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    """A server whose answers can run code. It replaces the server of other browser tests."""
    with running_code_server() as running:
        yield running


@pytest.fixture(scope="module")
def signed_in(browser: Browser, server: LiveServer) -> StorageState:
    """Return the cookies of the user `demo`."""
    return sign_in_state(browser, server)


def ask_for_code(page: Page, scenario: str = "function-code") -> Locator:
    """Ask, and return the answer once it waits for a decision."""
    change_settings(page, model=f"scenario-{scenario}", code_execution="off")
    answer = ask(page, "go")
    expect(answer).to_have_attribute("data-status", "waiting")
    return answer


def check_reload(page: Page) -> None:
    """Check that the page equals a reload."""
    shown = articles(page)
    page.reload()
    expect(page.locator(ANSWER)).to_have_count(1)
    assert articles(page) == shown


def test_code_is_shown_and_runs_when_it_is_approved(page: Page, server: LiveServer) -> None:
    runs = len(executed(server.var_dir))
    answer = ask_for_code(page)
    expect(answer.locator(".approval pre code")).to_have_text(CODE)
    expect(answer.locator(".approval pre .nb")).to_have_text("print")
    expect(answer.locator(".status")).to_contain_text("Waiting for you")
    expect(page.locator("#spoken p").last).to_have_text("The answer waits for you: run this code?")
    expect(page.locator('#composer button[data-action="stop"]')).to_be_visible()
    # The focus stays where the person writes.
    expect(page.locator(BOX)).to_be_focused()
    check_reload(page)
    assert executed(server.var_dir)[runs:] == []
    page.click(APPROVE)
    expect(answer).to_have_attribute("data-status", "done")
    expect(page.locator(".approval")).to_have_count(0)
    expect(answer.locator('[data-part-kind="code_execution_result"]')).to_contain_text("11")
    check_reload(page)
    assert executed(server.var_dir)[runs:] == [CODE]


@pytest.mark.drill
def test_answer_that_waits_for_approval_can_be_stopped(page: Page) -> None:
    answer = ask_for_code(page)
    page.fill(BOX, "Another question")
    page.press(BOX, "Enter")
    expect(page.locator("#composer-note")).to_contain_text("waits for your decision")
    page.click('#composer button[data-action="stop"]')
    expect(answer).to_have_attribute("data-status", "stopped")
    expect(page.locator(".approval")).to_have_count(0)


@pytest.mark.drill
def test_approval_decision_in_one_tab_is_shown_in_all_tabs(
    page: Page, context: BrowserContext, server: LiveServer
) -> None:
    ask_for_code(page, "function-code-2")
    second = context.new_page()
    second.goto(page.url)
    expect(second.locator(".approval")).to_have_count(1)
    second.click(EDIT)
    second.fill(EDITOR, "a draft that comes too late")
    first_id = page.locator(".approval").get_attribute("data-approval")
    assert first_id
    page.click(APPROVE)
    # Both tabs ask about the second call. The draft for the first call is deleted.
    for tab in (page, second):
        expect(tab.locator(".approval")).not_to_have_attribute("data-approval", first_id)
        expect(tab.locator(".approval pre code")).to_have_text(CODE.replace("1\n", "2\n", 1))
    expect(second.locator(EDITOR)).to_have_count(0)
    expect(second.locator("#spoken p").last).to_have_text("The answer waits for you: run this code?")
    assert articles(page) == articles(second)
    second.click(DENY)
    for tab in (page, second):
        expect(tab.locator(ANSWER)).to_have_attribute("data-status", "done")
        expect(tab.locator(".approval")).to_have_count(0)
    assert articles(page) == articles(second)
    assert executed(server.var_dir)[-1] == CODE


@pytest.mark.drill
def test_edited_code_is_kept_when_the_page_is_reloaded_or_the_connection_breaks(
    page: Page, context: BrowserContext, server: LiveServer, watch: Watch
) -> None:
    watch.expect_lost_server()
    answer = ask_for_code(page)
    page.click(EDIT)
    page.fill(EDITOR, EDITED)
    page.reload()
    expect(page.locator(EDITOR)).to_have_value(EDITED)
    # The page gets a snapshot when it connects again, which renders the question anew.
    page.focus(EDITOR)
    server.kill()
    expect(page.locator("#connection")).to_be_visible()
    page.click(APPROVE)
    expect(page.locator("#composer-note")).to_contain_text("No connection")
    page.focus(EDITOR)
    page.keyboard.press("End")
    server.start()
    expect(page.locator("#connection")).to_be_hidden()
    page.keyboard.type("  # kept")
    expect(page.locator(EDITOR)).to_have_value(f"{EDITED}  # kept")
    page.click(APPROVE)
    expect(answer).to_have_attribute("data-status", "done")
    assert executed(server.var_dir)[-1] == f"{EDITED}  # kept"
    assert page.evaluate("Object.keys(sessionStorage).filter((key) => key.includes('approval'))") == []


@pytest.mark.drill
def test_decision_made_right_after_a_reload_is_sent_once_the_page_is_connected(page: Page, server: LiveServer) -> None:
    answer = ask_for_code(page)

    def connect_late(socket: WebSocketRoute) -> None:
        expect(page.locator("#composer-note")).to_have_text("Connecting… Your decision is sent in a moment.")
        expect(page.locator(APPROVE)).to_be_disabled()
        socket.connect_to_server()

    page.route_web_socket(re.compile("/ws/"), connect_late)
    page.reload()
    page.click(APPROVE)
    expect(answer).to_have_attribute("data-status", "done")
    expect(page.locator("#composer-note")).to_be_empty()
    assert executed(server.var_dir)[-1] == CODE


@pytest.mark.drill
def test_code_can_be_edited_and_run_and_its_editor_left_by_keyboard(page: Page, server: LiveServer) -> None:
    answer = ask_for_code(page)
    page.locator(EDIT).press("Enter")
    expect(page.locator(EDITOR)).to_be_focused()
    # Tab moves on to the buttons, and types nothing.
    page.keyboard.press("Tab")
    expect(page.locator(APPROVE)).to_be_focused()
    expect(page.locator(APPROVE)).to_have_text("Run changed code")
    page.keyboard.press("Shift+Tab")
    expect(page.locator(EDITOR)).to_be_focused()
    page.keyboard.press("Control+A")
    page.keyboard.type(EDITED)
    page.keyboard.press("Escape")
    expect(page.locator(EDITOR)).to_have_count(0)
    expect(page.locator(EDIT)).to_be_focused()
    expect(answer.locator(".approval pre")).to_be_visible()
    expect(page.locator(APPROVE)).to_have_text("Run")
    page.keyboard.press("Enter")
    expect(page.locator(EDITOR)).to_have_value(EDITED)
    page.keyboard.press("Control+Enter")
    expect(answer).to_have_attribute("data-status", "done")
    assert executed(server.var_dir)[-1] == EDITED
    # The button that had the focus is gone.
    assert page.evaluate("document.activeElement.id") == "scroller"


@pytest.mark.drill
def test_cancelled_edit_runs_the_code_of_the_model(page: Page, server: LiveServer) -> None:
    answer = ask_for_code(page)
    page.click(EDIT)
    page.fill(EDITOR, EDITED)
    page.click(EDIT)
    page.click(APPROVE)
    expect(answer).to_have_attribute("data-status", "done")
    assert executed(server.var_dir)[-1] == CODE


@pytest.mark.drill
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_approval_of_code_fits_the_screen_of_a_phone(page: Page, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size({"width": 360, "height": 640})
    ask_for_code(page)
    for action in (APPROVE, EDIT, DENY):
        box = page.locator(action).bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 360
    page.click(EDIT)
    page.fill(EDITOR, f"{EDITED}  # {'long ' * 40}")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    editor = page.locator(EDITOR).bounding_box()
    assert editor
    assert editor["width"] <= 340
    page.click('#composer button[data-action="stop"]')
    expect(page.locator(ANSWER)).to_have_attribute("data-status", "stopped")
