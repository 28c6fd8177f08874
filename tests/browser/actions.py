"""What tests of the page do and read, as a person would."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

ANSWER = 'article[data-role="model"]'
QUESTION = 'article[data-role="user"]'
BOX = "form#composer textarea[name=text]"


def ask(page: Page, text: str) -> Locator:
    """Type and send; the answer's article."""
    answers = page.locator(ANSWER).count()
    page.fill(BOX, text)
    page.press(BOX, "Enter")
    return page.locator(ANSWER).nth(answers)


def ask_and_wait(page: Page, text: str) -> Locator:
    """The same, and the answer is done."""
    answer = ask(page, text)
    expect(answer).to_have_attribute("data-status", "done")
    return answer


def press(message: Locator, action: str) -> None:
    """One of a message's buttons, which show under the pointer."""
    message.hover()
    message.locator(f'button[data-action="{action}"]').first.click()


def articles(page: Page) -> str:
    """All messages as the browser holds them, but for folds that a reader opened."""
    html: str = page.evaluate("[...document.querySelectorAll('#transcript article')].map(a => a.outerHTML).join('')")
    return html


def change_settings(page: Page, **values: str) -> None:
    """Settings of the open conversation, past its page: pickers do not offer the emulator's scenarios."""
    match = re.match(r"(https?://[^/]+)/c/[0-9a-f-]+/", page.url)
    assert match
    token = next(cookie["value"] for cookie in page.context.cookies() if cookie.get("name") == "csrftoken")
    headers = {"X-CSRFToken": token, "Referer": match[1], "Accept": "text/plain"}
    answer = page.request.post(f"{match[0]}settings/", form=dict(values), headers=headers)
    assert answer.status == 204, answer.text()
