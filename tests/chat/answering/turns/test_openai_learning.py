"""What a server refuses is left out of the repeated request, and of the requests of later turns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from channels.db import database_sync_to_async
from pytest_django import Settings

from chat.answering.prompt import rows
from chat.models import Conversation, ModelEndpoint
from chat.providers.base import Capabilities
from chat.providers.catalogue.endpoints import StoredEndpoints, endpoint_of
from chat.providers.openai_compatible.endpoint import ModelFacts
from tests.chat.answering.tools import recording_tools
from tests.chat.answering.tools.recording_tools import RecordingTools
from tests.chat.turn_driver import ask_and_wait
from tests.factories import make_conversation
from tests.openai_endpoints import GOOGLE, make_endpoint_model, stored_facts
from tests.openai_server.server import JournalEntry, StandInServer

pytestmark = pytest.mark.django_db(transaction=True)


@dataclass(frozen=True)
class Case:
    """A refusal by a server, and what must follow from it."""

    endpoint: str
    model: str
    statuses: list[int]
    """HTTP statuses of the requests of the first turn."""
    is_remembered: Callable[[dict[str, Any]], bool]
    """Whether a request body leaves out what was refused."""
    facts: dict[str, object]
    """What must be stored."""
    columns: dict[str, float | int] = field(default_factory=dict)
    """Settings of the model in the catalogue."""
    functions: tuple[str, ...] = ()
    instruction: str = ""


CASES = {
    "temperature": Case(
        "openai",
        "gpt-5/text",
        [400, 200],
        lambda body: "temperature" not in body,
        {"refuses": ["temperature"]},
        columns={"temperature": 0.5},
    ),
    "max_tokens": Case(
        "openai-unrecognised",
        "o3/text",
        [400, 200],
        lambda body: "max_tokens" not in body and body["max_completion_tokens"] == 100,
        {"refuses": ["max_tokens"]},
        columns={"max_output_tokens": 100},
    ),
    "max_tokens and temperature": Case(
        "openai-unrecognised",
        "gpt-5/text",
        [400, 400, 200],
        lambda body: "temperature" not in body and body["max_completion_tokens"] == 100,
        {"refuses": ["max_tokens", "temperature"]},
        columns={"max_output_tokens": 100, "temperature": 0.5},
    ),
    "max_completion_tokens": Case(
        "mistral",
        "text",
        [200],
        lambda body: body["max_tokens"] == 100,
        {},
        columns={"max_output_tokens": 100},
    ),
    "stream_options of Mistral": Case(
        "mistral-unrecognised",
        "text",
        [422, 200],
        lambda body: "stream_options" not in body,
        {"refuses": ["stream_options"]},
    ),
    "stream_options of a gateway": Case(
        "generic",
        "no-usage-option/text",
        [400, 200],
        lambda body: "stream_options" not in body,
        {"refuses": ["stream_options"]},
    ),
    "storage of Google": Case(
        GOOGLE,
        "no-store/text",
        [400, 200],
        lambda body: "store" not in body,
        {"refuses": ["store"]},
    ),
    "functions of llama.cpp": Case(
        "llamacpp",
        "no-tools/text",
        [500, 200],
        lambda body: "tools" not in body,
        {},
        functions=("echo",),
    ),
    "functions of vLLM": Case(
        "vllm",
        "no-tools/text",
        [400, 200],
        lambda body: "tools" not in body,
        {},
        functions=("echo",),
    ),
    "functions of Ollama": Case(
        "ollama-unrecognised",
        "no-tools/text",
        [400, 200],
        lambda body: "tools" not in body,
        {},
        functions=("echo",),
    ),
    "functions that Ollama says it does not take": Case(
        "ollama",
        "no-tools/text",
        [200],
        lambda body: "tools" not in body,
        {"functions": False},
        functions=("echo",),
    ),
    "reasoning beside functions": Case(
        "openai-chat",
        "gpt-5.6/function-call",
        [400, 200, 200],
        lambda body: body["reasoning_effort"] == "none" and bool(body["tools"]),
        {},
        functions=("echo",),
    ),
    "system role": Case(
        "openai",
        "o1-mini/text",
        [400, 200],
        lambda body: body["messages"][0]["role"] == "user" and "Say moo." in body["messages"][0]["content"],
        {"refuses": ["system"]},
        instruction="Say moo.",
    ),
}


def make_case_conversation(server: StandInServer, case: Case) -> Conversation:
    """Create the model of a case, and a conversation with it."""
    make_endpoint_model(server, case.endpoint, case.model, **case.columns)
    return make_conversation(model=case.model, code_execution="off", system_instruction=case.instruction)


async def requests_of(server: StandInServer, conversation: Conversation, question: str) -> list[JournalEntry]:
    """Ask, and return the requests that the server received. The turn must succeed."""
    before = len(server.journal)
    turn = await ask_and_wait(conversation, question)
    assert turn.status == "done", turn.error_detail
    return server.journal[before:]


@pytest.mark.parametrize("name", CASES)
async def test_parameter_that_a_server_refuses_is_left_out_of_later_requests(
    endpoints: StandInServer, settings: Settings, name: str
) -> None:
    case = CASES[name]
    settings.TOOL_SETS = ["tests.chat.answering.tools.recording_tools.make"]
    recording_tools.choose(RecordingTools(case.functions))
    conversation = await database_sync_to_async(make_case_conversation)(endpoints, case)
    first = await requests_of(endpoints, conversation, "first")
    assert [entry.status for entry in first] == case.statuses
    assert case.is_remembered(first[-1].body)
    facts = await database_sync_to_async(stored_facts)(case.endpoint, case.model)
    assert {key: facts.get(key) for key in case.facts} == case.facts
    second = await requests_of(endpoints, conversation, "second")
    assert {entry.status for entry in second} == {200}
    assert all(case.is_remembered(entry.body) for entry in second)


async def test_next_round_leaves_out_the_parameter_that_the_server_refused_in_this_round(
    endpoints: StandInServer, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make_probed_conversation() -> Conversation:
        conversation = make_case_conversation(endpoints, case)
        endpoint = endpoint_of(ModelEndpoint.objects.get(name=case.endpoint))
        # What a start has read of such a model is used for the first request.
        StoredEndpoints().remember(endpoint, case.model, ModelFacts(is_probed=True))
        return conversation

    case = CASES["reasoning beside functions"]
    settings.TOOL_SETS = ["tests.chat.answering.tools.recording_tools.make"]
    recording_tools.choose(RecordingTools(case.functions))
    conversation = await database_sync_to_async(make_probed_conversation)()
    read = []
    find_capabilities = rows._find_capabilities

    def find_and_note(provider: str, endpoint: str, model: str) -> Capabilities | None:
        read.append(model)
        return find_capabilities(provider, endpoint, model)

    monkeypatch.setattr(rows, "_find_capabilities", find_and_note)
    entries = await requests_of(endpoints, conversation, "first")
    assert [entry.status for entry in entries] == [400, 200, 200]
    assert read == [case.model], "the first round has what the start read"


async def test_thoughts_are_sent_back_after_a_server_has_required_them(
    endpoints: StandInServer, settings: Settings
) -> None:
    case = Case("deepseek-unrecognised", "function-call", [200], bool, {})
    settings.TOOL_SETS = ["tests.chat.answering.tools.recording_tools.make"]
    recording_tools.choose(RecordingTools(("echo",)))
    conversation = await database_sync_to_async(make_case_conversation)(endpoints, case)
    first = await requests_of(endpoints, conversation, "first")
    assert [entry.status for entry in first] == [200, 400, 200]
    second = await requests_of(endpoints, conversation, "second")
    assert [entry.status for entry in second] == [200, 200]
    answers = [message for message in second[-1].messages if message["role"] == "assistant"]
    # The thoughts of the calls go back; the other answers had none.
    assert [bool(message["reasoning_content"]) for message in answers] == [True, False, True]


@pytest.mark.parametrize("dialect", ["deepseek", "deepseek-unrecognised"])
async def test_reasoning_is_sent_back_in_each_turn_to_a_server_that_requires_it(
    endpoints: StandInServer, dialect: str
) -> None:
    conversation = await database_sync_to_async(make_case_conversation)(
        endpoints, Case(dialect, "thoughts", [], bool, {})
    )
    for question in ("first", "second", "third"):
        entries = await requests_of(endpoints, conversation, question)
    assert [entry.status for entry in entries] == [200]
    assert entries[-1].messages[-2]["reasoning_content"].startswith("**Reading the question**")


async def test_long_conversation_is_shortened_until_the_server_accepts_it(endpoints: StandInServer) -> None:
    for profile in ("openai", "llamacpp", "vllm", "deepseek", "generic"):
        # Without functions, its answers are short.
        case = Case(profile, "context-500/function-call", [], bool, {})
        conversation = await database_sync_to_async(make_case_conversation)(endpoints, case)
        for number in range(3):
            entries = await requests_of(endpoints, conversation, f"question {number} " + "word " * 100)
        assert entries[-1].status == 200, profile
        assert "question 2" in str(entries[-1].messages[-1])
        await conversation.adelete()
