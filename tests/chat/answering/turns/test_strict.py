"""Conversations with an emulator that is as strict as the real API.

It refuses a part that was left out, moved or altered, and a signature that it did not give.
"""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import Settings

from chat.answering.prompt.dates import date_note
from chat.answering.turns.retry import RETRIED_FINISHES
from chat.answering.turns.runner import start_turn
from chat.answering.turns.start import Continue, Regenerate
from chat.models import Conversation, Turn
from chat.providers.google.wire_parts import FOREIGN_CALL_SIGNATURE
from tests.chat.turn_driver import (
    Tab,
    ask_and_wait,
    calls_since,
    count_calls,
    fresh_page,
    new_conversation,
    start_and_wait,
)
from tests.recordings import Recording, recordings
from tests.sampling import sampled

pytestmark = pytest.mark.django_db(transaction=True)
each_recording = pytest.mark.parametrize("recorded", sampled(recordings(), 8, lambda one: one.name))


@each_recording
async def test_next_turns_after_a_recording_are_accepted(recorded: Recording, replaying: Settings) -> None:
    url = replaying.GOOGLE_GEMINI_BASE_URL
    before = count_calls(url)
    model = f"replay-{recorded.name}"
    # Code that runs out of time does not move to a session, which would ask once more.
    conversation = await new_conversation(model=model, engine="native")
    tab = Tab(conversation.pk)
    turns = [await ask_and_wait(conversation, text, tab) for text in ("first", "second")]
    # Another model is sent the same history, without what only the first one can read.
    await Conversation.objects.filter(pk=conversation.pk).aupdate(model="scenario-code")
    turns.append(await ask_and_wait(conversation, "third", tab))

    calls = calls_since(url, before)
    own = [call for call in calls if call["model"] == model]
    [foreign] = [call for call in calls if call["model"] == "scenario-code"]
    assert {call["state"] for call in own} == {"refused" if recorded.http_status != 200 else "done"}
    # An answer without content is asked for once more. Nothing else is sent twice.
    is_blank = not recorded.error and not any(part.is_answer for part in recorded.parts)
    assert len(own) == (4 if is_blank and turns[0].finish in RETRIED_FINISHES else 2)
    assert (foreign["state"], has_signature(foreign)) == ("done", False)
    assert turns[2].status == Turn.Status.DONE
    assert tab.page.transcript == await fresh_page(conversation)


def has_signature(call: dict[str, Any]) -> bool:
    """Return whether any part of a request has a signature other than the stand-in that Google documents."""
    parts = [part for content in call["request"]["contents"] for part in content["parts"]]
    return any(part.get("thoughtSignature") not in (None, FOREIGN_CALL_SIGNATURE) for part in parts)


@pytest.mark.parametrize(
    "scenario", ["code", "code-two-rounds", "image", "thoughts", "text", "code-failed", "unknown-part"]
)
async def test_next_turns_after_a_scenario_are_accepted(scenario: str, replaying: Settings) -> None:
    before = count_calls(replaying.GOOGLE_GEMINI_BASE_URL)
    conversation = await new_conversation(model=f"scenario-{scenario}")
    for text in ("first", "second", "third"):
        turn = await ask_and_wait(conversation, text)
        assert turn.status == Turn.Status.DONE
    assert {call["state"] for call in calls_since(replaying.GOOGLE_GEMINI_BASE_URL, before)} == {"done"}


async def test_answer_that_was_cut_is_continued(replaying: Settings) -> None:
    for scenario in ("cut", "without-finish", "max-tokens"):
        conversation = await new_conversation(model=f"scenario-{scenario}")
        await ask_and_wait(conversation, "first")
        before = count_calls(replaying.GOOGLE_GEMINI_BASE_URL)
        await Conversation.objects.filter(pk=conversation.pk).aupdate(model="scenario-text")
        turn = await start_and_wait(start_turn(Continue(conversation.owner, conversation.pk)))
        assert turn.status == Turn.Status.DONE, scenario
        [call] = calls_since(replaying.GOOGLE_GEMINI_BASE_URL, before)
        assert call["request"]["contents"][-1]["parts"] == [{"text": "Continue."}]


