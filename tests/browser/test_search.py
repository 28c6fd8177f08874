"""The search box and the list of conversations: typing, keyboard, phone, and browsers without scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.actions import articles
from tests.browser.database import run_in_shell
from tests.live_server import LiveServer
from tests.polling import wait_until

pytestmark = pytest.mark.drill

BOX = "#search-box"
ENTRIES = "#conversations li:not(.heading)[id]"
RESULTS = "#conversations li.found"

#: Creates more than two pages of the list, with one conversation that the searches match.
CREATE_CONVERSATIONS = """
from chat.models import User
from chat.models import Conversation, Message
owner = User.objects.get(username="demo")
for number in range(90):
    Conversation.objects.create(owner=owner, title=f"Filling {number}")
conversation = Conversation.objects.create(owner=owner, title="Weather of May")
parent = None
for index in range(40):
    text = "我想要一个<b>图表</b>" if index == 3 else "Something else. " * 40
    parent = Message.objects.create(conversation=conversation, parent=parent, index=index, role="user", text=text)
"""

CREATE_ANSWER = """
from chat.models import User
from chat.vocabulary.parts import PartKind
from tests.factories import make_conversation, make_model_message
owner = User.objects.get(username="demo")
text = "Crème BRÛLÉE in *three* words.\\n\\nCremers: three bruised `words` for `brunch`."
make_model_message(make_conversation(owner, title="Dessert"), parts=[(PartKind.TEXT, text)])
"""

CREATE_HITS = """
from chat.models import User
from tests.factories import make_conversation, make_user_message
conversation = make_conversation(User.objects.get(username="demo"), title="Hits")
for text in ("12 is an answer", "Answer 129.", "An answer, 129.\\n\\nAnswer 12. is here. C++ C قَوَاعِدَ 👍🏽 kıl"):
    make_user_message(conversation, text)
