"""The choice of model and code execution: the selects of the composer, the dialog, and a choice for one message."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.actions import ANSWER, QUESTION, ask, ask_and_wait, change_settings, press_in_header

MODEL = 'form#composer select[name="model"]'
CODE = 'form#composer select[name="code_execution"]'
DIALOG = "dialog#conversation-settings"


@pytest.mark.drill
def test_code_execution_that_is_turned_off_for_one_message_is_on_for_the_next(page: Page) -> None:
    change_settings(page, model="scenario-text", code_execution="on")
    page.reload()
    page.select_option(CODE, "once-off")
    page.reload()
    expect(page.locator(CODE)).to_have_value("once-off")
    first = ask_and_wait(page, "Say it in words")
    expect(first.locator(".about dl")).to_contain_text("Code execution is turned off.")
    expect(page.locator(CODE)).to_have_value("on")
    second = ask_and_wait(page, "And now")
    expect(second.locator(".about dl")).not_to_contain_text("turned off")


@pytest.mark.drill
def test_answer_now_button_requests_an_answer_without_tools(page: Page) -> None:
    change_settings(page, model="scenario-too-many-tool-calls", code_execution="on")
    ask_and_wait(page, "Sum it up")
    page.click("text=Answer now, without running code")
    expect(page.locator(QUESTION)).to_have_count(2)
    expect(page.locator(ANSWER).last).to_have_attribute("data-status", "done")
    expect(page.locator(ANSWER).last.locator(".about dl")).to_contain_text("an answer without tools")
    expect(page.locator('#transcript button[data-action="continue"]:visible')).to_have_count(0)


@pytest.mark.drill
def test_model_select_saves_the_choice_and_returns_to_the_old_one_if_it_is_rejected(page: Page) -> None:
    name = page.locator(f"{MODEL} option:not([value=''])").first.get_attribute("value") or ""
    assert name
    page.select_option(MODEL, name)
    # The attribute changes only after the server has saved the choice.
    expect(page.locator(f'{MODEL}[data-saved="{name}"]')).to_have_count(1)
    page.reload()
    expect(page.locator(MODEL)).to_have_value(name)
    page.locator(f"{MODEL} option").first.evaluate("option => { option.value = '../no' }")
    with page.expect_response("**/settings/"):
        page.select_option(MODEL, "../no")
    expect(page.locator("#composer-note")).to_have_text("This is not the name of a model.")
    expect(page.locator(MODEL)).to_have_value(name)


@pytest.mark.drill
def test_empty_page_mentions_the_demo_model_while_it_is_chosen(page: Page) -> None:
    notice = page.locator("#demo")
    expect(notice).to_be_visible()
    page.select_option(MODEL, "endpoint-model")
    expect(notice).to_be_hidden()
    page.select_option(MODEL, "")
    expect(notice).to_be_visible()
    ask_and_wait(page, "Hello")
    expect(notice).to_be_hidden()


def test_dialog_saves_all_settings_and_keeps_the_input_if_rejected(page: Page) -> None:
    page.click('button[data-action="settings"]')
    dialog = page.locator(DIALOG)
    expect(dialog).to_be_visible()
    model = dialog.locator('input[name="model"]').nth(1)
    name = model.get_attribute("value") or ""
    model.check()
    dialog.locator('input[name="code_execution"][value="off"]').check()
    page.fill("#system-instruction", "ä" * 200_000)
    expect(page.locator("#instruction-size")).to_have_text("390.6 of 256 KB")
    dialog.locator('button[type="submit"]').click()
    expect(dialog.locator('[role="alert"]')).to_contain_text("at most 256 KB")
    assert len(page.input_value("#system-instruction")) == 200_000
    expect(page.locator(CODE)).to_have_value("auto")

    page.fill("#system-instruction", "\nBe brief.\n\nUse <b>pandas</b>.")
    dialog.locator('button[type="submit"]').click()
    expect(dialog).to_be_hidden()
    expect(page.locator(CODE)).to_have_value("off")
    expect(page.locator(MODEL)).to_have_value(name)
    page.reload()
    page.click('button[data-action="settings"]')
    expect(page.locator("#system-instruction")).to_have_value("\nBe brief.\n\nUse <b>pandas</b>.")
    expect(dialog.locator(f'input[name="model"][value="{name}"]')).to_be_checked()
    expect(dialog.locator('input[name="code_execution"]:checked')).to_have_value("off")


@pytest.mark.drill
def test_settings_dialog_discards_changes_on_cancel_and_keeps_them_on_escape(page: Page) -> None:
    page.click('button[data-action="settings"]')
    page.fill("#system-instruction", "Half a thought")
    page.keyboard.press("Escape")
    page.click('button[data-action="settings"]')
    expect(page.locator("#system-instruction")).to_have_value("Half a thought")
    page.click(f'{DIALOG} button[type="reset"]')
    expect(page.locator(DIALOG)).to_be_hidden()
    page.click('button[data-action="settings"]')
    expect(page.locator("#system-instruction")).to_have_value("")


@pytest.mark.drill
def test_private_data_setting_is_shown_in_the_header_and_turning_it_off_asks_for_confirmation(page: Page) -> None:
    sign, dialog = page.locator("#conversation-project .private"), page.locator(DIALOG)

    def choose(value: str) -> None:
        page.click('button[data-action="settings"]')
        dialog.locator(f'input[name="private_data"][value="{value}"]').check()
        dialog.locator('button[type="submit"]').click()

    choose("true")
    expect(sign).to_have_text("Private data")
    page.once("dialog", lambda question: question.dismiss())
    choose("false")
    expect(dialog).to_be_visible()
    dialog.locator('button[type="reset"]').click()
    page.once("dialog", lambda question: question.accept())
    choose("false")
    expect(dialog).to_be_hidden()
    expect(sign).to_have_count(0)
    page.reload()
    expect(sign).to_have_count(0)


@pytest.mark.drill
def test_composer_controls_fit_the_width_of_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    change_settings(page, model="scenario-text")
    page.reload()
    page.select_option(CODE, "once-off")
    answer = ask(page, "Something")
    expect(answer).to_have_attribute("data-status", "done")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    for box in [element.bounding_box() for element in page.locator(".tools > :visible").all()]:
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 360
    press_in_header(page, 'button[data-action="settings"]')
    assert page.evaluate("document.documentElement.scrollWidth") == 360


@pytest.mark.drill
def test_dialog_closes_only_if_a_click_both_begins_and_ends_outside_it(page: Page) -> None:
    page.click('button[data-action="settings"]')
    dialog = page.locator(DIALOG)
    expect(dialog).to_be_visible()
    # Inside the padding.
    dialog.click(position={"x": 3, "y": 3})
    page.locator("#system-instruction").hover()
    page.mouse.down()
    page.mouse.move(5, 5)
    page.mouse.up()
    expect(dialog).to_be_visible()
    page.mouse.click(5, 5)
    expect(dialog).to_be_hidden()
