"""The Responses API through whole turns: what is stored, what goes back, and how a model gets to this protocol.

The strict stand-in refuses reasoning that it did not send with an item that was done, ids, and requests to store.
"""

from __future__ import annotations

from typing import Any

import pytest
from channels.db import database_sync_to_async
from pytest_django import Settings

from chat.vocabulary.parts import Text, Thought
from tests.chat.answering.tools import recording_tools
from tests.chat.answering.tools.recording_tools import UseTools
from tests.chat.answering.turns.test_openai_streams import ask_twice, assert_accepted, assert_turn
from tests.chat.answering.turns.test_openai_switching import DrawingTools, use_model
from tests.chat.answering.turns.test_openai_tool_loop import conversation_at
from tests.chat.turn_driver import ask_and_wait, new_conversation, parts_of
from tests.openai_endpoints import make_endpoint_model, stored_facts
from tests.openai_server.response_shapes import RESPONSE_SHAPES
from tests.openai_server.server import JournalEntry, StandInServer
from tests.responses_recordings import Recording, response_recordings
from tests.sampling import sampled

pytestmark = pytest.mark.django_db(transaction=True)

RECORDINGS = response_recordings()


def items_between_questions(entry: JournalEntry) -> list[dict[str, Any]]:
    """Return the items of a request after its first question, without outputs."""
    first = next(index for index, item in enumerate(entry.items) if item.get("role") == "user")
    return [item for item in entry.items[first + 1 :] if "output" not in item]


@pytest.mark.parametrize("name", sampled(RESPONSE_SHAPES, 12))
async def test_each_hand_written_response_is_stored_and_its_items_are_sent_back(
    endpoints: StandInServer, settings: Settings, name: str
) -> None:
    shape = RESPONSE_SHAPES[name]
    turns, entries, _ = await ask_twice(endpoints, "openai-responses", name, ["echo"], settings)
    if shape.response.status == 200:
        assert_accepted(entries)
    for turn in turns:
        await assert_turn(turn, shape.expected)
    if shape.back:
        assert items_between_questions(entries[-1])[: len(shape.back)] == list(shape.back)


async def test_calls_reasoning_and_phases_are_sent_back_unchanged(
    endpoints: StandInServer, use_tools: UseTools
) -> None:
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


async def test_reasoning_received_from_another_endpoint_is_not_sent(
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


async def test_repeated_request_omits_reasoning_that_the_server_cannot_read(endpoints: StandInServer) -> None:
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


async def test_graph_of_a_function_is_sent_back_in_its_output(endpoints: StandInServer, settings: Settings) -> None:
    settings.TOOL_SETS = ["tests.chat.answering.tools.recording_tools.make"]
    recording_tools.choose(DrawingTools(("draw",)))
    conversation = await conversation_at(endpoints, "openai-responses", "function-call")
    turn = await ask_and_wait(conversation, "first")
    assert turn.status == "done"
    text = "".join(part.text for part in await parts_of(turn) if isinstance(part, Text))
    assert "The image begins with #" in text
    [output] = [item["output"] for item in endpoints.journal[-1].items if "output" in item]
    assert [one["type"] for one in output] == ["input_text", "input_image"]


# --- how a model is switched to this protocol


async def test_model_uses_the_responses_api_after_its_server_has_required_it(
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
async def test_model_answers_without_reasoning_if_its_server_has_no_responses_api(
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


async def test_chosen_protocol_that_the_server_does_not_support_is_an_error(endpoints: StandInServer) -> None:
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
async def test_refused_parameter_is_left_out_of_later_requests(
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


if RECORDINGS:
    # Without recordings there is no such test, so that none is skipped.
    @pytest.mark.drill
    @pytest.mark.parametrize("recorded", RECORDINGS, ids=lambda one: one.name)
    async def test_recorded_response_is_stored_and_its_items_are_sent_back(
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
