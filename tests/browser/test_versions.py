"""Versions of messages: edited questions, regenerated answers, and switching between them in every tab."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.actions import ANSWER, BOX, QUESTION, articles, ask, ask_and_wait, change_settings, press


def focused_switch_button(page: Page) -> str:
    """Return direction and message text of the focused switch button; an empty string without such a focus."""
    description: str = page.evaluate(
        "(({dataset, closest}) => dataset.action === 'switch' ? `${dataset.way} ${document.activeElement"
        ".closest('article').querySelector('.said').textContent.trim()}` : '')(document.activeElement)"
    )
    return description


def test_edited_message_becomes_a_new_version_and_every_tab_can_switch_versions(
    page: Page, context: BrowserContext
) -> None:
    change_settings(page, model="scenario-text")
    ask_and_wait(page, "The first question")
    ask_and_wait(page, "The second question")
    second = context.new_page()
    second.goto(page.url)
    page.fill(BOX, "a draft that waits")
    press(page.locator(QUESTION).first, "edit")
    expect(page.locator(QUESTION).first.locator("textarea")).to_have_value("The first question")
    expect(page.locator("#editing")).to_be_visible()
    page.fill(BOX, "Another first question")
    page.press(BOX, "Enter")
    for tab in (page, second):
        expect(tab.locator("#transcript article")).to_have_count(2)
        expect(tab.locator(QUESTION)).to_contain_text("Another first question")
        expect(tab.locator(QUESTION).locator(".versions")).to_contain_text("2/2")
        expect(tab.locator(ANSWER)).to_have_attribute("data-status", "done")
    expect(page.locator(BOX)).to_have_value("a draft that waits")
    expect(page.locator("#editing")).to_be_hidden()
    edited = articles(page)
    assert edited == articles(second)

    press(page.locator(QUESTION), "switch")
    for tab in (page, second):
        expect(tab.locator("#transcript article")).to_have_count(4)
        expect(tab.locator(QUESTION).first.locator(".versions")).to_contain_text("1/2")
    # The first version has no previous one, so the button for the next version has the focus.
    assert focused_switch_button(page) == "on The first question"
    first = articles(page)
    assert first == articles(second)
    second.reload()
    expect(second.locator("#transcript article")).to_have_count(4)
    assert articles(second) == first

    # In Firefox, only the tab in front gets keys.
    page.bring_to_front()
    page.keyboard.press("Enter")
    expect(second.locator("#transcript article")).to_have_count(2)
    expect(page.locator("#transcript article")).to_have_count(2)
    assert articles(page) == articles(second) == edited
    page.reload()
    expect(page.locator("#transcript article")).to_have_count(2)
    assert articles(page) == edited


@pytest.mark.drill
def test_message_keeps_its_position_on_the_screen_when_its_version_is_switched(page: Page) -> None:
    change_settings(page, model="scenario-text")
    for number in range(4):
        ask_and_wait(page, f"Question {number}")
    press(page.locator(QUESTION).nth(2), "edit")
    page.fill(BOX, "In other words")
    page.press(BOX, "Enter")
    expect(page.locator(ANSWER)).to_have_count(3)
    expect(page.locator(ANSWER).last).to_have_attribute("data-status", "done")
    page.set_viewport_size({"width": 1280, "height": 420})
    changed = page.locator(QUESTION).nth(2)
    changed.scroll_into_view_if_needed()
    for way, answers in (("back", 4), ("on", 3)):
        changed.hover()
        before = changed.bounding_box()
        changed.locator(f'[data-way="{way}"]').click()
        expect(page.locator(ANSWER)).to_have_count(answers)
        after = changed.bounding_box()
        assert before
        assert after
        assert abs(before["y"] - after["y"]) < 3


@pytest.mark.drill
def test_no_other_turn_can_be_started_while_an_answer_is_written(page: Page) -> None:
    change_settings(page, model="scenario-text")
    ask_and_wait(page, "The first question")
    change_settings(page, model="scenario-stall")
    answer = ask(page, "The second question")
    expect(answer).to_have_attribute("data-status", "running")
    for action in ("edit", "regenerate", "continue"):
        expect(page.locator(f'#transcript button[data-action="{action}"]:visible')).to_have_count(0)
    page.press(BOX, "ArrowUp")
    expect(page.locator("#editing")).to_be_hidden()
    page.click('button[data-action="stop"]')
    expect(answer).to_have_attribute("data-status", "stopped")
    expect(page.locator('button[data-action="edit"]')).to_have_count(2)


@pytest.mark.drill
def test_message_edited_by_keyboard_keeps_its_files_and_the_draft_is_restored(page: Page, tmp_path: Path) -> None:
    change_settings(page, model="scenario-text")
    pictures = []
    for number in range(2):
        pictures.append(tmp_path / f"picture-{number}.png")
        Image.new("RGB", (60, 40), (200, 40 * number, 80)).save(pictures[-1])
    page.set_input_files("#file", pictures)
    expect(page.locator('#files li:not([aria-busy="true"])')).to_have_count(2)
    ask_and_wait(page, "What is on these?")
    gallery = page.locator(QUESTION).locator(".gallery figure")
    expect(gallery).to_have_count(2)
    gallery.first.locator("a.zoom").click()
    expect(page.locator("#lightbox")).to_be_visible()
    page.keyboard.press("Escape")
    # The focus returns a moment after the dialog has closed.
    expect(gallery.first.locator("a.zoom")).to_be_focused()
    page.focus(BOX)
    page.keyboard.press("ArrowUp")
    expect(page.locator(BOX)).to_have_value("What is on these?")
    expect(page.locator(QUESTION).locator("#files li")).to_have_count(2)
    page.reload()
    expect(page.locator("#editing")).to_be_visible()
    expect(page.locator(QUESTION).locator("textarea")).to_have_value("What is on these?")
    expect(page.locator(QUESTION).locator("#files bdi")).to_have_text(["picture-0.png", "picture-1.png"])
    page.press(BOX, "Escape")
    expect(page.locator("#editing")).to_be_hidden()
    expect(page.locator(QUESTION).locator("#composer")).to_have_count(0)
    expect(page.locator(BOX)).to_have_value("")
    expect(page.locator("#files li")).to_have_count(0)
    expect(page.locator(BOX)).to_be_focused()

    page.focus(BOX)
    page.keyboard.press("ArrowUp")
    page.keyboard.type(" Once more.")
    page.keyboard.press("Enter")
    expect(page.locator(QUESTION)).to_contain_text("What is on these? Once more.")
    expect(page.locator(QUESTION).locator(".gallery figure")).to_have_count(2)
    expect(page.locator(ANSWER)).to_have_attribute("data-status", "done")
