"""Tokens of answers whose provider reports none: they are estimated, shown as an estimate, and never counted as 0."""

from __future__ import annotations

import pytest
from channels.db import database_sync_to_async
from django.utils import timezone
from pytest_django import Settings

from chat.answering.turns.runner import Runner, start_turn, stop_turn
from chat.models import Conversation, QuotaUse, Turn
from chat.people.quotas.usage import UncountedAnswers, uncounted_answers
from tests.chat.answering.tools.recording_tools import UseTools
from tests.chat.answering.turns.test_openai_tool_loop import conversation_at
from tests.chat.turn_driver import Tab, ask_and_wait, fresh_page, make_question
from tests.openai_server.server import StandInServer

pytestmark = pytest.mark.django_db(transaction=True)


async def assert_estimated(conversation: Conversation, tab: Tab) -> int:
    """Check what the page and the counters say about the only answer of a conversation. Return the estimate."""
    turn = await Turn.objects.select_related("conversation").aget(conversation=conversation)
    estimated: int = turn.usage["estimated"]
    assert (turn.usage["total"], turn.cost) == (None, None)
    assert f"<dd>about {estimated}: the model's service did not report them</dd>" in tab.page.transcript
    assert tab.page.transcript == await fresh_page(conversation)
    owner_id = turn.conversation.owner_id
    uncounted = await database_sync_to_async(uncounted_answers)(owner_id, turn.created_at, timezone.now())
    assert uncounted == UncountedAnswers(1, estimated)
    assert (await QuotaUse.objects.aget(user=owner_id)).tokens == estimated
    return estimated


async def test_tokens_are_estimated_if_the_server_reports_none(endpoints: StandInServer, use_tools: UseTools) -> None:
    use_tools()
    estimates = []
    for question, model in (("go", "two-choices"), ("go" + " on" * 1_000, "no-blank-line-at-the-end")):
        conversation = await conversation_at(endpoints, "generic", model)
        tab = Tab(conversation.pk)
        assert (await ask_and_wait(conversation, question, tab)).status == "done"
        estimates.append(await assert_estimated(conversation, tab))
    assert 700 < estimates[1] - estimates[0] < 1_000


async def test_tokens_are_estimated_if_the_answer_is_stopped_before_its_token_counts_arrive(
    endpoints: StandInServer, use_tools: UseTools
) -> None:
    use_tools()
    conversation = await conversation_at(endpoints, "vllm", "stall")
    tab = Tab(conversation.pk)
    with tab.following():
        await start_turn(make_question(conversation))
        await tab.receive_text("smooth lin")
        await stop_turn(conversation.pk)
        await Runner.current().drain()
        await assert_estimated(conversation, tab)


async def test_notice_says_that_the_connection_broke_after_text(
    endpoints: StandInServer, use_tools: UseTools, settings: Settings
) -> None:
    use_tools()
    conversation = await conversation_at(endpoints, "vllm", "reset")
    tab = Tab(conversation.pk)
    assert (await ask_and_wait(conversation, "go", tab)).status == "failed"
    assert "service broke, so the answer was ended. The text received so far is saved" in tab.page.transcript
    assert "could not be made" not in tab.page.transcript
    await assert_estimated(conversation, tab)
