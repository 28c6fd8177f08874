"""Requests after an answer that was cut, refused for its length, or asked for again."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from chat.answering.prompt.dates import date_note
from chat.answering.turns.runner import start_turn
from chat.answering.turns.start import Continue, Regenerate
from chat.models import Conversation, Turn
from tests.chat.turn_driver import (
    Tab,
    ask_and_wait,
    calls_since,
    count_calls,
    fresh_page,
    new_conversation,
    start_and_wait,
)

pytestmark = pytest.mark.django_db(transaction=True)


async def test_answer_that_was_cut_off_can_be_continued(emulated: Settings) -> None:
    for scenario in ("cut", "without-finish", "max-tokens"):
        conversation = await new_conversation(model=f"scenario-{scenario}")
        await ask_and_wait(conversation, "first")
        before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
        await Conversation.objects.filter(pk=conversation.pk).aupdate(model="scenario-text")
        turn = await start_and_wait(start_turn(Continue(conversation.owner, conversation.pk)))
        assert turn.status == Turn.Status.DONE, scenario
        [call] = calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)
        assert call["request"]["contents"][-1]["parts"] == [{"text": "Continue."}]


async def test_older_half_of_the_conversation_is_left_out_if_the_service_finds_it_too_long(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-context-limit-700")
    turns = [await ask_and_wait(conversation, f"question {number}") for number in range(2)]
    assert [turn.left_out for turn in turns] == [0, 0]
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    tab = Tab(conversation.pk)
    turn = await ask_and_wait(conversation, "x" * 300)
    assert (turn.status, turn.left_out) == (Turn.Status.DONE, 4)
    assert [call["state"] for call in calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)] == ["refused", "done"]
    assert "The 4 oldest messages of this conversation were not sent" in await fresh_page(conversation)
    turn = await ask_and_wait(conversation, "y" * 1600, tab)
    assert (turn.status, turn.error_code) == (Turn.Status.FAILED, "context_too_long")


async def test_request_for_a_regenerated_answer_does_not_contain_the_old_one(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-code")
    tab = Tab(conversation.pk)
    first = await ask_and_wait(conversation, "first", tab)
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    second = await start_and_wait(start_turn(Regenerate(conversation.owner, conversation.pk)))
    assert second.status == Turn.Status.DONE
    assert second.user_message_id == first.user_message_id
    [call] = calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)
    question = [{"text": "first"}, {"text": date_note(second).text}]
    assert call["request"]["contents"] == [{"role": "user", "parts": question}]
