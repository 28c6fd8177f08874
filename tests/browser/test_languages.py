"""Pages in other languages: the choice in the settings, no English words left over, times in the reader's zone, and
text that is written from the right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, StorageState, expect

from tests.browser.actions import ANSWER, ask, ask_and_wait
from tests.browser.axe import findings
from tests.browser.sample_conversations import RICH_ID
from tests.live_server import LiveServer, Visitor

pytestmark = pytest.mark.drill

PASSWORD = "a long password 7"
PATHS = (
    "/accounts/profile/",
    "/accounts/appearance/",
    "/accounts/defaults/",
    "/accounts/password/change/",
    "/accounts/two-step/",
    "/accounts/logins/",
    "/accounts/tokens/",
    "/accounts/usage/",
    "/accounts/readings/",
    "/accounts/delete/",
    "/accounts/logout/",
    "/conversations/",
    "/gallery/",
    "/import/",
    "/projects/",
    "/shares/",
)
ADMIN_PATHS = (
    "/admin/",
    "/admin/overview/",
    "/admin/python-service/",
    "/admin/chat/",
    "/admin/chat/conversation/?q=Waiting+decision",
    f"/admin/chat/conversation/{RICH_ID}/change/?as=sent",
    "/admin/chat/languagemodel/",
    "/admin/chat/languagemodel/add/",
    "/admin/chat/preset/add/",
    "/admin/chat/modelendpoint/add/",
    "/admin/chat/instruction/",
    "/admin/chat/quota/add/",
    "/admin/chat/quotause/",
    "/admin/chat/project/",
    "/admin/chat/turn/",
    "/admin/chat/pythonsession/",
    "/admin/chat/accessentry/",
    "/admin/chat/message/",
    "/admin/attachments/attachment/",
    "/admin/attachments/pendingupload/",
    "/admin/attachments/objectdeletion/",
)
ADMIN_CONTENT = ("The graph is wrong", "Look at it.", "Waiting for a decision", "Reported by its user")
"""Texts that the people and reviewers of the sample conversations wrote."""
# Recent actions of the admin name the objects in the language of the person who acted.
TEXTS = """root => {
    const texts = [];
    const walk = (node) => {
        if (node.nodeType === Node.TEXT_NODE) texts.push(node.textContent.trim());
        if (node.nodeType !== Node.ELEMENT_NODE) return;
        if (node.matches("script, code, pre, kbd, bdi, svg, [lang]:not(html), .actionlist li")) return;
        for (const name of ["aria-label", "title", "placeholder", "alt"]) texts.push(node.getAttribute(name) ?? "");
        node.childNodes.forEach(walk);
    };
    walk(root);
    return [...new Set(texts)].filter(Boolean);
}"""
AT_THE_RIGHT = """paragraph => {
    const range = document.createRange();
    range.selectNodeContents(paragraph);
    return Math.abs(range.getBoundingClientRect().right - paragraph.getBoundingClientRect().right) < 2;
}"""
ENGLISH = re.compile(
    r"\b(?:the|of|is|are|and|to|your|you|with|for|this|that|from|have|can|be|it|by|or|what|all|show|make|answers?|questions?"
    r"|files?|runs?|rows?|columns?|lines?|conversations?|settings|messages?)\b",
    re.IGNORECASE,
)
ENGLISH_WORDS_OF_GERMAN = frozenset({"All", "was", "Was"})
LATIN = re.compile(r"[A-Za-z]{3,}")
CHINESE = re.compile("[\u4e00-\u9fff]")
NAMES = re.compile(
    r"`[^`]+`|Plotline|REST API|JSON|CSV|PDF|Word|Markdown|Jupyter|HTML|Python|gemini|token|English|Deutsch|UTC"
    r"|endpoint-model|reader-\S+|scenario-\S+|sin|df\.describe\(\)",
    re.IGNORECASE,
)


@contextmanager
def window(
    browser: Browser, server: LiveServer, username: str, locale: str, zone: str = "Europe/Berlin"
) -> Iterator[Page]:
    """Open a window of a new account whose browser asks for a language."""
    Visitor.signed_up(server, username, PASSWORD)
    context = browser.new_context(locale=locale, timezone_id=zone, viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.goto(f"{server.url}/accounts/login/")
    page.fill("input[name=login]", username)
    page.fill("input[name=password]", PASSWORD)
    page.click("button[type=submit]")
    page.wait_for_selector("form#composer")
    yield page
    context.close()


def left_over(page: Page, locale: str) -> list[str]:
    """Return texts of the page that are in English."""
    texts = [text for text in page.locator("html").evaluate(TEXTS) if not text.startswith("http")]
    if locale == "de-DE":
        return [text for text in texts if set(ENGLISH.findall(NAMES.sub("", text))) - ENGLISH_WORDS_OF_GERMAN]
    return [text for text in texts if LATIN.search(NAMES.sub("", text)) and not CHINESE.search(text)]


@pytest.mark.parametrize(("locale", "language"), [("de-DE", "de"), ("zh-CN", "zh-Hans")])
def test_no_page_in_another_language_has_an_english_word(
    browser: Browser, server: LiveServer, locale: str, language: str
) -> None:
    with window(browser, server, f"reader-tour-{language}", locale) as page:
        found = {}
        for path in PATHS:
            page.goto(server.url + path)
            expect(page.locator("html")).to_have_attribute("lang", language)
            found[path] = left_over(page, locale)
        page.goto(server.url)
        found["empty"] = left_over(page, locale)
        page.locator("#empty button[data-prompt]").first.click()
        expect(page.locator(ANSWER)).to_have_attribute("data-status", "done")
        found["conversation"] = left_over(page, locale)
        entry = page.locator("#conversations li:has([aria-current])")
        entry.hover()
        entry.locator('button[data-action="entry-menu"]').click()
        expect(page.locator("#entry-menu")).to_be_visible()
        found["menu"] = left_over(page, locale)
        assert {path: texts for path, texts in found.items() if texts} == {}


def test_no_page_of_the_admin_in_another_language_has_an_english_word(
    browser: Browser, server: LiveServer, reader_state: StorageState
) -> None:
    context = browser.new_context(locale="de-DE", storage_state=reader_state)
    page = context.new_page()
    found = {}
    for path in ADMIN_PATHS:
        page.goto(server.url + path)
        expect(page.locator("html")).to_have_attribute("lang", "de")
        found[path] = [text for text in left_over(page, "de-DE") if not any(own in text for own in ADMIN_CONTENT)]
    context.close()
    assert {path: texts for path, texts in found.items() if texts} == {}


def test_times_are_shown_in_the_time_zone_of_the_readers_browser(browser: Browser, server: LiveServer) -> None:
    with window(browser, server, "reader-zone", "de-DE", "Asia/Kolkata") as page:
        answer = ask_and_wait(page, "Zeichne eine Sinuskurve")
        time = answer.locator(".about summary time")
        expect(time).to_have_text(re.compile(r"^\d{2}\.\d{2}\.\d{4}, \d{2}:\d{2}$"))
        shown = time.evaluate("""element => {
            const at = new Date(element.dateTime);
            const local = new Date(at.getTime() + 5.5 * 3600_000).toISOString().slice(11, 16);
            return element.textContent.endsWith(local);
        }""")
        assert shown
        expect(time).to_have_attribute("title", re.compile("GMT\\+5:30|Indi"))


@pytest.mark.parametrize("text", ["ارسم موجة جيبية", "צייר גל סינוס"])
def test_right_to_left_text_is_laid_out_from_right_to_left(browser: Browser, server: LiveServer, text: str) -> None:
    with window(browser, server, f"reader-rtl-{len(text)}", "en-US") as page:
        page.fill("#text", text)
        assert page.locator("#text").evaluate("box => getComputedStyle(box).direction") == "rtl"
        ask(page, f"{text}\n\nsecond paragraph in English")
        said = page.locator(".said")
        expect(said).to_be_visible()
        assert said.evaluate("box => getComputedStyle(box).direction") == "rtl"
        first, second = said.locator("p").all()
        assert first.evaluate(AT_THE_RIGHT)
        assert second.evaluate("p => getComputedStyle(p).unicodeBidi") == "plaintext"
        title = page.locator("#conversation-title")
        expect(title).to_contain_text(text)
        assert title.evaluate("box => getComputedStyle(box).direction") == "rtl"
        assert page.locator(".main, main").first.evaluate("box => getComputedStyle(box).direction") == "ltr"


def test_axe_finds_no_error_on_german_pages(browser: Browser, server: LiveServer) -> None:
    with window(browser, server, "reader-axe", "de-DE") as page:
        ask_and_wait(page, "Zeichne eine Sinuskurve")
        assert findings(page) == []
        page.goto(f"{server.url}/accounts/appearance/")
        assert findings(page) == []
