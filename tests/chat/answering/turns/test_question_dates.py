"""The date after a question: every request of a turn has the same line at the same position, and no row stores it."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.db import database_sync_to_async
from django.test import AsyncClient
from pytest_django import Settings

from chat.answering.prompt.dates import date_note
from chat.models import Conversation, Message, User
from chat.vocabulary.demo_model import DEMO_MODEL
from tests.chat.answering.tools import recording_tools
from tests.chat.answering.tools.recording_tools import RecordingTools
from tests.chat.turn_driver import ask_and_wait, calls_since, count_calls, new_conversation
from tests.openai_endpoints import make_endpoint_conversation
from tests.openai_server.server import StandInServer

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def tools(emulated: Settings) -> None:
    """A function that echoes its arguments."""
    emulated.TOOL_SETS = ["tests.chat.answering.tools.recording_tools.make"]
    recording_tools.choose(RecordingTools(("echo",)))


async def in_berlin(conversation: Conversation) -> Conversation:
    """Let the owner of a conversation be in Berlin."""
    await User.objects.filter(pk=conversation.owner_id).aupdate(time_zone="Europe/Berlin")
    return conversation


def contents_of(call: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the contents of a request that the emulator has received."""
    contents: list[dict[str, Any]] = call["request"]["contents"]
    return contents


async def test_each_round_sends_the_same_date_after_the_question_and_no_message_stores_it(
    emulated: Settings, tools: None
) -> None:
    conversation = await in_berlin(await new_conversation(model="scenario-function-call", code_execution="off"))
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    turn = await ask_and_wait(conversation, "go")
    note = date_note(turn).text
    assert "in the zone Europe/Berlin (UTC+0" in note
    first, second = calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)
    assert contents_of(first) == [{"role": "user", "parts": [{"text": "go"}, {"text": note}]}]
    assert contents_of(second)[0] == contents_of(first)[0]
    assert note not in str(contents_of(second)[1:])
    stored = [message.text async for message in Message.objects.filter(conversation=conversation)]
    assert stored[0] == "go"
    assert "Note of the server" not in " ".join(stored)
    await ask_and_wait(conversation, "and now?")
    third = contents_of(calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)[2])
    assert third[0]["parts"] == [{"text": "go"}]
    assert third[-1]["parts"][0] == {"text": "and now?"}


async def test_chat_completions_request_has_the_date_at_the_end_of_the_question_in_each_round(
    endpoints: StandInServer, tools: None
) -> None:
    conversation = await database_sync_to_async(make_endpoint_conversation)(endpoints, "generic", "function-call")
    before = len(endpoints.journal)
    turn = await ask_and_wait(await in_berlin(conversation), "go")
    first, second = (
        [one["content"] for one in entry.messages if one["role"] == "user"] for entry in endpoints.journal[before:]
    )
    assert first == second == [f"go\n\n{date_note(turn).text}"]


async def test_demo_model_uses_the_last_time_zone_of_the_browser(emulated: Settings) -> None:
    conversation = await new_conversation(model=DEMO_MODEL)
    client = AsyncClient()
    await sync_to_async(client.force_login)(conversation.owner)
    client.cookies["timezone"] = "Asia/Tokyo"
    assert (await client.get("/conversations/")).status_code == 200
    turn = await ask_and_wait(conversation, "What day is it today?")
    message = await Message.objects.aget(pk=turn.message_id)
    assert "Asia/Tokyo (UTC+09:00)" in message.text
