"""What stays the same in the requests of a conversation comes first, so that caches of services remain valid."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from pytest_django import Settings

from chat.models import LanguageModel
from chat.vocabulary.dialect_names import INTERACTIONS_API
from tests.chat.answering.tools import recording_tools
from tests.chat.answering.tools.recording_tools import RecordingTools
from tests.chat.turn_driver import ask_and_wait, calls_since, count_calls, new_conversation

pytestmark = pytest.mark.django_db(transaction=True)
NOTE = "[Note of the server"
"""The beginning of the notes with the date and with the state of the tools. Later requests do not repeat them."""


@pytest.mark.parametrize("protocol", ["", INTERACTIONS_API])
async def test_request_equals_the_previous_one_up_to_the_first_note_of_the_server(
    emulated: Settings, protocol: str
) -> None:
    emulated.TOOL_SETS = ["tests.chat.answering.tools.recording_tools.make"]
    tools = recording_tools.choose(RecordingTools(("echo",)))
    await LanguageModel.objects.acreate(name="scenario-function-call", protocol=protocol)
    conversation = await new_conversation(
        model="scenario-function-call", system_instruction="Be brief.", code_execution="off"
    )
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    for number in range(3):
        tools.state_text = f"x = {number}"
        assert (await ask_and_wait(conversation, f"question {number}")).status == "done"
    requests = [json.dumps(call["request"]) for call in calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)]
    assert len(requests) == 6
    for earlier, later in pairwise(requests):
        pairs = enumerate(zip(earlier, later, strict=False))
        end = next(index for index, (one, other) in pairs if one != other)
        assert "Be brief." in earlier[:end]
        assert '"name": "echo", "description"' in earlier[:end]
        # The first difference is a note. Only the names of its fields are before it.
        assert len(earlier[end:].partition(NOTE)[0]) < 40
