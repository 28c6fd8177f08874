"""Review in real Chromium: from the queue through conversations by keys, on a desk and on a phone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.live_server import ROOT, LiveServer, environment

QUEUE = "/admin/chat/conversation/?user=asker"
ENTRIES = "#result_list tbody tr"
STANDING = "#verdict .standing .state"
SHOTS = os.environ.get("PLOTLINE_TEST_SHOTS", "")
"""A folder for pictures of the pages, for a person's eyes."""

FILL = """
from django.contrib.auth.models import Group, User
from attachments.store import new_pending
from chat.models import Decision, Review
from chat.parts import PartKind
from tests.factories import attach, make_conversation, make_model_message, make_user
from tests.chat.exports.building import png
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
    graph = new_pending(owner_id=asker.pk, data=png(size=(320, 200)), name="primes.png", mime_type="image/png",
                        width=320, height=200, is_graph=True)
    attach(message, graph, part_index=3)
    make_model_message(conversation, status="failed", error_code="overloaded", error_detail="503 " + hostile)
labels = ["maths", hostile[:40]]
Review.objects.decide([conversation.pk], demo, Decision.TAKEN, note="Look at " + hostile, labels=labels)
"""

READ = """
from django.contrib.auth.models import User
from chat.models import AccessEntry, Conversation
demo = User.objects.get(username="demo")
conversation = Conversation.objects.create(owner=demo, title="Rain")
AccessEntry.objects.note(demo, [conversation], "read", reason="Reported by its user")
conversation.delete_with_attachments()
"""

EMPTY = """
from django.contrib.auth.models import User
from chat.models import Conversation
for conversation in Conversation.objects.filter(owner__username="asker"):
    conversation.delete_with_attachments()
User.objects.filter(username="asker").delete()
User.objects.filter(username="demo").update(is_staff=False)
"""


def run(server: LiveServer, script: str) -> None:
    """In the server's own database."""
    command = [sys.executable, "manage.py", "shell", "-v0", "-c", script]
    subprocess.run(command, cwd=ROOT, env=environment(server.var_dir), check=True, capture_output=True)


@pytest.fixture(scope="module", autouse=True)
def _queue(server: LiveServer) -> Iterator[None]:
    run(server, FILL)
    yield
    run(server, EMPTY)


@pytest.fixture
def reviewer(context: BrowserContext) -> Iterator[Page]:
    """A page whose script errors and CSP reports fail the test."""
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    yield page
    assert complaints == []


def shoot(page: Page, name: str) -> None:
    if SHOTS:
        page.screenshot(path=Path(SHOTS) / f"{name}.png", full_page=True)


def press(page: Page, key: str) -> None:
    """Once the page listens: its button for keys shows then."""
    expect(page.locator("button[data-keys]")).to_be_visible()
    page.keyboard.press(key)


def test_reviewer_works_through_the_queue_by_keys(reviewer: Page, server: LiveServer) -> None:
    page = reviewer
    page.goto(server.url + QUEUE)
    expect(page.locator(ENTRIES)).to_have_count(3)
    shoot(page, "queue")
    page.keyboard.press("j")
    page.keyboard.press("n")
    expect(page.locator(f"{ENTRIES} th a").nth(1)).to_be_focused()
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Rainfall of the last ten years")
    expect(page.locator("figure[data-graph-index] img")).to_have_js_property("naturalWidth", 320)
    shoot(page, "page")
    press(page, "n")
    expect(page.locator("h1")).to_contain_text("<script>")
    press(page, "a")
    expect(page.locator(STANDING)).to_have_text("approved")
    expect(page.locator(".messagelist")).to_contain_text("you approved it")
    press(page, "f")
    expect(page.locator(STANDING)).to_have_text("flagged")
    expect(page.locator("#history li")).to_have_count(2)
    # Who writes wants letters.
    press(page, "e")
    page.keyboard.type("nap? a/f")
    expect(page.locator("#note")).to_have_value("nap? a/f")
    page.locator("#note").blur()
    press(page, "?")
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
    shoot(page, "as-sent")
    press(page, "p")
    expect(page.locator("h1")).to_have_text("Rainfall of the last ten years")
    press(page, "u")
    expect(page).to_have_url(re.compile(r"user=asker"))
    expect(page.locator(f"{ENTRIES} .state")).to_have_text(["in review", "flagged", "unreviewed"])
    assert page.title() != "run"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_a_phone(reviewer: Page, server: LiveServer, scheme: str) -> None:
    page = reviewer
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(server.url + QUEUE)
    shoot(page, f"queue-1280-{scheme}")
    page.click(f"{ENTRIES} >> nth=0 >> th a")
    shoot(page, f"page-1280-{scheme}")
    page.set_viewport_size({"width": 400, "height": 800})
    shoot(page, f"page-400-{scheme}")
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    page.goto(server.url + QUEUE)
    shoot(page, f"queue-400-{scheme}")


def test_owner_sees_who_read(context: BrowserContext, server: LiveServer) -> None:
    run(server, READ)
    page = context.new_page()
    page.goto(f"{server.url}/")
    page.click(".account >> text=Readers")
    expect(page.locator("table.listing tbody tr").first).to_contain_text("Reported by its user")
    expect(page.locator("table.listing tbody tr").first).to_contain_text("Rain (deleted)")
    shoot(page, "readings")
    page.set_viewport_size({"width": 400, "height": 800})
    shoot(page, "readings-400")
