"""Ratings of answers, and the menu of a conversation."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.actions import ANSWER, articles, ask_and_wait, change_settings

pytestmark = pytest.mark.drill


def rating_button(answer: Locator, name: str) -> Locator:
    """Return the rating button `Good answer` or `Bad answer` of an answer."""
    return answer.get_by_role("button", name=name)


def test_rating_is_saved_shown_in_every_tab_and_removed_again(page: Page, context: BrowserContext) -> None:
    change_settings(page, model="scenario-text")
    answer = ask_and_wait(page, "Hello")
    second = context.new_page()
    second.goto(page.url)
    # Chromium draws a tab in the background only once a second.
    page.bring_to_front()
    rating_button(answer, "Good answer").click()
    for tab in (page, second):
        expect(rating_button(tab.locator(ANSWER), "Good answer")).to_have_attribute("aria-pressed", "true")
    assert articles(page) == articles(second)

    # Rate by keyboard, with a reason.
    rating_button(answer, "Bad answer").press("Enter")
    dialog = page.locator("dialog#feedback")
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Graph wrong").click()
    page.keyboard.type(": <b>no axis</b>")
    dialog.get_by_role("button", name="Send").click()
    expect(dialog).to_be_hidden()
    for tab in (page, second):
        expect(tab.locator(".why")).to_have_attribute("data-reason", "Graph wrong: <b>no axis</b>")
        expect(rating_button(tab.locator(ANSWER), "Bad answer")).to_have_attribute("aria-pressed", "true")
        expect(rating_button(tab.locator(ANSWER), "Good answer")).to_have_attribute("aria-pressed", "false")
    live = articles(page)
    assert live == articles(second)
    page.reload()
    expect(page.locator(".why")).to_be_visible()
    assert articles(page) == live

    # The dialog contains the saved reason.
    page.locator(".why").click()
    expect(dialog.locator("textarea")).to_have_value("Graph wrong: <b>no axis</b>")
    page.keyboard.press("Escape")
    rating_button(page.locator(ANSWER), "Bad answer").click()
    for tab in (page, second):
        expect(rating_button(tab.locator(ANSWER), "Bad answer")).to_have_attribute("aria-pressed", "false")
        expect(tab.locator(".why")).to_have_count(0)
    assert articles(page) == articles(second)
    # A new question can be sent in the state that all tabs show.
    ask_and_wait(page, "And now?")
    expect(second.locator(ANSWER).nth(1)).to_have_attribute("data-status", "done")
    assert articles(page) == articles(second)


def test_too_long_reason_of_a_rating_is_rejected_with_a_message_and_kept_in_the_dialog(page: Page) -> None:
    change_settings(page, model="scenario-text")
    answer = ask_and_wait(page, "Hello")
    rating_button(answer, "Bad answer").click()
    dialog = page.locator("dialog#feedback")
    page.evaluate("document.getElementById('feedback-reason').removeAttribute('maxlength')")
    dialog.locator("textarea").fill("x" * 1001)
    dialog.get_by_role("button", name="Send").click()
    expect(dialog.get_by_role("alert")).to_have_text("A reason can have at most 1,000 characters. Shorten it.")
    expect(dialog.locator("textarea")).to_have_value("x" * 1001)
    dialog.get_by_role("button", name="No reason").click()
    expect(rating_button(answer, "Bad answer")).to_have_attribute("aria-pressed", "true")


def choose(page: Page, entry: Locator, name: str) -> None:
    """Choose an item of an entry's menu."""
    entry.hover()
    entry.get_by_role("button").click()
    page.locator("#entry-menu").get_by_role("button", name=name, exact=True).click()


def test_conversation_menu_works_by_keyboard_and_opens_the_rename_dialog(page: Page) -> None:
    change_settings(page, title="To be renamed")
    page.reload()
    entry = page.locator("#conversations li").filter(has_text="To be renamed")
    button = entry.get_by_role("button")
    button.press("Enter")
    expect(page.locator("#entry-menu").get_by_role("button", name="Pin", exact=True)).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#entry-menu")).to_be_hidden()
    expect(button).to_be_focused()
    choose(page, entry, "Rename…")
    # A blank name is refused in the dialog.
    rename = page.locator("dialog#rename").get_by_role("button", name="Rename")
    page.fill("#rename-input", "   ")
    rename.click()
    expect(page.locator("#rename-input:invalid")).to_be_visible()
    page.fill("#rename-input", "Renamed")
    with page.expect_navigation():
        rename.click()
    expect(page.locator("#conversations li").filter(has_text="Renamed").first).to_be_visible()
