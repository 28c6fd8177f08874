"""The Responses API through whole turns: what is stored, what goes back, and how a model gets to this protocol.

The strict stand-in refuses reasoning that it did not send with an item that was done, ids, and requests to store.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from channels.db import database_sync_to_async
from pytest_django import Settings

from chat.library.exports.registry import export_conversation
from chat.models import Conversation, LanguageModel, Turn
from chat.vocabulary.part_json import part_to_json
from chat.vocabulary.parts import JSON, Part, Text, Thought
from tests.chat.answering.tools import recording_tools
from tests.chat.answering.tools.recording_tools import RecordingTools, UseTools
from tests.chat.answering.turns.test_openai_streams import assert_accepted, assert_turn
from tests.chat.answering.turns.test_openai_switching import DrawingTools, use_model
from tests.chat.turn_driver import Tab, ask_and_wait, fresh_page, new_conversation, parts_of
from tests.openai_endpoints import make_endpoint_conversation, make_endpoint_model, stored_facts
from tests.openai_server.response_shapes import RESPONSE_SHAPES
from tests.openai_server.server import JournalEntry, StandInServer
from tests.responses_recordings import Recording, response_recordings
from tests.sampling import sampled

pytestmark = pytest.mark.django_db(transaction=True)

RECORDINGS = response_recordings()
SCENARIOS = (
    *("text", "markdown", "hostile", "unicode", "long-20", "thoughts", "image-model-1", "image-model-2"),
    *("function-call", "function-calls", "function-calls-3", "function-call-thought", "function-code"),
    *("function-unknown", "function-args-invalid", "function-failing", "function-forever", "function-script"),
    *("without-finish", "reset", "cut", "stall", "stall-at-start"),
)
"""Conversations that both protocols of the stand-in hold."""
CHANGING = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\d+|(?:openai|generic)(?:-responses|-chat)"
    r"|<dt>Ended with</dt><dd><bdi>[^<]*</bdi></dd>"
)
"""Ids, times, the names of endpoints, and the words of a server for the end of an answer."""
HIDDEN = re.compile(r"<details [^>]*? data-part-kind=\"thought\" hidden>.*?</details>", re.DOTALL)
"""Reasoning that only goes back to its model."""


async def conversation_at(server: StandInServer, endpoint: str, model: str) -> Conversation:
    """Create a conversation with a model of the stand-in."""
    conversation: Conversation = await database_sync_to_async(make_endpoint_conversation)(server, endpoint, model)
    return conversation


async def ask_twice(
    server: StandInServer, endpoint: str, model: str, functions: Sequence[str], settings: Settings
) -> tuple[list[Turn], list[JournalEntry], Conversation]:
    """Ask two questions. Return the turns, the requests that the server received, and the conversation."""
    settings.TOOL_SETS = ["tests.chat.answering.tools.recording_tools.make"]
    recording_tools.choose(RecordingTools(functions))
    conversation = await conversation_at(server, endpoint, model)
    before = len(server.journal)
    tab = Tab(conversation.pk)
    turns = [await ask_and_wait(conversation, text, tab) for text in ("first", "second")]
    assert tab.page.transcript == await fresh_page(conversation)
    return turns, server.journal[before:], conversation


def items_between_questions(entry: JournalEntry) -> list[dict[str, Any]]:
    """Return the items of a request after its first question, without outputs."""
    first = next(index for index, item in enumerate(entry.items) if item.get("role") == "user")
    return [item for item in entry.items[first + 1 :] if "output" not in item]


@pytest.mark.parametrize("name", sampled(RESPONSE_SHAPES, 12))
async def test_shape_is_stored_and_its_items_go_back(endpoints: StandInServer, settings: Settings, name: str) -> None:
    shape = RESPONSE_SHAPES[name]
    turns, entries, _ = await ask_twice(endpoints, "openai-responses", name, ["echo"], settings)
    if shape.response.status == 200:
        assert_accepted(entries)
    for turn in turns:
        await assert_turn(turn, shape.expected)
    if shape.back:
        assert items_between_questions(entries[-1])[: len(shape.back)] == list(shape.back)


async def test_calls_reasoning_and_phases_go_back_as_they_came(endpoints: StandInServer, use_tools: UseTools) -> None:
    use_tools("echo")
    conversation = await conversation_at(endpoints, "openai-responses", "function-call")
    before = len(endpoints.journal)
    for question in ("first", "second"):
        assert (await ask_and_wait(conversation, question)).status == "done"
    entries = endpoints.journal[before:]
    assert_accepted(entries)
    assert {entry.path for entry in entries} == {"/openai/v1/responses"}
    for earlier, later in (entries[:2], entries[2:]):
        # The server's cache of the prompt remains valid.
        assert later.items[: len(earlier.items)] == earlier.items
    kinds = [item["type"] for item in entries[1].items]
    assert kinds == ["message", "reasoning", "function_call", "function_call_output"]
    assert entries[1].items[1]["encrypted_content"].startswith("done-")
    assert entries[1].items[2]["arguments"] == '{"value":1}'


async def test_reasoning_of_another_account_is_not_sent(
    endpoints: StandInServer, use_tools: UseTools, settings: Settings
) -> None:
    use_tools("echo")
    conversation = await conversation_at(endpoints, "openai-responses", "function-call")
    assert (await ask_and_wait(conversation, "first")).status == "done"
    for other in ("deepseek-responses", "vllm-chat"):
        await database_sync_to_async(make_endpoint_model)(endpoints, other, f"text-{len(other)}/text")
        await use_model(conversation, f"text-{len(other)}/text")
        assert (await ask_and_wait(conversation, "second")).status == "done"
        assert "done-" not in str(endpoints.journal[-1].body)
        assert "echo" in str(endpoints.journal[-1].body)


async def test_reasoning_that_cannot_be_read_is_left_out_of_the_repeated_request(endpoints: StandInServer) -> None:
    conversation = await conversation_at(endpoints, "openai-responses", "thoughts")
    assert (await ask_and_wait(conversation, "first")).status == "done"

    def spoil() -> None:
        for row in conversation.messages.get(index=1).parts.all():
            if "provider_data" in row.data:
                row.data["provider_data"]["item"]["encrypted_content"] = "spoilt"
                row.save()

    await database_sync_to_async(spoil)()
    before = len(endpoints.journal)
    assert (await ask_and_wait(conversation, "second")).status == "done"
    refused, taken = endpoints.journal[before:]
    assert refused.error["error"]["code"] == "invalid_encrypted_content"
    assert [item["type"] for item in taken.items] == ["message"] * 3


async def test_graph_of_a_function_goes_back_in_its_output(endpoints: StandInServer, settings: Settings) -> None:
    settings.TOOL_SETS = ["tests.chat.answering.tools.recording_tools.make"]
    recording_tools.choose(DrawingTools(("draw",)))
    conversation = await conversation_at(endpoints, "openai-responses", "function-call")
    turn = await ask_and_wait(conversation, "first")
    assert turn.status == "done"
    text = "".join(part.text for part in await parts_of(turn) if isinstance(part, Text))
    assert "The image begins with #" in text
    [output] = [item["output"] for item in endpoints.journal[-1].items if "output" in item]
    assert [one["type"] for one in output] == ["input_text", "input_image"]


# --- how a model gets to this protocol


async def test_server_that_refers_to_this_protocol_is_asked_by_it_from_then_on(
    endpoints: StandInServer, use_tools: UseTools
) -> None:
    use_tools("echo")
    conversation = await conversation_at(endpoints, "openai", "gpt-5.6/function-call")
    before = len(endpoints.journal)
    for question in ("first", "second"):
        turn = await ask_and_wait(conversation, question)
        assert turn.status == "done"
        assert any(isinstance(part, Thought) for part in await parts_of(turn)), "it thinks"
    entries = endpoints.journal[before:]
    assert [entry.status for entry in entries] == [400, 200, 200, 200, 200]
    assert [entry.path.rpartition("/v1")[2] for entry in entries] == ["/chat/completions", *["/responses"] * 4]
    facts = await database_sync_to_async(stored_facts)("openai", "gpt-5.6/function-call")
    assert facts["demands"] == ["Responses API"]


@pytest.mark.parametrize(
    ("endpoint", "model", "statuses"),
    [
        # The operator has chosen chat completions.
        ("openai-chat", "gpt-5.6/function-call", [400, 200, 200]),
        # The server refers to an address that it does not have.
        ("openai", "gpt-5.6+no-responses/function-call", [400, 404, 400, 200, 200]),
    ],
)
async def test_answers_come_without_thinking_where_this_protocol_is_not_spoken(
    endpoints: StandInServer, use_tools: UseTools, endpoint: str, model: str, statuses: list[int]
) -> None:
    use_tools("echo")
    conversation = await conversation_at(endpoints, endpoint, model)
    before = len(endpoints.journal)
    assert (await ask_and_wait(conversation, "first")).status == "done"
    entries = endpoints.journal[before:]
    assert [entry.status for entry in entries] == statuses
    assert entries[-1].body["reasoning_effort"] == "none"
    before = len(endpoints.journal)
    assert (await ask_and_wait(conversation, "second")).status == "done"
    assert [entry.status for entry in endpoints.journal[before:]] == [200, 200]


async def test_chosen_protocol_that_a_server_does_not_speak_is_an_error(endpoints: StandInServer) -> None:
    conversation = await conversation_at(endpoints, "mistral-responses", "text")
    turn = await ask_and_wait(conversation, "first")
    assert (turn.status, turn.error_code) == ("failed", "invalid_request")
    assert endpoints.journal[-1].path == "/mistral/v1/responses"


@pytest.mark.parametrize(
    ("trait", "column", "refused"),
    [
        ("no-reasoning", {}, ["include", "reasoning.summary"]),
        ("unverified", {}, ["reasoning.summary"]),
        ("gpt-5", {"temperature": 0.5}, ["temperature"]),
    ],
)
async def test_refused_parameter_is_left_out_and_remembered(
    endpoints: StandInServer, trait: str, column: dict[str, float], refused: list[str]
) -> None:
    model = f"{trait}/text"
    await database_sync_to_async(make_endpoint_model)(endpoints, "openai-responses", model, **column)
    conversation = await new_conversation(model=model, code_execution="off")
    before = len(endpoints.journal)
    assert (await ask_and_wait(conversation, "first")).status == "done"
    assert [entry.status for entry in endpoints.journal[before:]] == [400] * len(refused) + [200]
    facts = await database_sync_to_async(stored_facts)("openai-responses", model)
    assert facts["refuses"] == refused
    assert (await ask_and_wait(conversation, "second")).status == "done"
    assert len(endpoints.journal[before:]) == len(refused) + 2


# --- the same as chat completions


OF_THE_PROVIDER = ("provider_data", "id", "call_id", "made_by", "duration_ms")
"""Fields of a part that hold ids, signatures and times."""


def plain_parts(parts: Sequence[Part]) -> list[object]:
    """Return parts without ids and signatures. A part that only brings something back to its provider is left out."""
    shown = [part for part in parts if part.long_text or part.is_answer or not part.provider_data]
    values = [part_to_json(part) for part in shown]
    return [{name: one for name, one in value.items() if name not in OF_THE_PROVIDER} for value in values]


OF_THE_PROTOCOL = frozenset(
    {
        *(*OF_THE_PROVIDER, "thought_signature", "index", "part_index", "attachment_index", "started_calls"),
        *("usage", "provider_usage", "cost", "response_id", "finish_reason", "model_version", "protocol"),
    }
)
"""What exports hold of ids, signatures, positions, counts, and of the words of a protocol."""


def plain_json(value: JSON) -> JSON:
    """Return the JSON of an export without what differs between protocols, and without parts that have no text."""
    if isinstance(value, dict):
        return {name: plain_json(one) for name, one in value.items() if name not in OF_THE_PROTOCOL}
    if isinstance(value, list):
        return [plain_json(one) for one in value if not is_empty_text(one)]
    return value


def is_empty_text(value: JSON) -> bool:
    """Return whether JSON is a text or a thought without words."""
    return isinstance(value, dict) and value.get("kind") in ("text", "thought") and not value.get("text")


def export(conversation: Conversation) -> str:
    """Return the exports as Markdown, as a notebook and as JSON."""
    found = []
    for name in ("md", "ipynb", "json"):
        download = export_conversation(conversation, name, exported_at=datetime(2026, 1, 1, tzinfo=UTC))
        text = b"".join(download.chunks).decode()
        found.append(text if name == "md" else json.dumps(plain_json(json.loads(text)), ensure_ascii=False))
    return "\n".join(found)


async def outcome_of(server: StandInServer, endpoint: str, scenario: str) -> list[object]:
    """Hold a conversation of one scenario. Return what it has stored, its page and its exports without ids."""
    conversation = await conversation_at(server, endpoint, scenario)
    question = '%echo {"value": 1}\n===\n%echo {"value": 2}' if scenario == "function-script" else "first"
    found: list[object] = []
    for text in (question, "second"):
        turn = await ask_and_wait(conversation, text)
        found += [(turn.status, turn.finish, turn.error_code), *plain_parts(await parts_of(turn))]
    texts = [await fresh_page(conversation), await database_sync_to_async(export)(conversation)]
    await conversation.adelete()
    await LanguageModel.objects.all().adelete()
    return [*found, *(CHANGING.sub("#", HIDDEN.sub("", text)) for text in texts)]


@pytest.mark.parametrize("scenario", sampled(SCENARIOS, 6))
async def test_scenario_is_the_same_in_both_protocols(
    endpoints: StandInServer, use_tools: UseTools, settings: Settings, scenario: str
) -> None:
    settings.ROUNDS_LIMIT = 3
    if scenario.startswith("stall"):
        settings.PROVIDER_IDLE_LIMIT_S = settings.PROVIDER_FIRST_BYTE_LIMIT_S = 0.3
    use_tools("echo", "fail")
    found = [await outcome_of(endpoints, name, scenario) for name in ("openai-chat", "openai-responses")]
    assert found[1] == found[0]


if RECORDINGS:
    # Without recordings there is no such test, so that none is skipped.
    @pytest.mark.drill
    @pytest.mark.parametrize("recorded", RECORDINGS, ids=lambda one: one.name)
    async def test_recording_is_stored_and_its_items_go_back(
        endpoints: StandInServer, settings: Settings, recorded: Recording
    ) -> None:
        functions = recorded.function_names or ["echo"]
        turns, entries, _ = await ask_twice(
            endpoints, "openai-responses", f"recording:{recorded.name}", functions, settings
        )
        for turn in turns:
            await assert_turn(turn, recorded.expected)
        back = recorded.back
        if back:
            kinds = {"message", "reasoning", "function_call", "custom_tool_call"}
            sent = [item for item in items_between_questions(entries[-1]) if item["type"] in kinds]
            assert [item for item in sent if item.get("role") != "user"][: len(back)] == back