async def test_answer_is_continued_without_tools_after_too_many_tool_calls(replaying: Settings) -> None:
    conversation = await new_conversation(model="scenario-too-many-tool-calls", code_execution="on")
    tab = Tab(conversation.pk)
    first = await ask_and_wait(conversation, "first", tab)
    assert (first.finish_reason, first.code_execution) == ("TOO_MANY_TOOL_CALLS", True)
    before = count_calls(replaying.GOOGLE_GEMINI_BASE_URL)
    second = await start_and_wait(start_turn(Continue(conversation.owner, conversation.pk, without_tools=True)))
    assert (second.status, second.finish_reason, second.code_execution) == (Turn.Status.DONE, "STOP", False)
    [call] = calls_since(replaying.GOOGLE_GEMINI_BASE_URL, before)
    assert "tools" not in call["request"]


async def test_signatures_that_the_api_calls_corrupted_are_left_out_of_the_next_attempt(replaying: Settings) -> None:
    conversation = await new_conversation(model="scenario-corrupted-signature-once")
    first = await ask_and_wait(conversation, "first")
    assert first.status == Turn.Status.DONE
    before = count_calls(replaying.GOOGLE_GEMINI_BASE_URL)
    second = await ask_and_wait(conversation, "second")
    assert second.status == Turn.Status.DONE
    refused, accepted = calls_since(replaying.GOOGLE_GEMINI_BASE_URL, before)
    assert (refused["state"], has_signature(refused)) == ("refused", True)
    assert (accepted["state"], has_signature(accepted)) == ("done", False)


async def test_graphs_that_the_api_refuses_are_left_out_of_the_next_attempt(replaying: Settings) -> None:
    conversation = await new_conversation(model="scenario-images-refused")
    await ask_and_wait(conversation, "first")
    before = count_calls(replaying.GOOGLE_GEMINI_BASE_URL)
    second = await ask_and_wait(conversation, "second")
    assert second.status == Turn.Status.DONE
    refused, accepted = calls_since(replaying.GOOGLE_GEMINI_BASE_URL, before)
    assert has_image(refused)
    assert not has_image(accepted)


async def test_older_half_of_a_conversation_that_is_too_long_is_left_out(replaying: Settings) -> None:
    conversation = await new_conversation(model="scenario-context-limit-700")
    turns = [await ask_and_wait(conversation, f"question {number}") for number in range(2)]
    assert [turn.left_out for turn in turns] == [0, 0]
    before = count_calls(replaying.GOOGLE_GEMINI_BASE_URL)
    tab = Tab(conversation.pk)
    turn = await ask_and_wait(conversation, "x" * 300)
    assert (turn.status, turn.left_out) == (Turn.Status.DONE, 4)
    assert [call["state"] for call in calls_since(replaying.GOOGLE_GEMINI_BASE_URL, before)] == ["refused", "done"]
    assert "The 4 oldest messages of this conversation were not sent" in await fresh_page(conversation)
    turn = await ask_and_wait(conversation, "y" * 1600, tab)
    assert (turn.status, turn.error_code) == (Turn.Status.FAILED, "context_too_long")


def has_image(call: dict[str, Any]) -> bool:
    """Return whether any part of a request is an image."""
    return any("inlineData" in part for content in call["request"]["contents"] for part in content["parts"])


async def test_regenerated_answer_is_requested_without_the_old_one(replaying: Settings) -> None:
    conversation = await new_conversation(model="scenario-code")
    tab = Tab(conversation.pk)
    first = await ask_and_wait(conversation, "first", tab)
    before = count_calls(replaying.GOOGLE_GEMINI_BASE_URL)
    second = await start_and_wait(start_turn(Regenerate(conversation.owner, conversation.pk)))
    assert second.status == Turn.Status.DONE
    assert second.user_message_id == first.user_message_id
    [call] = calls_since(replaying.GOOGLE_GEMINI_BASE_URL, before)
    question = [{"text": "first"}, {"text": date_note(second).text}]
    assert call["request"]["contents"] == [{"role": "user", "parts": question}]