"""

DELETE_CONVERSATIONS = """
from chat.models import Conversation
Conversation.objects.filter(title__startswith="Filling").delete()
"""


@pytest.fixture(scope="module", autouse=True)
def _many_conversations(server: LiveServer) -> Iterator[None]:
    run_in_shell(server, CREATE_CONVERSATIONS)
    yield
    run_in_shell(server, DELETE_CONVERSATIONS)


def test_search_results_update_while_typing_and_arrow_keys_select_a_result(page: Page) -> None:
    page.locator("#scroller").focus()
    page.keyboard.press("/")
    expect(page.locator(BOX)).to_be_focused()
    page.keyboard.insert_text("图表")
    expect(page.locator(RESULTS)).to_have_count(1)
    expect(page.locator(f"{RESULTS} .title")).to_have_text("Weather of May")
    expect(page.locator(f"{RESULTS} .excerpt mark")).to_have_text("图表")
    expect(page.locator(f"{RESULTS} .excerpt")).to_have_text("我想要一个<b>图表</b>")
    page.keyboard.press("Escape")
    expect(page.locator(RESULTS)).to_have_count(0)
    expect(page.locator(ENTRIES)).to_have_count(40)
    expect(page.locator(f'{ENTRIES} a[aria-current="page"]')).to_have_count(1)
    page.keyboard.type("weath of")
    expect(page.locator(f"{RESULTS} mark")).to_have_text(["Weath", "of"])
    page.fill(BOX, "图")
    expect(page.locator(f"{RESULTS} .excerpt mark")).to_have_text("图")
    page.keyboard.press("ArrowDown")
    expect(page.locator(f"{RESULTS} a")).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(page.locator(BOX)).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("&q=%E5%9B%BE#message-"))
    expect(page.locator("#conversation-title")).to_have_text("Weather of May")
    expect(page.get_by_text("我想要一个")).to_be_in_viewport()


def test_words_of_the_search_are_marked_in_the_message_that_its_result_leads_to(page: Page, server: LiveServer) -> None:
    run_in_shell(server, CREATE_ANSWER)
    page.fill(BOX, '"creme" bru "THREE words"')
    page.locator(f"{RESULTS} a").click()
    page.wait_for_url(re.compile("#message-"))

    def marked() -> list[str]:
        found: list[str] = page.evaluate("[...(CSS.highlights.get('found') ?? [])].map(String)")
        return found

    # Without case and accents; beginnings of words only for terms without quotes; a phrase with markup in between.
    wait_until(lambda: marked() == ["Crème", "BRÛ", "three words", "bru", "bru"])
    html = articles(page)
    page.goto(re.sub(r"&q=[^#]*", "", page.url))
    expect(page.locator("article")).to_have_count(2)
    assert marked() == []
    assert articles(page) == html


def test_links_lead_to_each_match_of_the_search_in_turn(page: Page, server: LiveServer) -> None:
    run_in_shell(server, CREATE_HITS)
    page.fill(BOX, "Answer 12.")
    page.locator(f"{RESULTS} a").click()
    page.wait_for_url(re.compile("#message-"))

    def current() -> str:
        ranges = "[...(CSS.highlights.get('current') ?? [])]"
        start = "(range) => range.startContainer.data.slice(range.startOffset, range.startOffset + 10)"
        text: str = page.evaluate(f"{ranges}.map({start}).join()")
        return text

    # The phrase is the best match; the beginning of "Answer 129" is none.
    wait_until(lambda: current() == "Answer 12.")
    expect(page.locator("#hits")).to_contain_text("Message 2 of 2")
    page.click("#hits [rel=next]")
    wait_until(lambda: current() == "12. is her")
    page.click("#hits [rel=next]")
    wait_until(lambda: current() == "12 is an a")
    # The keys work in the empty message box, which has the focus, but leave text in it alone.
    with page.expect_navigation():
        page.keyboard.press("Alt+ArrowUp")
    wait_until(lambda: current() == "12. is her")
    page.keyboard.press("Alt+ArrowUp")
    wait_until(lambda: current() == "Answer 12.")
    page.fill("#text", "a draft")
    page.keyboard.press("Alt+ArrowDown")
    assert current() == "Answer 12."
    page.fill("#text", "")
    page.keyboard.press("Alt+ArrowDown")
    wait_until(lambda: current() == "12. is her")
    page.goto(re.sub(r"q=[^&#]*", "q=c%2B%2B%20%D9%82%D9%88%D8%A7%D8%B9%D8%AF%20%F0%9F%91%8D%20kil", page.url))
    marked = "[...(CSS.highlights.get('found') ?? [])].map(String)"
    wait_until(lambda: page.evaluate(marked) == ["C++", "قَوَاعِدَ", "👍🏽", "kıl"])


def test_slash_key_focuses_the_search_box_unless_a_text_field_has_the_focus(page: Page) -> None:
    page.focus("form#composer textarea[name=text]")
    page.keyboard.press("/")
    expect(page.locator("form#composer textarea[name=text]")).to_have_value("/")
    page.locator("#scroller").focus()
    page.keyboard.press("/")
    expect(page.locator(BOX)).to_be_focused()
    expect(page.locator(BOX)).to_have_value("")
    page.keyboard.type("qqqq")
    expect(page.locator("#conversations")).to_contain_text("Nothing was found for “qqqq”.")
    expect(page.locator("#announcer")).to_contain_text("Nothing was found")


def test_command_palette_finds_commands_and_conversations_by_their_words(page: Page) -> None:
    found = page.locator("#command-list :is(a, button)")
    page.keyboard.press("Control+k")
    expect(page.locator("#commands input")).to_be_focused()
    page.keyboard.insert_text("keyboard shortcuts")
    page.keyboard.press("Enter")
    expect(page.locator("#shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    expect(page.locator("#commands input")).to_be_focused()
    page.keyboard.insert_text("图表")
    expect(found).to_have_text(re.compile("Weather of May"))
    page.keyboard.press("ArrowDown")
    expect(found).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#conversation-title")).to_contain_text("Weather of May")
    expect(page.locator("#commands")).to_have_count(0)


def test_list_loads_the_next_page_when_scrolled_to_its_end(page: Page) -> None:
    expect(page.locator(ENTRIES)).to_have_count(40)
    page.locator("#conversations").evaluate("list => { list.scrollTop = list.scrollHeight }")
    expect(page.locator(ENTRIES)).to_have_count(80)
    ids = page.locator(ENTRIES).evaluate_all("entries => entries.map((entry) => entry.id)")
    assert len(set(ids)) == 80


def test_shortcut_opens_the_drawer_on_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    page.click("[data-action=open-sidebar]")
    expect(page.locator("#sidebar .brand")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#sidebar")).to_be_hidden()
    page.locator("#scroller").focus()
    page.keyboard.press("/")
    expect(page.locator(BOX)).to_be_focused()
    page.keyboard.type("filling")
    expect(page.locator(RESULTS)).to_have_count(20)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    page.keyboard.press("Escape")
    expect(page.locator(RESULTS)).to_have_count(0)
    expect(page.locator("#sidebar")).to_have_attribute("data-open", "")
    page.keyboard.press("Escape")
    expect(page.locator("#sidebar")).not_to_have_attribute("data-open", "")
