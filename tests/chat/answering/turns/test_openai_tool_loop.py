"""The tool loop at strict servers of chat completions: they accept all its requests, and those of the next turn."""

from __future__ import annotations

from typing import Any

import pytest
from channels.db import database_sync_to_async
from pytest_django import Settings

from chat.answering.prompt.history import STATE
from chat.answering.turns import tool_loop
from chat.answering.turns.runner import Runner, start_turn, stop_turn
from chat.messages import closing
from chat.models import Conversation, Turn
from chat.vocabulary.parts import FunctionCall, FunctionResponse, Text
from tests.chat.answering.tools.recording_tools import UseTools
from tests.chat.answering.turns.test_openai_streams import assert_accepted
from tests.chat.turn_driver import Tab, ask_and_wait, fresh_page, make_question, new_conversation, parts_of
from tests.openai_endpoints import make_endpoint_conversation
from tests.openai_server.refusals import KEY, PROFILES
from tests.openai_server.server import JournalEntry, StandInServer
from tests.sampling import sampled
from tests.scenarios.faults import BEGINNING

pytestmark = pytest.mark.django_db(transaction=True)

each_profile = pytest.mark.parametrize("profile", sampled(PROFILES, 3))


async def conversation_at(server: StandInServer, profile: str, model: str) -> Conversation:
    """Create a conversation with a model of the stand-in."""
    conversation: Conversation = await database_sync_to_async(make_endpoint_conversation)(server, profile, model)
    return conversation


async def text_of(turn: Turn) -> str:
    """Return the text of a turn's answer."""
    return "".join(part.text for part in await parts_of(turn) if isinstance(part, Text))


def results_in(entry: JournalEntry) -> list[dict[str, Any]]:
    """Return the results of functions in a request."""
    return [message for message in entry.messages if message["role"] == "tool"]


@each_profile
async def test_function_is_run_and_its_result_is_sent(
    endpoints: StandInServer, use_tools: UseTools, profile: str
) -> None:
    tools = use_tools("echo")
    conversation = await conversation_at(endpoints, profile, "function-call")
    before = len(endpoints.journal)
    tab = Tab(conversation.pk)
    for question in ("first", "second"):
        turn = await ask_and_wait(conversation, question, tab)
        assert turn.status == "done"
        assert await text_of(turn) == '`echo` returned `{"arguments": {"value": 1}}`.'
    entries = endpoints.journal[before:]
    assert_accepted(entries)
    assert len(entries) == 4
    assert [len(results_in(entry)) for entry in entries] == [0, 1, 1, 2]
    assert len(tools.calls) == 2
    assert [tool["function"]["name"] for tool in entries[0].body["tools"]] == ["echo"]
    assert tab.page.transcript == await fresh_page(conversation)


@each_profile
async def test_two_calls_of_one_answer_get_their_results_in_order(
    endpoints: StandInServer, use_tools: UseTools, profile: str
) -> None:
    tools = use_tools("echo", "run")
    conversation = await conversation_at(endpoints, profile, "function-calls")
    before = len(endpoints.journal)
    for question in ("first", "second"):
        assert (await ask_and_wait(conversation, question)).status == "done"
    entries = endpoints.journal[before:]
    assert_accepted(entries)
    assert [call.name for call in tools.calls] == ["echo", "run"] * 2
    contents = [result["content"] for result in results_in(entries[1])]
    assert contents == ['{"arguments": {"value": 1}}', '{"output": "1\\n2\\n"}']
    ids = [call["id"] for message in entries[-1].messages for call in message.get("tool_calls", [])]
    assert ids == [result["tool_call_id"] for result in results_in(entries[-1])]
    assert len(set(ids)) == 4


@each_profile
@pytest.mark.parametrize(
    ("model", "sentence"),
    [("function-unknown", tool_loop.UNKNOWN.format(names="echo")), ("function-args-invalid", tool_loop.NOT_JSON)],
)
async def test_model_gets_an_error_for_a_call_that_cannot_be_run(
    endpoints: StandInServer, use_tools: UseTools, profile: str, model: str, sentence: str
) -> None:
    tools = use_tools("echo")
    conversation = await conversation_at(endpoints, profile, model)
    before = len(endpoints.journal)
    turn = await ask_and_wait(conversation, "first")
    assert turn.status == "done"
    assert not tools.calls
    [response] = [part for part in await parts_of(turn) if isinstance(part, FunctionResponse)]
    assert (response.is_error, response.result) == (True, {"error": sentence})
    assert (await ask_and_wait(conversation, "second")).status == "done"
    assert_accepted(endpoints.journal[before:])


