"""A conversation of many messages opens with the newest, loads more in both directions, and keeps the place in view."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.browser.actions import ANSWER, BOX, articles, ask, change_settings
from tests.browser.database import run_in_shell
from tests.live_server import LiveServer

pytestmark = pytest.mark.drill

CREATE = """
from chat.models import Part, User
from chat.vocabulary.parts import PartKind
from tests.factories import make_long_conversation
conversation = make_long_conversation(User.objects.get(username="demo"), messages=200, lines=3)
conversation.messages.filter(index=50).update(text="Message 50. A needle in the haystack.")
thinking = conversation.messages.get(index=151)
Part.objects.create(message=thinking, index=1, kind=PartKind.THOUGHT, text="I thought about it.")
"""
DELETE = 'from chat.models import Conversation\nConversation.objects.filter(title="A long one").delete()'
ARTICLES = "#transcript > article"
TEXTS = "() => [...document.querySelectorAll('#transcript > article .parts')].map((one) => one.textContent)"
BELOW = """() => {
  const { scrollHeight, scrollTop, clientHeight } = document.getElementById("scroller");
  return scrollHeight - scrollTop - clientHeight;
}"""
"""Returns the number of pixels below the view."""
TOP_OF = "(id) => document.getElementById(id).getBoundingClientRect().top"
SCROLL = """async (top) => {
  const scroller = document.getElementById("scroller");
  scroller.scrollTop = top;
  // Messages have their real heights from the frame on in which they are near the view.
  for (let frames = 0; frames < 4; frames += 1) await new Promise(requestAnimationFrame);
  const articles = [...document.querySelectorAll("#transcript > article")];
  return articles.find((article) => article.getBoundingClientRect().top > scroller.getBoundingClientRect().top).id;
}"""
"""Scrolls, and returns the id of the first message that is in view with its beginning."""


@pytest.fixture(scope="module")
def conversation_url(server: LiveServer) -> Iterator[str]:
    """The page of a conversation with 200 messages of three paragraphs."""
    run_in_shell(server, CREATE)
    [[pk]] = server.rows("SELECT id FROM chat_conversation WHERE title = 'A long one'")
    yield f"{server.url}/c/{uuid.UUID(pk)}/"
    run_in_shell(server, DELETE)


def open_page(page: Page, url: str) -> None:
    """Open a page, and wait until its socket has told the server what the page holds."""
    page.goto(url)
    page.wait_for_function("() => document.activeElement?.id === 'text'")


def message_id(server: LiveServer, conversation_url: str, index: int) -> str:
    pk = uuid.UUID(re.findall(r"[0-9a-f-]{36}", conversation_url)[0]).hex
    query = 'SELECT id FROM chat_message WHERE conversation_id = ? AND "index" = ? AND is_shown'
    [[found]] = server.rows(query, pk, str(index))
    return str(uuid.UUID(found))


def load_earlier(page: Page) -> None:
    """Scroll to the beginning of the loaded messages, and wait until earlier ones are loaded."""
    count = page.locator(ARTICLES).count()
    # Chromium drops the scroll of a key if the content changes before it begins.
    page.locator("#scroller").evaluate("scroller => { scroller.scrollTop = 0; }")
    expect(page.locator(ARTICLES)).not_to_have_count(count)


def test_page_opens_at_the_end_and_earlier_messages_are_loaded_without_moving_the_view(
    page: Page, conversation_url: str
) -> None:
    open_page(page, conversation_url)
    expect(page.locator(ARTICLES)).to_have_count(30)
    expect(page.locator(ARTICLES).last).to_be_in_viewport()
    expect(page.locator("#later")).to_be_hidden()
    seen = page.evaluate(SCROLL, 300)
    top = page.evaluate(TOP_OF, seen)
    expect(page.locator(ARTICLES)).to_have_count(60)
    expect(page.locator("#announcer")).to_have_text("30 earlier messages loaded.")
    assert abs(page.evaluate(TOP_OF, seen) - top) < 2

    # The link works by keyboard, too, and keeps the focus.
    page.locator("#earlier a").evaluate("link => link.focus({ preventScroll: true })")
    top = page.evaluate(TOP_OF, seen)
    page.keyboard.press("Enter")
    expect(page.locator(ARTICLES)).to_have_count(90)
    assert abs(page.evaluate(TOP_OF, seen) - top) < 2
    expect(page.locator("#earlier a")).to_be_focused()
    while page.locator("#earlier").is_visible():
        load_earlier(page)
    numbers = [int(text.split()[1].strip(".")) for text in page.evaluate(TEXTS)]
    assert numbers == list(range(200))


def test_thought_that_the_reader_opened_is_open_when_its_message_is_loaded_again(
    page: Page, conversation_url: str
) -> None:
    thoughts = page.locator('details[data-part-kind="thought"]')
    for is_open in (False, True):
        open_page(page, conversation_url)
        expect(thoughts).to_have_count(0)
        load_earlier(page)
        expect(thoughts).to_have_js_property("open", is_open)
        thoughts.evaluate("fold => { fold.open = true; }")


def test_search_result_opens_an_old_message_and_a_button_leads_back_to_the_latest(
    page: Page, conversation_url: str, server: LiveServer
) -> None:
    page.fill("#search-box", "needle haystack")
    with page.expect_navigation():
        page.locator(".found a").click()
    old = f"message-{message_id(server, conversation_url, 50)}"
    expect(page.locator(f"#{old}")).to_be_in_viewport()
    expect(page.locator("#earlier")).to_be_attached()
    expect(page.locator("#later")).to_be_visible()
    expect(page.locator("#jump")).to_be_visible()
    # Only the messages are scrolled, and not the page around them.
    assert page.evaluate("document.scrollingElement.scrollTop") == 0
    # A script scrolls instead of a key: see `load_earlier`.
    page.locator("#scroller").evaluate("scroller => { scroller.scrollTop = scroller.scrollHeight; }")
    expect(page.locator(f"#message-{message_id(server, conversation_url, 80)}")).to_be_attached()
    expect(page.locator("#later")).to_be_attached()
    with page.expect_navigation():
        page.click("#jump")
    expect(page.locator(ARTICLES)).to_have_count(30)
    expect(page.locator(ARTICLES).last).to_be_in_viewport()


def test_printed_page_says_that_messages_are_missing_and_the_export_has_all_of_them(
    page: Page, conversation_url: str
) -> None:
    open_page(page, conversation_url)
    note = page.locator("#print-note")
    expect(note).to_be_hidden()
    page.emulate_media(media="print")
    expect(note).to_have_text(re.compile("To print all of it, export it as HTML"))
    expect(note).to_be_visible()
    exported = page.request.get(f"{conversation_url}export/html/").text()
    assert exported.count("<article ") == 200


def test_page_at_an_old_message_scrolls_to_the_answer_of_a_new_question(
    page: Page, conversation_url: str, server: LiveServer
) -> None:
    open_page(page, f"{conversation_url}?message={message_id(server, conversation_url, 20)}")
    change_settings(page, model="scenario-text")
    page.fill(BOX, "A question from far up")
    with page.expect_navigation(url=conversation_url):
        page.press(BOX, "Enter")
    expect(page.locator(ANSWER).last).to_have_attribute("data-status", "done")
    expect(page.get_by_text("A question from far up", exact=True)).to_be_in_viewport()
    expect(page.locator(BOX)).to_have_value("")


def test_answer_is_streamed_while_earlier_messages_are_loaded(page: Page, conversation_url: str) -> None:
    open_page(page, conversation_url)
    change_settings(page, model="scenario-long-10")
    ask(page, "A long answer")
    expect(page.locator(ANSWER).last).to_have_attribute("data-status", "running")
    load_earlier(page)
    load_earlier(page)
    seen = page.evaluate(SCROLL, 4000)
    top = page.evaluate(TOP_OF, seen)
    expect(page.locator(ANSWER).last).to_have_attribute("data-status", "done")
    assert abs(page.evaluate(TOP_OF, seen) - top) < 2
    live, count = articles(page), page.locator(ARTICLES).count()
    page.reload()
    expect(page.locator(ARTICLES)).to_have_count(30)
    while page.locator(ARTICLES).count() < count:
        load_earlier(page)
    assert articles(page).endswith(live)


def test_page_that_was_scrolled_to_the_end_is_at_the_end_after_a_lost_connection(
    page: Page, conversation_url: str, server: LiveServer
) -> None:
    sockets: list[WebSocketRoute] = []
    is_away = False

    def relay(socket: WebSocketRoute) -> None:
        sockets.append(socket)
        if is_away:
            socket.close()
        else:
            socket.connect_to_server()

    page.route_web_socket(re.compile("/ws/"), relay)
    open_page(page, conversation_url)
    change_settings(page, model="scenario-long-10")
    ask(page, "Another long answer")
    answer = page.locator(ANSWER).last
    expect(answer).to_have_attribute("data-status", "running")
    is_away = True
    sockets[-1].close()
    # The answer grows while the page is not connected. `wait_for_timeout` lets Playwright refuse its attempts.
    while server.rows("SELECT 1 FROM chat_turn WHERE status = 'running'"):
        page.wait_for_timeout(100)
    is_away = False
    expect(answer).to_have_attribute("data-status", "done")
    expect(page.locator("#jump")).to_be_hidden()
    assert page.evaluate(BELOW) < 2
