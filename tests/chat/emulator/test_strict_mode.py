"""Requests that strict mode rejects, through the real SDK if it can send them."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from pathlib import Path

import aiohttp
import pytest
from google import genai
from google.genai import errors, types

from chat.emulator.wire import Chunk, Step, WireError, WireObject
from tests.chat.emulator.conftest import connected
from tests.chat.emulator.recorded_bodies import SIGNED_STREAM, SIGNED_UNARY
from tests.chat.emulator.request_factory import HELLO, make_request
from tests.chat.emulator.sdk import answer, model_content, parts_of, text_of, user, without_signatures
from tests.chat.emulator.test_scenarios import BROKEN, FAULTS
from tests.emulator_server import running_emulator
from tests.gemini_emulator import scenarios, strict_mode
from tests.gemini_emulator.content_digest import DUMMY_SIGNATURES
from tests.gemini_emulator.strict_mode import StrictMode

MORE = {"role": "user", "parts": [{"text": "And then?"}]}
FOREIGN_SIGNATURE = base64.b64encode(b"of somebody else").decode()
FUNCTIONS = {"functionDeclarations": [{"name": "f"}]}
CODE_TOOL: WireObject = {"codeExecution": {}}
CALL = {"functionCall": {"name": "f", "args": {}, "id": "c1"}, "thoughtSignature": DUMMY_SIGNATURES[0]}
REJECTING_SCENARIOS = {"corrupted-signature-once", "images-refused"}
RESPONSE = {"functionResponse": {"name": "f", "response": {}, "id": "c1"}}


@pytest.fixture(scope="module")
def strict_url(recordings: Path) -> Iterator[str]:
    with running_emulator(recordings, strict=True) as url:
        yield url


@pytest.fixture
async def client(strict_url: str) -> AsyncIterator[genai.Client]:
    """The SDK with the address of the emulator in strict mode."""
    async with connected(strict_url) as sdk:
        yield sdk


def _check(contents: list[WireObject], *, model: str = "gemini-3-flash", **body: object) -> str:
    """Return the message of the rejection, or an empty text if the request is accepted."""
    try:
        StrictMode().check(make_request(contents, model=model, fields=body))
    except WireError as rejection:
        error: WireObject = rejection.body["error"]
        assert (error["code"], error["status"]) == (400, "INVALID_ARGUMENT")
        return str(error["message"])
    return ""


# --- signatures ---------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.* is not a valid:UserWarning")
@pytest.mark.parametrize("name", sorted(scenarios.SCENARIOS.keys() - FAULTS.keys() - BROKEN - REJECTING_SCENARIOS))
async def test_faithful_history_is_accepted(client: genai.Client, name: str) -> None:
    model = scenarios.PREFIX + name
    history: list[types.Content] = []
    for prompt in ("Hello", "And then?", "And now?"):
        history.append(user(prompt))
        parts = parts_of(await answer(client, model, list(history)))
        sent = [part for part in parts if not part.thought and not part.function_call and _is_known(part)]
        history.append(model_content(sent or [types.Part(text="(no answer)")]))


def _is_known(part: types.Part) -> bool:
    """Return whether the SDK knows the kind of a part; otherwise the part is empty."""
    return bool(part.model_dump(exclude_none=True))


async def test_history_without_signatures_is_accepted_after_a_scenario_rejected_them(client: genai.Client) -> None:
    model = "scenario-corrupted-signature-once"
    parts = parts_of(await answer(client, model))
    with pytest.raises(errors.ClientError, match=r"Corrupted thought signature\."):
        await answer(client, model, [user("Hello"), model_content(parts), user("And then?")])
    assert text_of(
        await answer(client, model, [user("Hello"), model_content(without_signatures(parts)), user("And then?")])
    )


@pytest.mark.parametrize("model", [SIGNED_STREAM, SIGNED_UNARY])
async def test_replayed_recording_must_be_sent_back_with_its_signatures(client: genai.Client, model: str) -> None:
    parts = parts_of(await answer(client, model, headers={"X-Emulator-Cut": "7"}))
    assert any(part.thought_signature for part in parts)
    assert parts_of(await answer(client, model, [user("Hello"), model_content(parts), user("And then?")])) == parts
    with pytest.raises(errors.ClientError, match="Thought signature is missing in a part of contents"):
        await answer(client, model, [user("Hello"), model_content(without_signatures(parts)), user("And then?")])


async def test_altered_signature_is_rejected_until_all_are_removed(client: genai.Client) -> None:
    parts = parts_of(await answer(client, "scenario-code"))
    altered = [parts[0].model_copy(update={"thought_signature": b"altered"}), *parts[1:]]
    stripped = [user("Hello"), model_content(without_signatures(parts)), user("Strip it")]
    with pytest.raises(errors.ClientError, match="Thought signature is missing"):
        await answer(client, "scenario-code", stripped)
    with pytest.raises(errors.ClientError, match=r"Corrupted thought signature\."):
        await answer(client, "scenario-code", [user("Hello"), model_content(altered), user("Strip it")])
    for _ in range(2):
        assert text_of(await answer(client, "scenario-code", stripped))
    assert text_of(await answer(client, "scenario-code", [user("Hello"), model_content(parts), user("Strip it")]))
    with pytest.raises(errors.ClientError, match="Thought signature is missing"):
        await answer(client, "scenario-code", stripped)


async def test_answer_of_another_model_is_accepted_without_its_signatures(client: genai.Client) -> None:
    parts = parts_of(await answer(client, "scenario-code"))
    with pytest.raises(errors.ClientError, match=r"Corrupted thought signature\."):
        await answer(client, "gemini-3-flash", [user("Hello"), model_content(parts), user("Switched")])
    history = [user("Hello"), model_content(without_signatures(parts)), user("Switched again")]
    assert text_of(await answer(client, "gemini-3-flash", history))


async def test_beginning_of_a_stopped_answer_is_accepted(client: genai.Client) -> None:
    stream = await client.aio.models.generate_content_stream(model="scenario-stall", contents="Hello")
    parts: list[types.Part] = []

    async def read() -> None:
        async for chunk in stream:
            parts.extend(parts_of([chunk]))

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(read(), timeout=3.0)
    assert parts
    history = [user("Hello"), model_content(parts), user("Continue")]
    stream = await client.aio.models.generate_content_stream(model="scenario-stall", contents=list(history))
    assert await anext(stream)


async def test_rejected_request_is_in_the_journal(strict_url: str) -> None:
    async with aiohttp.ClientSession(strict_url) as http:
        foreign = {"role": "model", "parts": [{"text": "a", "thoughtSignature": FOREIGN_SIGNATURE}]}
        url = "/v1beta/models/scenario-empty-answer-once:generateContent"
        async with http.post(url, json={"contents": [HELLO, foreign, HELLO]}) as response:
            assert response.status == 400
        async with http.get("/emulator/calls") as response:
            assert (await response.json())[-1]["state"] == "refused"


@pytest.mark.parametrize("dummy", DUMMY_SIGNATURES)
def test_foreign_history_is_accepted_with_dummies_or_without_signatures(dummy: str) -> None:
    def foreign(**signature: str) -> list[WireObject]:
        return [HELLO, {"role": "model", "parts": [{"text": "Imported.", **signature}]}, MORE]

    assert _check(foreign()) == ""
    assert _check(foreign(thoughtSignature=dummy)) == ""
    assert _check(foreign(thoughtSignature=base64.urlsafe_b64encode(dummy.encode()).decode())) == ""
    assert _check(foreign(thoughtSignature=FOREIGN_SIGNATURE)) == "Corrupted thought signature."


def test_thoughts_may_be_sent_back() -> None:
    assert _check([HELLO, {"role": "model", "parts": [{"text": "Hm.", "thought": True}, {"text": "Yes."}]}, MORE]) == ""


def test_code_without_a_result_at_the_end_of_a_content_is_rejected() -> None:
    code = {"executableCode": {"language": "PYTHON", "code": "1"}}
    assert "contents[1] ends with executable_code" in _check([HELLO, {"role": "model", "parts": [code]}, MORE])
    assert _check([HELLO, {"role": "model", "parts": [code, {"text": "It printed nothing."}]}, MORE]) == ""


async def test_answer_is_remembered_before_it_is_sent() -> None:
    mode = StrictMode()

    async def steps() -> AsyncGenerator[Step, None]:
        part = {"text": "Yes.", "thoughtSignature": FOREIGN_SIGNATURE}
        yield Chunk({"candidates": [{"content": {"parts": [part], "role": "model"}}]})

    async for step in mode.observe(make_request(), steps()):
        assert isinstance(step, Chunk)
        content = step.response["candidates"][0]["content"]
        mode.check(make_request([HELLO, content, MORE]))


# --- functions, ids, tools ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ([HELLO, {"role": "model", "parts": [CALL]}, {"role": "user", "parts": [RESPONSE]}], ""),
        ([HELLO, {"role": "model", "parts": [CALL]}, MORE], strict_mode.CALL_ORDER),
        ([HELLO, {"role": "model", "parts": [CALL, CALL]}, {"role": "user", "parts": [RESPONSE]}],
         strict_mode.RESPONSE_COUNT),
        ([{"role": "model", "parts": [CALL]}, {"role": "user", "parts": [RESPONSE]}], strict_mode.CALL_ORDER),
        ([HELLO, {"role": "model", "parts": [{"text": "a"}]}, {"role": "user", "parts": [{"functionResponse": {}}]}],
         strict_mode.RESPONSE_ORDER),
        ([HELLO, {"role": "model", "parts": [{"functionCall": {"name": "f"}}]}, {"role": "user", "parts": [RESPONSE]}],
         "was named by no functionCall"),
        ([HELLO, {"role": "model", "parts": [{"functionCall": {"name": "f", "id": "c1"}}]},
          {"role": "user", "parts": [RESPONSE]}],
         "Function call is missing a thought_signature in functionCall parts."),
        ([HELLO, {"role": "model", "parts": [{"functionCall": {"name": "f", "id": "c1"}}]},
          {"role": "user", "parts": [RESPONSE]}, {"role": "model", "parts": [{"text": "a"}]}, MORE], ""),
        ([HELLO, {"role": "model", "parts": [{"codeExecutionResult": {"outcome": "OUTCOME_OK", "id": "r1"}}]}, MORE],
         "was named by no executableCode"),
        ([HELLO, {"role": "model", "parts": [{"codeExecutionResult": {"outcome": "OUTCOME_OK"}}]}, MORE], ""),
        ([HELLO, {"role": "model", "parts": [{"toolResponse": {"id": "t1"}}]}, MORE], "was named by no toolCall"),
    ],
)  # fmt: skip
def test_order_and_ids_of_calls_and_results_are_checked(contents: list[WireObject], message: str) -> None:
    rejection = _check(contents)
    assert message in rejection
    assert bool(message) is bool(rejection)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"tools": [FUNCTIONS]}, ""),
        ({"tools": [CODE_TOOL, {"googleSearch": {}}, {"urlContext": {}}]}, ""),
        ({"generationConfig": {"thinkingConfig": {"thinkingLevel": "LOW"}}}, ""),
        ({"generationConfig": {"thinkingConfig": {"thinkingLevel": "minimal"}}}, ""),
        ({"generationConfig": {"thinkingConfig": {"thinkingLevel": "EXTREME"}}}, '"EXTREME"'),
        ({"generationConfig": {"thinkingConfig": {"thinkingLevel": 3}}}, "thinking_level"),
    ],
)  # fmt: skip
def test_tools_and_thinking_level_are_checked(body: WireObject, message: str) -> None:
    rejection = _check([HELLO], **body)
    assert message in rejection
    assert bool(message) is bool(rejection)


@pytest.mark.parametrize(("model", "is_rejected"), [("gemini-3.1-pro-preview", True), ("gemini-3.5-flash", False)])
def test_minimal_thinking_is_rejected_for_some_models(model: str, is_rejected: bool) -> None:
    config = {"thinkingConfig": {"thinkingLevel": "MINIMAL"}}
    assert bool(_check([HELLO], model=model, generationConfig=config)) is is_rejected


async def test_emulator_without_strict_mode_accepts_all_of_this(emulator_url: str) -> None:
    foreign = {"role": "model", "parts": [{"text": "a", "thoughtSignature": FOREIGN_SIGNATURE}]}
    body = {"contents": [HELLO, foreign, MORE], "tools": [CODE_TOOL]}
    url = f"{emulator_url}/v1beta/models/scenario-text:generateContent"
    async with aiohttp.ClientSession() as http, http.post(url, json=body) as response:
        assert response.status == 200


def test_lines_of_any_recording_are_parsed(tmp_path: Path) -> None:
    for text in ("data: 1", "data: [", "[]", 'data: {"candidates": [{"content": {"parts": [1]}}]}', "\xff"):
        assert strict_mode.parts_of_line(text.encode()) == []
    part = {"text": "a"}
    line = "data: " + json.dumps({"candidates": [{"content": {"parts": [part]}}]}) + "\r"
    assert strict_mode.parts_of_line(line.encode()) == [part]
