"""Functions beside code execution and web search of the model's service: what requests declare, and how calls end."""

from __future__ import annotations

import json
from typing import Any

import pytest
from channels.db import database_sync_to_async
from pytest_django import Settings

from chat.models import Conversation, LanguageModel, Round, Turn
from chat.python.tool_set.declarations import RUN_PYTHON
from chat.vocabulary.parts import CodeExecutionResult, Engine, InlineData, ToolCall, ToolResponse
from tests.chat.answering.tools import recording_tools
from tests.chat.answering.tools.recording_tools import RecordingTools
from tests.chat.turn_driver import Tab, ask_and_wait, calls_since, count_calls, fresh_page, new_conversation, parts_of
from tests.first_rows import load_first_rows

pytestmark = pytest.mark.django_db(transaction=True)

WEB = {"web_search": True, "url_context": True}


async def conversation_with(scenario: str, *, functions: bool = True, **settings: str) -> Conversation:
    """Create a conversation in which code always runs. `functions`: whether the model takes them beside its tools."""
    name = f"scenario-{scenario}"
    await LanguageModel.objects.acreate(name=name, code_execution=True, functions_beside_tools=functions, **WEB)
    return await new_conversation(model=name, **{"code_execution": "on", **settings})


async def requests_of(conversation: Conversation, settings: Settings) -> tuple[Turn, list[dict[str, Any]]]:
    """Ask, and return the turn and the requests that the emulator received."""
    before = count_calls(settings.GOOGLE_GEMINI_BASE_URL)
    turn = await ask_and_wait(conversation, "go")
    return turn, [call["request"] for call in calls_since(settings.GOOGLE_GEMINI_BASE_URL, before)]


def tools_of(request: dict[str, Any]) -> list[str]:
    """Return the names of the tools of a request; of functions their own names."""
    return [
        name
        for tool in request.get("tools", [])
        for key, value in tool.items()
        for name in ([one["name"] for one in value] if key == "functionDeclarations" else [key])
    ]


@pytest.mark.parametrize(
    ("functions", "settings_of_conversation", "kernels", "tools"),
    [
        (True, {}, 1, ["codeExecution", RUN_PYTHON]),
        (True, {"web_search": "on"}, 1, ["codeExecution", "googleSearch", "urlContext", RUN_PYTHON]),
        (False, {"web_search": "on"}, 1, ["codeExecution", "googleSearch", "urlContext"]),
        # The conversation's setting allows code nowhere else.
        (True, {"engine": "native"}, 1, ["codeExecution"]),
        (True, {"code_execution": "off", "web_search": "on"}, 1, ["googleSearch", "urlContext"]),
        (True, {}, 0, ["codeExecution"]),
    ],
)
async def test_request_declares_the_tools_that_model_and_conversation_allow(
    emulated: Settings, functions: bool, settings_of_conversation: dict[str, str], kernels: int, tools: list[str]
) -> None:
    emulated.KERNELS_LIMIT = kernels
    conversation = await conversation_with("text", functions=functions, **settings_of_conversation)
    turn, [request] = await requests_of(conversation, emulated)
    assert turn.status == "done"
    assert tools_of(request) == tools
    flag = {"includeServerSideToolInvocations": True}
    assert request.get("toolConfig", {}) == (flag if RUN_PYTHON in tools else {})
    instruction = request["systemInstruction"]["parts"][0]["text"]
    assert ("which the function run_python uses" in instruction) is (RUN_PYTHON in tools)
    assert ("You can search the web" in instruction) is ("googleSearch" in tools)


async def test_call_in_an_answer_that_also_runs_native_code_gets_its_response_in_the_next_round(
    emulated: Settings,
) -> None:
    emulated.TOOL_SETS = ["tests.chat.answering.tools.recording_tools.make"]
    tools = recording_tools.choose(RecordingTools(("run_python",)))
    conversation = await conversation_with("code-beside-session")
    tab = Tab(conversation.pk)
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    turn = await ask_and_wait(conversation, "go", tab)
    assert (turn.status, turn.engine) == ("done", Engine.NATIVE)
    assert [call.arguments for call in tools.calls] == [{"code": "print(6 * 7)"}]
    first, second = [call["request"] for call in calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)]
    assert tools_of(first) == tools_of(second) == ["codeExecution", "run_python"]
    # The emulator has also checked signatures and ids.
    kinds = [
        [name for part in content["parts"] for name in part if name != "thoughtSignature"]
        for content in second["contents"]
    ]
    assert kinds[1:] == [["executableCode", "codeExecutionResult", "functionCall"], ["functionResponse"]]
    assert await Round.objects.filter(turn=turn).acount() == 2
    assert tab.page.transcript == await fresh_page(conversation)


