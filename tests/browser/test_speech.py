"""Answers that are read aloud, dictation, and the offer to tell when a long answer is done. The browser's own parts are
replaced by ones that record what they are told, since a test machine has no voice and no microphone.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.actions import ANSWER, BOX, ask, ask_and_wait, open_settings

pytestmark = pytest.mark.drill

VOICE = """() => {
    window.spoken = [];
    window.SpeechSynthesisUtterance = class extends EventTarget {
        constructor(text) { super(); this.text = text; }
    };
    const voice = { speak: (one) => spoken.push(one), cancel: () => {} };
    Object.defineProperty(window, "speechSynthesis", { value: voice });
}"""
MICROPHONE = """() => {
    window.microphones = [];
    window.SpeechRecognition = window.webkitSpeechRecognition = class extends EventTarget {
        start() { microphones.push(this); }
        stop() { this.dispatchEvent(new Event("end")); }
        abort() { this.stop(); }
        hear(text) {
            const results = [Object.assign([{ transcript: text }], { isFinal: true })];
            this.dispatchEvent(Object.assign(new Event("result"), { results, resultIndex: 0 }));
        }
    };
}"""
NOT_ASKED = """() => {
    window.Notification = class { static permission = "default"; };
    Notification.requestPermission = async () => (Notification.permission = "granted");
}"""


def test_answer_is_read_aloud_by_sentences_until_its_end_or_a_second_press(page: Page) -> None:
    page.add_init_script(f"({VOICE})()")
    page.reload()
    ask_and_wait(page, "Plot a sine wave")
    page.locator(f"{ANSWER} .about summary").click()
    button = page.get_by_role("button", name="Read aloud")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    pieces = page.evaluate("spoken.map(({ text }) => text)")
    assert "Running Python code, 21 lines." in pieces
    assert any("Line chart" in piece for piece in pieces)
    assert page.evaluate("new Set(spoken.map(({ lang }) => lang)).size === 1 && spoken[0].lang === 'en'")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "false")
    button.click()
    page.evaluate("spoken.at(-1).dispatchEvent(new Event('end'))")
    expect(button).to_have_attribute("aria-pressed", "false")
    button.click()
    page.evaluate("spoken.at(-1).dispatchEvent(Object.assign(new Event('error'), { error: 'language-unavailable' }))")
    expect(page.locator("#composer-note")).to_contain_text("no voice")


def test_dictation_is_off_by_default_and_inserts_text_at_the_cursor(page: Page) -> None:
    page.add_init_script(f"({MICROPHONE})()")
    page.reload()
    expect(page.locator("#dictate")).to_have_count(0)
    conversation = page.url
    open_settings(page, "Appearance")
    choice = page.get_by_role("group", name="Dictation")
    expect(choice).to_contain_text("sends the sound to Google")
    choice.get_by_text("On: a microphone").click()
    page.goto(conversation)
    page.fill(BOX, "Plot this")
    button = page.locator("#dictate")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    page.evaluate("microphones[0].hear(' as a bar chart ')")
    expect(page.locator(BOX)).to_have_value("Plot this as a bar chart")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "false")
    button.click()
    page.evaluate("microphones[1].dispatchEvent(Object.assign(new Event('error'), { error: 'not-allowed' }))")
    expect(page.locator("#composer-note")).to_contain_text("may not use the microphone")


def test_notifications_are_offered_at_the_first_long_answer(page: Page) -> None:
    page.add_init_script(f"({NOT_ASKED})()")
    page.clock.install()
    page.reload()
    offer = page.locator("#notice-offer")
    answer = ask(page, "```python\nimport time\ntime.sleep(60)\n```")
    expect(answer).to_have_attribute("data-status", "running")
    expect(offer).to_have_count(0)
    # The module that waits has come with the first key.
    page.evaluate("import('/static/js/background.js').then(() => true)")
    page.clock.fast_forward(31_000)
    offer.get_by_role("button", name="Tell me").click()
    expect(offer).to_have_count(0)
    kept = page.evaluate("[Notification.permission, localStorage.getItem('plotline:notifications')]")
    assert kept == ["granted", "on"]
    page.click('button[data-action="stop"]')
    expect(answer).to_have_attribute("data-status", "stopped")
