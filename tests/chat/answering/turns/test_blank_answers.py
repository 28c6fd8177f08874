"""Answers without a word: they are asked for once more, then a sentence says so. What shows nothing is no answer."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from chat.models import Part, Turn
from chat.vocabulary.parts import ToolCall
from tests.chat.turn_driver import Tab, ask_and_wait, calls_since, count_calls, fresh_page, new_conversation

pytestmark = pytest.mark.django_db(transaction=True)

AFTER_WORK = "The model thought or searched, but wrote no answer. Ask again, perhaps in other words."


@pytest.mark.parametrize(
    ("scenario", "sentence"),
    [
        ("thoughts-only", AFTER_WORK),
        ("search-only", AFTER_WORK),
        ("signature-only", "The model gave an empty answer. Ask again, perhaps in other words."),
    ],
)
async def test_answer_without_text_is_requested_once_more_and_then_the_page_says_that_it_is_empty(
    scenario: str, sentence: str, emulated: Settings
) -> None:
    conversation = await new_conversation(model=f"scenario-{scenario}")
    tab, before = Tab(conversation.pk), count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    turn = await ask_and_wait(conversation, "first", tab)
    assert (turn.status, turn.finish) == (Turn.Status.DONE, "stop")
    assert len(calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)) == 2
    assert sentence in tab.page.transcript
    assert 'data-part-kind="unsupported"' not in tab.page.transcript
    assert tab.page.transcript == await fresh_page(conversation)


async def test_part_that_has_only_a_signature_is_not_shown_and_does_not_split_text(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-signature-in-text")
    tab = Tab(conversation.pk)
    turn = await ask_and_wait(conversation, "first", tab)
    assert turn.message.text == "This is **important**."
    assert tab.page.transcript.count('data-part-kind="') == 1
    assert "<strong>important</strong>" in tab.page.transcript
    assert tab.page.transcript == await fresh_page(conversation)
    second = await ask_and_wait(conversation, "second")
    assert second.status == Turn.Status.DONE, "the strict API has refused the history"


async def test_web_search_is_shown_in_words_and_its_parts_are_sent_back_unchanged(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-tool-call")
    tab = Tab(conversation.pk)
    turn = await ask_and_wait(conversation, "first", tab)
    [row] = [one async for one in Part.objects.filter(message=turn.message, kind="tool_call")]
    assert isinstance(row.value, ToolCall)
    page = tab.page.transcript
    assert "Searched the web" in page
    assert "toolType" not in page
    assert str(row.value.provider_data["thought_signature"]) not in page
    assert page == await fresh_page(conversation)
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    await ask_and_wait(conversation, "second")
    [call] = calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)
    sent = call["request"]["contents"][1]["parts"]
    assert [key for part in sent for key in part if key.startswith("tool")] == ["toolCall", "toolResponse"]
    assert sent[0]["toolCall"] == {
        "toolType": "GOOGLE_SEARCH_WEB",
        "args": dict(row.value.arguments or {}),
        "id": row.value.call_id,
    }
    assert sent[0]["thoughtSignature"] == row.value.provider_data["thought_signature"]
