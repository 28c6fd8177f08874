"""The review pages of the admin: the queue, verdicts by keyboard, narrow windows, and the page of readers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.database import run_in_shell
from tests.live_server import LiveServer

pytestmark = pytest.mark.drill

QUEUE = "/admin/chat/conversation/?user=asker"
ENTRIES = "#result_list tbody tr"
REVIEW_STATE = "#verdict .review-state .state"
SCREENSHOTS = os.environ.get("PLOTLINE_TEST_SCREENSHOTS", "")
"""Folder for screenshots of the pages; empty for none."""

#: Makes the user `demo` a reviewer, with three conversations of another user in the queue.
CREATE_QUEUE = """
from django.contrib.auth.models import Group
from chat.models import User
from attachments.store import NewAttachment, create_attachments
from chat.models import Review, ReviewDecision
from chat.vocabulary.parts import (PartKind)
from tests.factories import attach, make_conversation, make_model_message, make_user
from tests.chat.library.exports.samples import png
demo = User.objects.get(username="demo")
demo.is_staff = True
demo.save()
demo.groups.add(Group.objects.get(name="Reviewer"))
asker = make_user("asker")
hostile = "<script>document.title = 'run'</script><img src=x onerror=document.title='run'>"
for number, title in enumerate(["Primes below fifty", hostile, "Rainfall of the last ten years"]):
    conversation = make_conversation(asker, title=title)
    message = make_model_message(conversation, parts=[
        (PartKind.THOUGHT, "The user wants a figure."),
        (PartKind.TEXT, "Here **they** are."),
        (PartKind.EXECUTABLE_CODE, "import matplotlib.pyplot as plt\\nplt.plot([1, 3, 2])\\nplt.show()"),
        (PartKind.CODE_EXECUTION_RESULT, "2 3 5 7 11\\n"),
        (PartKind.TEXT, hostile),
    ])
    graph = NewAttachment(owner_id=asker.pk, data=png(size=(320, 200)), name="primes.png", mime_type="image/png",
                          width=320, height=200, is_graph=True)
    [graph] = create_attachments([graph])
    attach(message, graph, part_index=3)
    make_model_message(conversation, status="failed", error_code="overloaded", error_detail="503 " + hostile)
labels = ["maths", hostile[:40]]
Review.objects.decide([conversation.pk], demo, ReviewDecision.TAKEN, note="Look at " + hostile, labels=labels)
"""

DELETE_QUEUE = """
from chat.models import Conversation, User
from chat.models.deletion import delete_conversation
for conversation in Conversation.objects.filter(owner__username="asker"):
    delete_conversation(conversation)
User.objects.filter(username="asker").delete()
User.objects.filter(username="demo").update(is_staff=False)
"""


@pytest.fixture(scope="module", autouse=True)
def _queue(server: LiveServer) -> Iterator[None]:
    run_in_shell(server, CREATE_QUEUE)
    yield
    run_in_shell(server, DELETE_QUEUE)


@pytest.fixture
def reviewer(context: BrowserContext) -> Page:
    """Open a tab."""
    return context.new_page()


def take_screenshot(page: Page, name: str) -> None:
    """Save a screenshot of the whole page, if a folder for screenshots is given."""
    if SCREENSHOTS:
        page.screenshot(path=Path(SCREENSHOTS) / f"{name}.png", full_page=True)


def press_shortcut(page: Page, key: str) -> None:
    """Press a key after the page's script has loaded, which then shows the button `Keys`."""
    expect(page.locator("button[data-keys]")).to_be_visible()
    page.keyboard.press(key)


def test_reviewer_can_copy_code_with_a_button(reviewer: Page, server: LiveServer) -> None:
    reviewer.context.grant_permissions(["clipboard-read", "clipboard-write"])
    reviewer.goto(server.url + QUEUE)
    reviewer.locator(f"{ENTRIES} th a").first.click()
    code = reviewer.locator("#transcript [data-part-kind=executable_code]").first
    code.locator("summary").click()
    code.get_by_role("button", name="Copy").click()
    expect(code.get_by_role("button", name="Copied")).to_be_visible()
    assert reviewer.evaluate("navigator.clipboard.readText()").startswith("import matplotlib")


def test_reviewer_can_review_the_queue_with_keys_alone(reviewer: Page, server: LiveServer) -> None:
    page = reviewer
    page.goto(server.url + QUEUE)
    expect(page.locator(ENTRIES)).to_have_count(3)
    take_screenshot(page, "queue")
    page.keyboard.press("j")
    page.keyboard.press("n")
    expect(page.locator(f"{ENTRIES} th a").nth(1)).to_be_focused()
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Rainfall of the last ten years")
    expect(page.locator("figure[data-graph-index] img")).to_have_js_property("naturalWidth", 320)
    take_screenshot(page, "review")
    press_shortcut(page, "n")
    expect(page.locator("h1")).to_contain_text("<script>")
    press_shortcut(page, "a")
    expect(page.locator(REVIEW_STATE)).to_have_text("approved")
    expect(page.locator(".messagelist")).to_contain_text("you approved it")
    press_shortcut(page, "f")
    expect(page.locator(REVIEW_STATE)).to_have_text("flagged")
    expect(page.locator("#history li")).to_have_count(2)
    # In a text field, the keys type letters.
    press_shortcut(page, "e")
    page.keyboard.type("nap? a/f")
    expect(page.locator("#note")).to_have_value("nap? a/f")
    page.locator("#note").blur()
    press_shortcut(page, "?")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("n")
    page.keyboard.press("Escape")
    expect(page.locator("h1")).to_contain_text("<script>")
    page.click("[data-label=maths]")
    page.click("[data-verdict=noted]")
    expect(page.locator("#history li").first).to_contain_text("nap? a/f")
    expect(page.locator("#labels")).to_have_value("maths")
    page.click("text=As sent")
    expect(page.locator(".sent-part[data-kind=executable_code] pre").first).to_contain_text("import matplotlib")
    take_screenshot(page, "as-sent")
    press_shortcut(page, "p")
    expect(page.locator("h1")).to_have_text("Rainfall of the last ten years")
    press_shortcut(page, "u")
    expect(page).to_have_url(re.compile(r"user=asker"))
    expect(page.locator(f"{ENTRIES} .state")).to_have_text(["in review", "flagged", "unreviewed"])
    assert page.title() != "run"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_review_pages_fit_the_screen_of_a_phone(
    reviewer: Page, server: LiveServer, scheme: Literal["light", "dark"]
) -> None:
    page = reviewer
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(server.url + QUEUE)
    take_screenshot(page, f"queue-1280-{scheme}")
    # The layout is final once all style sheets have been loaded; a click alone does not wait for that.
    with page.expect_navigation(wait_until="load"):
        page.click(f"{ENTRIES} >> nth=0 >> th a")
    take_screenshot(page, f"review-1280-{scheme}")
    page.set_viewport_size({"width": 400, "height": 800})
    take_screenshot(page, f"review-400-{scheme}")
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.goto(server.url + QUEUE)
    take_screenshot(page, f"queue-400-{scheme}")
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
