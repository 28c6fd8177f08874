"""The Interactions API through whole turns: what is stored, and what is sent back.

The emulator for tests refuses signatures that it did not send, and thoughts without a signature.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TypeGuard

import pytest
from channels.db import database_sync_to_async
from pytest_django import Settings

from attachments.store import read_bytes
from chat.answering.turns.runner import Runner, start_turn, stop_turn
from chat.messages.records import path_records
from chat.models import Conversation, LanguageModel, Turn
from chat.providers.google.wire_parts import FOREIGN_CALL_SIGNATURE
from chat.vocabulary.dialect_names import INTERACTIONS_API
from chat.vocabulary.parts import (
    OUTCOME_OK,
    CodeExecutionResult,
    ExecutableCode,
    FileData,
    FunctionCall,
    InlineData,
    Part,
    Text,
)
from tests.chat.answering.tools.recording_tools import UseTools
from tests.chat.answering.turns.protocol_outcomes import plain_parts
from tests.chat.turn_driver import (
    Tab,
    ask_and_wait,
    calls_since,
    count_calls,
    fresh_page,
    make_question,
    new_conversation,
    parts_of,
)
from tests.emulator_server import running_emulator
from tests.interactions_recordings import Recording, files_of, interaction_recordings
from tests.polling import wait_until_async
from tests.sampling import sampled

RECORDINGS = interaction_recordings()
NO_RESULT = "was called, but it has no result"
"""The text that replaces the result of a call that was interrupted."""
pytestmark = pytest.mark.django_db(transaction=True)


async def conversation_with(name: str, protocol: str = INTERACTIONS_API, **settings: str) -> Conversation:
    """Create a conversation with a model of the emulator that is asked by this protocol."""
    await LanguageModel.objects.acreate(
        name=name,
        protocol=protocol,
        code_execution=True,
        functions_beside_tools=True,
        image_output=name.startswith("scenario-image-model"),
    )
    return await new_conversation(model=name, **settings)


# --- what is sent back


async def test_steps_are_sent_back_unchanged_and_later_requests_begin_like_earlier_ones(
    emulated: Settings, use_tools: UseTools
) -> None:
    use_tools("echo")
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    conversation = await conversation_with("scenario-function-call")
    for question in ("first", "second"):
        assert (await ask_and_wait(conversation, question)).status == "done"
    requests = [call["request"] for call in calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)]
    assert [request["store"] for request in requests] == [False] * 4
    for earlier, later in (requests[:2], requests[2:]):
        # The service's cache of the prompt remains valid.
        assert later["input"][: len(earlier["input"])] == earlier["input"]
    kinds = [step["type"] for step in requests[1]["input"]]
    assert kinds == ["user_input", "function_call", "function_result"]
    assert requests[1]["input"][1]["signature"]


@pytest.mark.parametrize("protocols", [("", INTERACTIONS_API), (INTERACTIONS_API, "")])
async def test_answer_received_with_another_protocol_is_sent_back_without_its_signatures(
    emulated: Settings, use_tools: UseTools, protocols: tuple[str, str]
) -> None:
    use_tools("echo")
    conversation = await conversation_with("scenario-function-call", protocol=protocols[0])
    assert (await ask_and_wait(conversation, "first")).status == "done"
    await LanguageModel.objects.all().aupdate(protocol=protocols[1])
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    assert (await ask_and_wait(conversation, "second")).status == "done"
    first, _ = calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)
    assert ("input" in first["request"]) == bool(protocols[1])
    sent = json.dumps(first["request"])
    assert sent.count('ignature"') == sent.count(FOREIGN_CALL_SIGNATURE)
    assert "first" in sent
    assert sent.count("echo") > 1, "the call and its result"


async def test_repeated_request_omits_a_refused_signature(emulated: Settings) -> None:
    conversation = await conversation_with("scenario-corrupted-signature-once", engine="native")
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    for question in ("first", "second"):
        assert (await ask_and_wait(conversation, question)).status == "done"
    _, refused, taken = calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)
    assert "signature" in str(refused["request"]["input"])
    assert "signature" not in str(taken["request"]["input"])


async def test_stop_closes_the_request_and_keeps_the_text(emulated: Settings) -> None:
    conversation = await conversation_with("scenario-endless")
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    tab = Tab(conversation.pk)
    with tab.following():
        started = await start_turn(make_question(conversation))
        await tab.receive_text("word 2")
        assert await stop_turn(conversation.pk)
        await Runner.current().drain()
    turn = await Turn.objects.aget(pk=started.turn.pk)
    assert turn.status == "stopped"
    assert "word 2" in "".join(part.long_text for part in await parts_of(turn))
    await wait_until_async(lambda: calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)[0]["state"] == "left")


async def test_demo_model_gives_the_same_answer_in_both_protocols(emulated: Settings) -> None:
    found = []
    for protocol in ("", INTERACTIONS_API):
        await LanguageModel.objects.acreate(name="some-model", protocol=protocol, code_execution=True)
        conversation = await new_conversation(model="some-model", engine="native")
        before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
        turn = await ask_and_wait(conversation, "```python\nprint(6 * 7)\n```")
        [call] = calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)
        assert ("input" in call["request"]) == bool(protocol)
        assert turn.status == "done"
        found.append(plain_parts(await parts_of(turn)))
        await LanguageModel.objects.all().adelete()
    assert "42\n" in [part.get("output") for part in found[0]]
    assert found[1] == found[0]


# --- streams through whole turns


@pytest.fixture(scope="module")
def recordings_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base URL of an emulator that answers with the streams and the recordings."""
    folder = tmp_path_factory.mktemp("interactions")
    for one in RECORDINGS:
        if one.status == 200:
            (folder / f"{one.name}.sse").write_bytes(one.body)
        else:
            [error] = one.events
            (folder / f"{one.name}.json").write_text(json.dumps({"error": {**error["error"], "code": one.status}}))
    with running_emulator(recordings=folder) as url:
        yield url