@each_profile
async def test_next_request_is_accepted_after_a_turn_was_stopped_during_a_function(
    endpoints: StandInServer, use_tools: UseTools, profile: str
) -> None:
    tools = use_tools("wait", "echo")
    conversation = await conversation_at(endpoints, profile, "function-calls")
    before = len(endpoints.journal)
    await start_turn(make_question(conversation))
    await tools.is_running.wait()
    await stop_turn(conversation.pk)
    await Runner.current().drain()
    turn = await Turn.objects.aget(conversation=conversation)
    assert turn.status == "stopped"
    assert len([part for part in await parts_of(turn) if isinstance(part, FunctionCall)]) == 2
    use_tools()
    assert (await ask_and_wait(conversation, "next")).status == "done"
    entries = endpoints.journal[before:]
    assert_accepted(entries)
    results = [message["content"] for message in entries[-1].messages if message["role"] == "tool"]
    assert len(results) == 2
    assert "while this call ran" in results[0]
    assert closing.NOT_RUN in results[1]


@pytest.mark.parametrize(
    ("scenario", "status", "code", "text"),
    [
        ("stall-at-start", "failed", "stalled", ""),
        ("stall", "failed", "stalled", BEGINNING),
        ("reset", "failed", "connection_broken", BEGINNING),
        ("cut", "failed", "connection_broken", BEGINNING),
        ("error-in-data", "failed", "overloaded", "Par"),
        ("text-cut-by-the-token-limit", "done", "", "Par"),
    ],
)
async def test_text_before_a_failure_is_kept_and_the_next_request_is_accepted(
    endpoints: StandInServer,
    use_tools: UseTools,
    settings: Settings,
    scenario: str,
    status: str,
    code: str,
    text: str,
) -> None:
    use_tools()
    settings.PROVIDER_IDLE_LIMIT_S = settings.PROVIDER_FIRST_BYTE_LIMIT_S = 1.5
    conversation = await conversation_at(endpoints, "vllm", scenario)
    before = len(endpoints.journal)
    turn = await ask_and_wait(conversation, "first")
    assert (turn.status, turn.error_code, await text_of(turn)) == (status, code, text)
    await ask_and_wait(conversation, "second")
    entries = endpoints.journal[before:]
    assert_accepted(entries)
    roles = [message["role"] for message in entries[-1].messages]
    assert roles[1:] == (["user", "assistant", "user"] if text else ["user"])


async def test_turn_uses_the_server_that_the_settings_describe(
    endpoints: StandInServer, use_tools: UseTools, settings: Settings
) -> None:
    use_tools("echo")
    settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = endpoints.url("openai"), KEY
    settings.OPENAI_MODELS = ["gpt-4.1/function-call"]
    before = len(endpoints.journal)
    conversation = await new_conversation(model="gpt-4.1/function-call", code_execution="off")
    turn = await ask_and_wait(conversation, "go")
    assert (turn.status, turn.provider, turn.endpoint) == ("done", "openai_compatible", "")
    assert len(endpoints.journal[before:]) == 2
    assert_accepted(endpoints.journal[before:])


async def test_results_that_fill_the_context_window_do_not_end_the_turn(
    endpoints: StandInServer, use_tools: UseTools, settings: Settings
) -> None:
    settings.ROUNDS_LIMIT = 8
    use_tools("long")
    conversation = await conversation_at(endpoints, "generic", "context-30000/function-forever")
    before = len(endpoints.journal)
    turn = await ask_and_wait(conversation, "go")
    assert (turn.status, turn.round_count) == ("done", 8)
    last = endpoints.journal[before:][-1]
    assert last.error is None
    oldest, *_, newest = (result["content"] for result in results_in(last))
    assert "left out" in oldest
    assert len(newest) > 20_000


@each_profile
async def test_session_state_is_at_the_end_of_the_newest_message(
    endpoints: StandInServer, use_tools: UseTools, profile: str
) -> None:
    use_tools("echo", state_text="The session holds x.")
    conversation = await conversation_at(endpoints, profile, "function-call")
    before = len(endpoints.journal)
    turn = await ask_and_wait(conversation, "go")
    assert await text_of(turn) == '`echo` returned `{"arguments": {"value": 1}}`.'
    entries = endpoints.journal[before:]
    assert_accepted(entries)
    ending = "\n\n" + STATE.format(state="The session holds x.")
    first, second = ([dict(message) for message in entry.messages] for entry in entries)
    for messages, role in ((first, "user"), (second, "tool")):
        assert messages[-1]["role"] == role
        assert messages[-1]["content"].endswith(ending)
        messages[-1]["content"] = messages[-1]["content"].removesuffix(ending)
    assert second[: len(first)] == first
