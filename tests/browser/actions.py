"""Actions of a user on the conversation page, and queries of its content."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

ANSWER = 'article[data-role="model"]'
QUESTION = 'article[data-role="user"]'
BOX = "form#composer textarea[name=text]"


def ask(page: Page, text: str) -> Locator:
    """Send a message, wait until its question is shown, and return the article of its answer."""
    questions, answers = page.locator(QUESTION), page.locator(ANSWER)
    answers_before, questions_before = answers.count(), questions.count()
    page.fill(BOX, text)
    page.press(BOX, "Enter")
    expect(questions).to_have_count(questions_before + 1)
    return answers.nth(answers_before)


def ask_and_wait(page: Page, text: str) -> Locator:
    """Send a message, wait until its answer is done, and return its article."""
    answer = ask(page, text)
    expect(answer).to_have_attribute("data-status", "done")
    return answer


def press(message: Locator, action: str) -> None:
    """Click one of the buttons of a message, which are visible only under the pointer."""
    message.hover()
    message.locator(f'button[data-action="{action}"]').first.click()


def open_settings(page: Page, section: str) -> None:
    """Go from a page in the frame to a section of the settings."""
    choose_in_account_menu(page, "Settings")
    page.get_by_role("navigation", name="Settings").get_by_role("link", name=section, exact=True).click()


def choose_in_account_menu(page: Page, name: str) -> None:
    """Follow a link of the menu behind the name of the account."""
    page.click("button[popovertarget=account-menu]")
    page.get_by_role("navigation", name="Account").get_by_role("link", name=name, exact=True).click()


def press_in_header(page: Page, selector: str) -> None:
    """Click a button of the header, which a menu holds on a phone."""
    more = page.locator("button[popovertarget=head-menu]")
    if more.is_visible():
        more.click()
    page.click(selector)


TIMES_ARE_LOCAL = """() => [...document.querySelectorAll("#transcript time[datetime]")].every(({ title }) => title)"""


def articles(page: Page) -> str:
    """Return the HTML of all messages as serialized by the browser; it includes the state of opened folds.

    Before that, wait until the page's script has written all times in the reader's zone. The lines about numbers are
    left empty, because they are filled when they are seen.
    """
    page.wait_for_function(TIMES_ARE_LOCAL)
    html: str = page.evaluate("""[...document.querySelectorAll('#transcript article')].map((article) => {
        const copy = article.cloneNode(true);
        const line = copy.querySelector('.numbers');
        line?.replaceChildren();
        line?.removeAttribute('data-traced');
        return copy.outerHTML;
    }).join('')""")
    return html


def change_settings(page: Page, **values: str) -> None:
    """Change settings of the open conversation by a request, since the page does not offer the emulator's scenarios."""
    match = re.match(r"(https?://[^/]+)/c/[0-9a-f-]+/", page.url)
    assert match
    token = next(cookie["value"] for cookie in page.context.cookies() if cookie.get("name") == "csrftoken")
    headers = {"X-CSRFToken": token, "Referer": match[1], "Accept": "text/plain"}
    response = page.request.post(f"{match[0]}settings/", form=dict(values), headers=headers)
    assert response.status == 204, response.text()