async def test_answer_with_a_search_and_a_graph_shows_both_and_both_are_sent_back(emulated: Settings) -> None:
    conversation = await conversation_with("search-and-plot", web_search="on")
    tab = Tab(conversation.pk)
    turn = await ask_and_wait(conversation, "Show me a Bitcoin price chart", tab)
    parts = await parts_of(turn)
    assert [type(part) for part in parts if not getattr(part, "text", None)][:2] == [ToolCall, ToolResponse]
    assert any(isinstance(part, InlineData) for part in parts)
    page = await fresh_page(conversation)
    assert tab.page.transcript == page
    assert 'Searched the web<span class="muted">bitcoin price this week; BTC USD daily close</span>' in page
    assert "A part of an unknown kind" not in page
    assert 'href="https://example.org/prices"' in page
    assert "<dt>Web searches</dt><dd>2</dd>" in page
    _, [request] = await requests_of(conversation, emulated)
    sent = request["contents"][1]["parts"]
    kinds = [next(kind for kind in part if kind != "thoughtSignature") for part in sent]
    assert kinds == ["toolCall", "toolResponse", "executableCode", "codeExecutionResult", "inlineData", "text", "text"]
    assert ["thoughtSignature" in part for part in sent] == [True, True, True, False, False, False, True]


async def test_answer_has_search_queries_but_no_search_parts_if_no_functions_are_declared(emulated: Settings) -> None:
    conversation = await conversation_with("search-and-plot", functions=False, web_search="on")
    turn, [request] = await requests_of(conversation, emulated)
    assert "toolConfig" not in request
    assert not any(isinstance(part, ToolCall) for part in await parts_of(turn))
    assert [query for query in turn.queries if query] == ["bitcoin price this week", "BTC USD daily close"]
    assert 'href="https://example.org/prices"' in await fresh_page(conversation)


@pytest.mark.parametrize("engine", ["auto", "session"])
async def test_request_is_repeated_without_a_combination_of_tools_that_the_service_refuses(
    emulated: Settings, engine: str
) -> None:
    conversation = await conversation_with("tools-not-combined", engine=engine, web_search="on")
    turn, [refused, taken] = await requests_of(conversation, emulated)
    assert turn.status == "done"
    assert RUN_PYTHON in tools_of(refused)
    assert "googleSearch" in tools_of(refused)
    if engine == "session":
        # The session needs functions, so the search is left out.
        assert "googleSearch" not in tools_of(taken)
        assert RUN_PYTHON in tools_of(taken)
    else:
        assert tools_of(taken) == ["codeExecution", "googleSearch", "urlContext"]


async def test_model_can_run_code_in_the_session_although_it_has_its_own_sandbox(sessions: Settings) -> None:
    conversation = await conversation_with("code-beside-session")
    turn, [first, second] = await requests_of(conversation, sessions)
    assert (turn.status, turn.engine) == ("done", Engine.NATIVE)
    results = [part for part in await parts_of(turn) if isinstance(part, CodeExecutionResult)]
    assert [(result.engine, result.output) for result in results] == [(Engine.NATIVE, "6\n"), (Engine.SESSION, "42\n")]
    state = "State of the Python session"
    assert [state in json.dumps(request["contents"]) for request in (first, second)] == [False, True]
    assert "and in the Python session</dd>" in await fresh_page(conversation)
    # The session now holds variables, so later code runs there.
    later = await ask_and_wait(conversation, "again")
    assert later.engine == Engine.SESSION


async def test_preset_flash_offers_native_code_web_search_and_the_session(emulated: Settings) -> None:
    await database_sync_to_async(load_first_rows)()
    conversation = await new_conversation(model="flash")
    before = count_calls(emulated.GOOGLE_GEMINI_BASE_URL)
    turn = await ask_and_wait(conversation, "Show me a Bitcoin price chart")
    [call] = calls_since(emulated.GOOGLE_GEMINI_BASE_URL, before)
    assert turn.status == "done"
    assert tools_of(call["request"]) == ["codeExecution", "googleSearch", "urlContext", RUN_PYTHON]
    # The demo model stands in for Flash. It invents nothing.
    page = await fresh_page(conversation)
    assert "I have no access to the web" in page
    assert "<figure" not in page