def files_among(conversation: Conversation) -> list[str]:
    """Return the files and addresses of the last answer, in order and in base64."""
    record = path_records(conversation.pk)[-1]
    by_part = record.attachments_of_parts()
    return [
        part.uri if isinstance(part, FileData) else files_of([read_bytes(by_part[index])])[0]
        for index, part in enumerate(record.parts)
        if isinstance(part, FileData | InlineData)
    ]


def steps_between(call: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the steps of a request between its questions."""
    steps = call["request"]["input"][1:-1]
    own = [step for step in steps if step["type"] not in ("user_input", "function_result")]
    return [step for step in own if NO_RESULT not in str(step)]


@pytest.mark.parametrize("recorded", sampled(RECORDINGS, 8, lambda one: one.name))
async def test_recorded_stream_is_stored_and_its_steps_are_sent_back(
    emulated: Settings, recordings_url: str, use_tools: UseTools, recorded: Recording
) -> None:
    emulated.GOOGLE_GEMINI_BASE_URL, emulated.ROUNDS_LIMIT = recordings_url, 1
    use_tools(*recorded.function_names or ["echo"])
    conversation = await conversation_with(f"replay-{recorded.name}", engine="native")
    before = count_calls(recordings_url)
    tab = Tab(conversation.pk)
    turns = [await ask_and_wait(conversation, text, tab) for text in ("first", "second")]
    assert tab.page.transcript == await fresh_page(conversation)
    expected, parts = recorded.content, await parts_of(turns[0])
    assert "".join(part.text for part in parts if isinstance(part, Text)) == expected.text
    assert [(part.output, part.outcome != OUTCOME_OK) for part in parts if is_output(part)] == expected.outputs
    assert [(part.name, part.arguments) for part in parts if isinstance(part, FunctionCall)] == expected.calls
    assert [part.code for part in parts if isinstance(part, ExecutableCode)] == expected.code
    assert await database_sync_to_async(files_among)(conversation) == expected.files
    status, finish, error = end_of(recorded)
    assert [(turn.status, turn.finish, turn.error_code) for turn in turns] == [(status, finish, error)] * 2
    sent = steps_between(calls_since(recordings_url, before)[-1])
    back = [step for step in recorded.back if recorded.finish or step["type"] != "function_call"]
    assert sent == without_repeated_files(back)


def is_output(part: Part) -> TypeGuard[CodeExecutionResult]:
    """Return whether a part is what code of the service printed."""
    return isinstance(part, CodeExecutionResult)


def end_of(recorded: Recording) -> tuple[str, str, str]:
    """Return the status, the finish and the error with which a turn must end."""
    expected = recorded.content
    is_empty = not (expected.text or expected.code or expected.calls or expected.files or expected.outputs)
    if expected.error:
        return "failed", "", expected.error
    if expected.finish is None:
        return ("failed", "", "empty_response") if is_empty else ("interrupted", "", "")
    is_last = expected.calls and expected.finish == "stop"
    return "done", "round_limit" if is_last else expected.finish, ""


def without_repeated_files(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the steps without bytes that an earlier step has, because no request contains a graph twice."""
    seen: set[str] = set()
    kept = []
    for step in steps:
        name = "result" if isinstance(step.get("result"), list) else "content"
        contents = [one for one in step.get(name, []) if one.get("data", "") not in seen]
        seen.update(one["data"] for one in contents if "data" in one)
        kept.append({**step, name: contents} if name in step else step)
    return kept
