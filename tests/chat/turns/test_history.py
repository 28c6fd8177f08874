"""What the model is asked in the next turn, read at the wire."""

from __future__ import annotations

import base64
import json
import urllib.request
import uuid
from typing import Any

import pytest
from channels.db import database_sync_to_async
from pytest_django import Settings

from attachments.store import new_pending
from chat.models import Conversation, Turn
from chat.parts import Content, Part, PartKind, Role
from chat.turns.history import merged, without_open_code
from chat.turns.runner import Runner, start_turn
from chat.turns.starting import Asked
from tests.attachments.conftest import png
from tests.chat.turns.running import answered, new_conversation

TEXT = Part(PartKind.TEXT, text="t")
CODE = Part(PartKind.EXECUTABLE_CODE, text="1")
RESULT = Part(PartKind.CODE_EXECUTION_RESULT, outcome="OUTCOME_OK")


def last_request(url: str) -> dict[str, Any]:
    """The body of the newest call."""
    with urllib.request.urlopen(f"{url}/emulator/calls", timeout=5) as answer:
        listed = json.load(answer)
    calls = listed["calls"] if isinstance(listed, dict) else listed
    number = max(call["number"] for call in calls)
    with urllib.request.urlopen(f"{url}/emulator/calls/{number}", timeout=5) as answer:
        request: dict[str, Any] = json.load(answer)["request"]
    return request


async def second_request(settings: Settings, scenario: str, **chosen: str) -> list[dict[str, Any]]:
    """Contents of the second question, after a first answer of that scenario."""
    conversation = await new_conversation(model=f"scenario-{scenario}", **chosen)
    await answered(conversation, "first")
    await Conversation.objects.filter(pk=conversation.pk).aupdate(model="scenario-text")
    await answered(conversation, "second")
    contents: list[dict[str, Any]] = last_request(settings.GOOGLE_GEMINI_BASE_URL)["contents"]
    return contents


@pytest.mark.django_db(transaction=True)
async def test_code_is_replayed_in_order_with_ids_and_signatures(emulated: Settings) -> None:
    first, answer, second = await second_request(emulated, "code")
    assert [first["role"], answer["role"], second["role"]] == ["user", "model", "user"]
    code, result, text, signed = answer["parts"]
    assert code["executableCode"]["id"] == result["codeExecutionResult"]["id"]
    assert code["thoughtSignature"]
    assert "thoughtSignature" not in result
    assert text["text"]
    assert signed["text"] == ""
    assert signed["thoughtSignature"]
    assert second["parts"] == [{"text": "second"}]


@pytest.mark.django_db(transaction=True)
async def test_thoughts_are_not_replayed(emulated: Settings) -> None:
    _, answer, _ = await second_request(emulated, "thoughts")
    assert not any(part.get("thought") for part in answer["parts"])
    assert any(part.get("text") for part in answer["parts"])


@pytest.mark.django_db(transaction=True)
async def test_graphs_are_replayed_as_the_bytes_that_came(emulated: Settings) -> None:
    _, answer, _ = await second_request(emulated, "image")
    [graph] = [part["inlineData"] for part in answer["parts"] if "inlineData" in part]
    assert base64.b64decode(graph["data"], altchars=b"-_").startswith(b"\x89PNG")
    assert not any("GRAPH" in part.get("text", "") for part in answer["parts"])


@pytest.mark.django_db(transaction=True)
async def test_only_the_newest_graphs_are_replayed(emulated: Settings) -> None:
    _, answer, _ = await second_request(emulated, "images-7")
    kinds = [next(iter(part)) for part in answer["parts"]]
    assert kinds.count("inlineData") == 4
    assert kinds.count("codeExecutionResult") == 7


@pytest.mark.django_db(transaction=True)
async def test_an_image_that_code_printed_is_put_back_into_its_output(emulated: Settings) -> None:
    _, answer, _ = await second_request(emulated, "image-in-output")
    [output] = [part["codeExecutionResult"]["output"] for part in answer["parts"] if "codeExecutionResult" in part]
    head, _, tail = output.partition("base64,")
    assert "data:image/png;" in head
    assert base64.b64decode(tail.split()[0].strip("\"')>")).startswith(b"\x89PNG")


@pytest.mark.django_db(transaction=True)
async def test_an_answer_that_left_nothing_is_left_out(emulated: Settings) -> None:
    contents = await second_request(emulated, "rate-limited")
    assert [content["role"] for content in contents] == ["user"]
    assert contents[0]["parts"] == [{"text": "first"}, {"text": "second"}]


@pytest.mark.django_db(transaction=True)
async def test_code_of_a_stopped_turn_without_its_result_is_left_out(emulated: Settings) -> None:
    contents = await second_request(emulated, "code-without-result")
    assert contents[-1]["role"] == "user"
    model_parts = [part for content in contents if content["role"] == "model" for part in content["parts"]]
    assert not model_parts or "executableCode" not in model_parts[-1]


@pytest.mark.django_db(transaction=True)
async def test_files_of_a_question_are_sent_with_it(emulated: Settings) -> None:
    conversation = await new_conversation(model="scenario-text")

    def ask() -> tuple[uuid.UUID, Asked]:
        shown = Conversation.objects.get(pk=conversation.pk)
        file = new_pending(
            owner_id=shown.owner_id,
            data=png(3),
            name="photo.png",
            mime_type="image/png",
            width=8,
            height=6,
            is_graph=False,
        )
        return shown.pk, Asked("what is this?", (file,))

    await start_turn(ask)
    await Runner.current().drain()
    turn = await Turn.objects.aget(conversation=conversation)
    assert turn.status == "done"
    [content] = last_request(emulated.GOOGLE_GEMINI_BASE_URL)["contents"]
    data = content["parts"][0]["inlineData"]
    assert data["mimeType"] == "image/png"
    assert base64.b64decode(data["data"], altchars=b"-_") == png(3)
    assert content["parts"][1] == {"text": "what is this?"}
    await database_sync_to_async(conversation.refresh_from_db)()
    assert conversation.title == "what is this?"


def test_open_code_is_cut_only_at_the_end() -> None:
    assert without_open_code([CODE, RESULT, TEXT, CODE]) == [CODE, RESULT, TEXT]
    assert without_open_code([CODE, RESULT]) == [CODE, RESULT]
    assert without_open_code([CODE, CODE]) == []


def test_neighbours_of_one_role_are_one_content() -> None:
    user, model = Content(Role.USER, (TEXT,)), Content(Role.MODEL, (TEXT,))
    nothing = Content(Role.MODEL, ())
    assert list(merged([user, nothing, user, model, model, user])) == [
        Content(Role.USER, (TEXT, TEXT)),
        Content(Role.MODEL, (TEXT, TEXT)),
        user,
    ]
