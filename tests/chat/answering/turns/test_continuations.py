"""Answers that are longer than one generation: *Continue* sends the same request again, with the token for the rest."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import Settings

from chat.answering.turns.runner import start_turn
from chat.answering.turns.start import Continue
from chat.models import Conversation, LanguageModel, Turn
from chat.vocabulary.dialect_names import INTERACTIONS_API
from tests.chat.answering.tools import recording_tools
from tests.chat.answering.tools.recording_tools import RecordingTools
from tests.chat.turn_driver import ask_and_wait, calls_since, count_calls, new_conversation, start_and_wait
from tests.gemini_emulator.own_scenarios import TOKENS
from tests.scenarios.texts import PLAIN

pytestmark = pytest.mark.django_db(transaction=True)


async def go_on(conversation: Conversation) -> Turn:
    return await start_and_wait(start_turn(Continue(conversation.owner, conversation.pk)))


def requests_since(settings: Settings, number: int) -> list[dict[str, Any]]:
    return [call["request"] for call in calls_since(settings.GOOGLE_GEMINI_BASE_URL, number)]


@pytest.mark.parametrize(("protocol", "field"), [("", "continuationToken"), (INTERACTIONS_API, "continuation_token")])
async def test_long_answer_is_continued_with_the_continuation_tokens_of_its_service(
    emulated: Settings, protocol: str, field: str
) -> None:
    name = "scenario-continuation"
    await LanguageModel.objects.acreate(name=name, protocol=protocol)
    conversation = await new_conversation(model=name)
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    answers = [await ask_and_wait(conversation, "go"), await go_on(conversation), await go_on(conversation)]
    assert "".join(answer.message.text for answer in answers) == PLAIN
    assert [answer.finish for answer in answers] == ["continuation", "continuation", "stop"]
    requests = requests_since(emulated, before)
    assert tuple(request.pop(field, None) for request in requests) == TOKENS
    assert requests[0] == requests[1] == requests[2]
    await ask_and_wait(conversation, "and then?")
    request = requests_since(emulated, before)[3]
    assert field not in request
    assert [answer.message.text in str(request) for answer in answers] == [True, True, True]


async def test_continuation_after_a_function_call_repeats_the_request_with_the_functions_result(
    emulated: Settings,
) -> None:
    emulated.TOOL_SETS = ["tests.chat.answering.tools.recording_tools.make"]
    recording_tools.choose(RecordingTools(("echo",)))
    conversation = await new_conversation(model="scenario-continuation-after-call", code_execution="off")
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    answers = [await ask_and_wait(conversation, "go"), await go_on(conversation)]
    assert "".join(answer.message.text for answer in answers) == PLAIN[: 2 * len(answers[0].message.text)]
    _, asked, again = requests_since(emulated, before)
    assert again.pop("continuationToken") == TOKENS[1]
    assert again == asked


async def test_answer_is_continued_without_its_continuation_token_if_the_service_refuses_it(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-continuation-1")
    await ask_and_wait(conversation, "go")
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    turn = await go_on(conversation)
    assert (turn.status, turn.message.text[:20]) == ("done", PLAIN[:20])
    refused, taken = requests_since(emulated, before)
    assert "continuationToken" in refused
    assert "continuationToken" not in taken
    assert len(taken["contents"]) == len(refused["contents"]) + 2
