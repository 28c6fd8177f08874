"""An answer that waits for a decision counts as live: it can be stopped, and no other answer can be started."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.actions import ANSWER, BOX
from tests.browser.database import run_in_shell
from tests.live_server import LiveServer

pytestmark = pytest.mark.drill

#: Adds a question and an answer that waits for a decision to a conversation.
CREATE_WAITING_TURN = """
from django.utils import timezone
from chat.messages.changes import ApprovalRequested, PartStarted
from chat.messages.log import to_row
from chat.models import Conversation, Message, Turn, TurnEvent
from chat.vocabulary.parts import (FunctionCall)
conversation = Conversation.objects.get(pk="{conversation_id}")
question = Message.objects.create(conversation=conversation, index=0, role="user", text="Run it")
answer = Message.objects.create(conversation=conversation, parent=question, index=1, role="model")
now = timezone.now()
turn = Turn.objects.create(
    conversation=conversation, user_message=question, message=answer, status="waiting", provider="gemini",
    model="plotline-demo", created_at=now, started_at=now, first_part_at=now,
)
changes = [PartStarted(0, FunctionCall("run_python", {{"code": "1"}}, "call-1")), ApprovalRequested("call-1")]
for seq, (name, data) in enumerate(map(to_row, changes), start=1):
    TurnEvent.objects.create(turn=turn, seq=seq, name=name, data=data)
"""


def test_answer_that_waits_for_a_decision_is_live_until_it_is_stopped(page: Page, server: LiveServer) -> None:
    match = re.search(r"/c/([0-9a-f-]{36})/", page.url)
    assert match
    run_in_shell(server, CREATE_WAITING_TURN.format(conversation_id=match[1]))
    page.reload()
    answer = page.locator(ANSWER)
    expect(answer).to_have_attribute("data-status", "waiting")
    expect(answer.locator(".status")).to_contain_text("Waiting for you.")
    expect(page.locator('#composer button[type="submit"]')).to_be_hidden()
    for action in ("edit", "regenerate", "continue"):
        expect(page.locator(f'#transcript button[data-action="{action}"]:visible')).to_have_count(0)
    page.fill(BOX, "Another question")
    page.press(BOX, "Enter")
    expect(page.locator("#composer-note")).to_contain_text("waits for your decision")
    page.click('#composer button[data-action="stop"]')
    expect(answer).to_have_attribute("data-status", "stopped")
