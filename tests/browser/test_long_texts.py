"""An answer of 4 MB: its page is usable soon, and no task stops the browser while it is read, searched and scrolled."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from bench.page_scripts import IS_INTERACTIVE, OBSERVE_PAGE, READ_OPENING
from tests.browser.database import run_in_shell
from tests.conftest import Shown
from tests.live_server import LiveServer

pytestmark = pytest.mark.drill

INTERACTIVE_LIMIT_MS = 2_000
TASK_LIMIT_MS = 200

CREATE = """
from chat.models import User
from chat.vocabulary.parts import PartKind
from tests.factories import make_conversation, make_model_message
conversation = make_conversation(User.objects.get(username="demo"), title="A huge one")
lines = [f"Paragraph {number} is *short*, and has `code` and $x_{{{number}}}$." for number in range(60_000)]
lines[30_000] = "Here is the quokka."
make_model_message(conversation, parts=[(PartKind.TEXT, "\\n\\n".join(lines))])
"""
SCROLL = """async (top) => {
  const scroller = document.getElementById("scroller");
  for (let step = 0; step < 12; step += 1) {
    scroller.scrollTop += top;
    for (let frames = 0; frames < 10; frames += 1) await new Promise(requestAnimationFrame);
  }
}"""
"""Scrolls by so many pixels, twelve times, while groups of blocks are loaded."""


@pytest.fixture(scope="module")
def conversation_url(server: LiveServer) -> Iterator[str]:
    """The page of a conversation with one answer of 60,000 paragraphs."""
    run_in_shell(server, CREATE)
    [[pk]] = server.rows("SELECT id FROM chat_conversation WHERE title = 'A huge one'")
    yield f"{server.url}/c/{uuid.UUID(pk)}/"
    run_in_shell(
        server, 'from chat.models import Conversation\nConversation.objects.filter(title="A huge one").delete()'
    )


@pytest.fixture
def observed_page(context: BrowserContext) -> Page:
    """A page that records when it can be used, and its long tasks."""
    context.add_init_script(OBSERVE_PAGE)
    return context.new_page()


def check_tasks(page: Page, shown: Shown, name: str) -> None:
    """Check that the page could be used soon, and that no task since its opening was long."""
    opening = page.evaluate(READ_OPENING)
    longest = max(opening["longTasks"], default=0)
    shown(f"answer of 4 MB, {name}: interactive after {opening['box']:.0f} ms, longest task {longest:.0f} ms")
    assert opening["box"] < INTERACTIVE_LIMIT_MS
    assert longest < TASK_LIMIT_MS


def test_huge_answer_can_be_read_soon_and_scrolled_without_long_tasks(
    observed_page: Page, conversation_url: str, shown: Shown
) -> None:
    observed_page.goto(conversation_url)
    observed_page.wait_for_function(IS_INTERACTIVE)
    expect(observed_page.get_by_text("Paragraph 59999 is")).to_be_visible()
    check_tasks(observed_page, shown, "opened")
    observed_page.evaluate(SCROLL, -4_000)
    check_tasks(observed_page, shown, "scrolled")


def test_search_leads_into_a_huge_answer(
    observed_page: Page, server: LiveServer, conversation_url: str, shown: Shown
) -> None:
    [[pk]] = server.rows("SELECT m.id FROM chat_message m WHERE m.text LIKE '%quokka%'")
    observed_page.goto(f"{conversation_url}?message={uuid.UUID(pk)}&q=quokka#message-{uuid.UUID(pk)}")
    observed_page.wait_for_function(IS_INTERACTIVE)
    expect(observed_page.get_by_text("Here is the quokka.")).to_be_in_viewport()
    observed_page.evaluate(SCROLL, 4_000)
    check_tasks(observed_page, shown, "searched and scrolled")
