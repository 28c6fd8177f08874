"""Titles that a model makes in the background."""

from __future__ import annotations

import pytest
from channels.db import database_sync_to_async
from django.db import connection
from pytest_django import Settings

from chat.answering.turns import titles
from chat.answering.turns.titles import TitleResult, clean_title
from chat.models import Conversation, LanguageModel
from chat.page.transcript.answer_details import dollars
from chat.page.transcript.usage import conversation_usage
from chat.providers.catalogue.setups import Setup
from chat.vocabulary.title_words import title_of
from tests.chat.turn_driver import Tab, ask_and_wait, calls_since, count_calls, new_conversation

pytestmark = pytest.mark.django_db(transaction=True)

QUESTION = "Plot the monthly rainfall of Hamburg and of Munich beside each other, please"
FIRST_WORDS = title_of(QUESTION)


@pytest.fixture
def namer(emulated: Settings) -> None:
    """A model that names conversations, on a server with a key."""
    emulated.GEMINI_EMULATED, emulated.GEMINI_API_KEY = False, "a-key"
    LanguageModel.objects.all().delete()
    LanguageModel.objects.create(name="scenario-text", makes_titles=True)
    LanguageModel.objects.create(name="scenario-code")
    connection.close()


async def test_title_from_a_model_replaces_the_first_words(namer: None) -> None:
    conversation = await new_conversation(model="scenario-code")
    tab = Tab(conversation.pk)
    with tab.following():
        await ask_and_wait(conversation, QUESTION)
    await conversation.arefresh_from_db()
    assert conversation.title == "Plot the monthly rainfall of"
    assert conversation.title_source == "model"
    texts = [frame.text for frame in tab.all_frames]
    assert any(FIRST_WORDS.split()[0] in text and "conversation-title" in text for text in texts)
    assert "conversation-title" in texts[-1]


async def test_title_of_the_user_is_not_replaced(namer: None) -> None:
    conversation = await new_conversation(model="scenario-code")
    await Conversation.objects.filter(pk=conversation.pk).aupdate(title="Mine", title_source="user")
    await ask_and_wait(conversation, QUESTION)
    await conversation.arefresh_from_db()
    assert conversation.title == "Mine"


async def test_second_answer_does_not_change_the_title(namer: None, emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-code")
    await ask_and_wait(conversation, QUESTION)
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    await ask_and_wait(conversation, "another thing entirely")
    assert len(calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)) == 1
    await conversation.arefresh_from_db()
    assert conversation.title == "Plot the monthly rainfall of"


async def test_cost_of_a_title_is_counted(namer: None, emulated: Settings) -> None:
    await LanguageModel.objects.aupdate(input_price=1_000, output_price=1_000)
    conversation = await new_conversation(model="scenario-code")
    turn = await ask_and_wait(conversation, QUESTION)
    await conversation.arefresh_from_db()
    assert turn.cost
    assert conversation.side_tokens
    assert conversation.side_cost
    usage = await database_sync_to_async(conversation_usage)(conversation)
    assert usage.tokens == turn.usage["total"] + conversation.side_tokens
    assert usage.cost == dollars(turn.cost + conversation.side_cost)


async def test_later_answer_gives_the_title_if_the_first_answer_failed(namer: None) -> None:
    await LanguageModel.objects.acreate(name="scenario-bad-request")
    conversation = await new_conversation(model="scenario-bad-request")
    await ask_and_wait(conversation, QUESTION)
    await conversation.arefresh_from_db()
    assert conversation.title_source == "words"
    await Conversation.objects.filter(pk=conversation.pk).aupdate(model="scenario-code")
    await ask_and_wait(await Conversation.objects.select_related("owner").aget(pk=conversation.pk), "again")
    await conversation.arefresh_from_db()
    assert conversation.title_source == "model"


async def test_row_of_a_title_model_that_no_longer_exists_is_marked_as_missing(namer: None) -> None:
    await LanguageModel.objects.acreate(name="scenario-not-found")
    conversation = await new_conversation(model="scenario-not-found")
    await ask_and_wait(conversation, QUESTION)
    setup = Setup("gemini", "scenario-text", label="")
    result = TitleResult(is_model_missing=True)
    assert await database_sync_to_async(titles.save_title)(conversation.pk, result, setup) is None
    missing = LanguageModel.objects.filter(missing_since__isnull=False).values_list("name", flat=True)
    assert {name async for name in missing} == {"scenario-text", "scenario-not-found"}


async def test_title_remains_the_first_words_if_the_model_does_not_answer_in_time(
    namer: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(titles, "TITLE_LIMIT_S", 0.0)
    conversation = await new_conversation(model="scenario-code")
    await ask_and_wait(conversation, QUESTION)
    await conversation.arefresh_from_db()
    assert conversation.title_source == "words"
    assert conversation.title.startswith("Plot the monthly rainfall of Hamburg")


async def test_failed_request_for_a_title_is_logged_without_its_text(
    namer: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*arguments: object) -> None:
        raise LookupError(QUESTION)

    monkeypatch.setattr(titles, "save_title", fail)
    conversation = await new_conversation(model="scenario-code")
    await ask_and_wait(conversation, QUESTION)
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == [
        f"conversation {conversation.pk} could not be named: LookupError"
    ]
    assert QUESTION not in caplog.text


async def test_title_remains_the_first_words_if_no_model_makes_titles(namer: None) -> None:
    await LanguageModel.objects.aupdate(makes_titles=False)
    conversation = await new_conversation(model="scenario-code")
    await ask_and_wait(conversation, "Short")
    await conversation.arefresh_from_db()
    assert (conversation.title, conversation.title_source) == ("Short", "words")


async def test_demo_model_makes_no_titles(namer: None, emulated: Settings) -> None:
    emulated.GEMINI_EMULATED = True
    conversation = await new_conversation(model="scenario-code")
    await ask_and_wait(conversation, QUESTION)
    await conversation.arefresh_from_db()
    assert (conversation.title, conversation.title_source) == (FIRST_WORDS, "words")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ('"Rainfall in Hamburg."', "Rainfall in Hamburg"),
        ("\n\n**Rainfall**\nand more", "Rainfall"),
        ("## Regen in München。", "Regen in München"),
        ("「降雨量」", "降雨量"),
        ("x" * 100, "x" * 59 + "…"),
        ("a\x00b", "ab"),
        ("   \n ", ""),
    ],
)
def test_title_from_a_model_is_reduced_to_one_plain_line(text: str, title: str) -> None:
    assert clean_title(text) == title
