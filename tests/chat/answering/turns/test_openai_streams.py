"""Each shape and each recording of chat completions, through whole turns.

What was received is stored, a reload shows what was shown live, and the strict stand-in server accepts the requests of
the same turn and of the next one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict

import pytest
from channels.db import database_sync_to_async
from pytest_django import Settings

from chat.answering.turns.retry import RETRIED_FINISHES
from chat.models import Conversation, Round, Turn
from chat.vocabulary.parts import FunctionCall, FunctionResponse, InlineData, Part, Refusal, Text, Thought
from chat.vocabulary.stream_events import Usage
from tests.chat.answering.tools import recording_tools
from tests.chat.answering.tools.recording_tools import RecordingTools
from tests.chat.turn_driver import Tab, ask_and_wait, fresh_page, parts_of
from tests.openai_endpoints import make_endpoint_conversation
from tests.openai_recordings import Recording, recordings
from tests.openai_server.server import JournalEntry, StandInServer
from tests.openai_server.shapes import CALL_SHAPES, SHAPES, Expected, ExpectedCall
from tests.sampling import sampled

pytestmark = pytest.mark.django_db(transaction=True)

RECORDINGS = recordings()
PROFILES_BY_PREFIX = {"hf": "generic", "azure": "openai"}
"""Recordings whose name does not begin with the name of the profile that fits their server."""
STRICT_PROFILES = ("openai", "mistral", "deepseek")
FOREIGN = {"call-with-finish-stop"}
"""Shapes with fields that only their own server accepts in later requests."""


async def ask_twice(
    server: StandInServer, profile: str, model: str, functions: Sequence[str], settings: Settings
) -> tuple[list[Turn], list[JournalEntry], Conversation]:
    """Ask two questions. Return the turns, the requests that the server received, and the conversation."""
    settings.TOOL_SETS = ["tests.chat.answering.tools.recording_tools.make"]
    recording_tools.choose(RecordingTools(functions))
    conversation = await database_sync_to_async(make_endpoint_conversation)(server, profile, model)
    before = len(server.journal)
    tab = Tab(conversation.pk)
    turns = [await ask_and_wait(conversation, text, tab) for text in ("first", "second")]
    assert tab.page.transcript == await fresh_page(conversation)
    return turns, server.journal[before:], conversation


def content_of(parts: Sequence[Part]) -> tuple[str, str, int, list[ExpectedCall]]:
    """Return the text, the reasoning, the number of pictures and the calls of the first round."""
    own = [part for part in parts if part.round == 0 and not part.made_by]
    return (
        "".join(part.text for part in own if isinstance(part, Text)),
        "".join(part.text for part in own if isinstance(part, Thought)),
        len([part for part in own if isinstance(part, InlineData)]),
        [ExpectedCall(part.name, part.arguments) for part in own if isinstance(part, FunctionCall)],
    )


async def assert_turn(turn: Turn, expected: Expected) -> None:
    """Check that a turn has stored what its response contained."""
    parts = await parts_of(turn)
    has_content = bool(expected.calls or expected.text or expected.pictures)
    is_blank = not has_content and expected.error is None
    # An answer without content is asked for once more. The thoughts of the first attempt remain.
    attempts = 2 if is_blank and turn.finish in RETRIED_FINISHES else 1
    reasoning = expected.reasoning * attempts
    assert content_of(parts) == (expected.text, reasoning, expected.pictures, list(expected.calls))
    has_run = bool(expected.calls) and expected.finish == "stop"
    if expected.error is not None:
        assert turn.status == Turn.Status.FAILED
        assert turn.error_code == expected.error or (not expected.error and turn.error_code != "internal")
    elif expected.finish is None:
        assert (turn.status, turn.finish) == (Turn.Status.INTERRUPTED, "")
    else:
        assert (turn.status, turn.finish) == (Turn.Status.DONE, expected.finish)
    rounds = [one async for one in Round.objects.filter(turn=turn).order_by("index")]
    assert len(rounds) == (2 if has_run else 1)
    usage = expected.usage
    if usage and attempts == 2:
        usage += usage
    if usage is None and turn.first_part_at:
        usage = Usage(estimated=rounds[0].usage["estimated"])
        assert usage.estimated
    assert usage is None or rounds[0].usage == asdict(usage)
    calls = [part for part in parts if isinstance(part, FunctionCall)]
    responses = [part for part in parts if isinstance(part, FunctionResponse)]
    assert len({call.call_id for call in calls} - {""}) == len(calls)
    answered = [call for call in calls if has_run or call.arguments is not None]
    assert [response.call_id for response in responses] == [call.call_id for call in answered]
    assert [response.is_error for response in responses] == [not has_run or call.arguments is None for call in answered]
    assert {response.refusal for response in responses} <= {None if has_run else Refusal.NOT_RUN}


def assert_accepted(entries: Sequence[JournalEntry]) -> None:
    """Check that the server has not refused any request. An error that a recording replays is no refusal."""
    assert [entry.error for entry in entries] == [None] * len(entries)


@pytest.mark.parametrize("name", sampled(SHAPES, 16))
async def test_each_hand_written_response_is_stored_and_the_next_request_is_accepted(
    endpoints: StandInServer, settings: Settings, name: str
) -> None:
    turns, entries, _ = await ask_twice(endpoints, "generic", name, ["echo"], settings)
    assert_accepted(entries)
    for turn in turns:
        await assert_turn(turn, SHAPES[name].expected)


@pytest.mark.parametrize("name", ["think-tag-at-the-end-only", "channel-marks", "channel-marks-in-a-call"])
async def test_control_marks_of_chat_templates_are_not_shown_or_stored(
    endpoints: StandInServer, settings: Settings, name: str
) -> None:
    expected = SHAPES[name].expected
    turns, entries, conversation = await ask_twice(endpoints, "generic", name, ["echo"], settings)
    for turn in turns:
        await assert_turn(turn, expected)
    answers = [message for message in entries[-1].messages if message["role"] == "assistant"]
    if expected.calls:
        assert answers[0]["tool_calls"][0]["function"]["name"] == "echo"
    else:
        assert answers[0]["content"] == expected.text
    shown = str([entry.body for entry in entries]) + await fresh_page(conversation)
    assert not re.search(r"(?:<|&lt;)(?:/think|\|)|analysis|commentary", shown)


@pytest.mark.parametrize("profile", STRICT_PROFILES)
@pytest.mark.parametrize("name", sampled([name for name in CALL_SHAPES if name not in FOREIGN], 3))
async def test_calls_of_each_recorded_form_are_sent_back_in_a_form_that_strict_servers_accept(
    endpoints: StandInServer, settings: Settings, name: str, profile: str
) -> None:
    turns, entries, _ = await ask_twice(endpoints, profile, name, ["echo"], settings)
    assert_accepted(entries)
    await assert_turn(turns[1], SHAPES[name].expected)


def profile_of(recorded: Recording) -> str:
    """Return the profile that fits the server of a recording."""
    prefix = recorded.name.removeprefix("MOCK-").partition("-")[0]
    known = {*STRICT_PROFILES, "llamacpp", "ollama", "vllm"}
    return PROFILES_BY_PREFIX.get(prefix, prefix if prefix in known else "generic")


if RECORDINGS:
    # Without recordings there is no such test, so that none is skipped.
    @pytest.mark.drill
    @pytest.mark.parametrize("recorded", RECORDINGS, ids=lambda one: one.name)
    async def test_recorded_response_is_stored_and_the_next_request_is_accepted(
        endpoints: StandInServer, settings: Settings, recorded: Recording
    ) -> None:
        model, functions = f"recording:{recorded.name}", recorded.function_names or ["echo"]
        turns, entries, _ = await ask_twice(endpoints, profile_of(recorded), model, functions, settings)
        assert_accepted(entries)
        for turn in turns:
            await assert_turn(turn, recorded.expected)
