"""What a strict emulator refuses, through the real SDK where it can say such a thing at all."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import aiohttp
import pytest
from google import genai
from google.genai import errors, types

from chat.emulator import scenarios, strict
from chat.emulator.call import Call, contents_of
from chat.emulator.normal_form import DUMMIES
from chat.emulator.strict import Strict
from chat.emulator.wire import Chunk, Step, WireError, WireObject
from tests.chat.emulator.conftest import connected
from tests.chat.emulator.sdk import answer, parts_of, text_of
from tests.chat.emulator.test_scenarios import BROKEN, FAULTS
from tests.emulator_server import NO_RECORDINGS, recordings_folder, running_emulator

FOLDER = recordings_folder()
ASK = {"role": "user", "parts": [{"text": "Hello"}]}
MORE = {"role": "user", "parts": [{"text": "And then?"}]}
SIGNATURE = base64.b64encode(b"of somebody else").decode()
FUNCTIONS = {"functionDeclarations": [{"name": "f"}]}
CODE_TOOL: WireObject = {"codeExecution": {}}
CALL = {"functionCall": {"name": "f", "args": {}, "id": "c1"}, "thoughtSignature": DUMMIES[0]}
REFUSING = {"corrupted-signature-once", "images-refused"}
RESPONSE = {"functionResponse": {"name": "f", "response": {}, "id": "c1"}}


@pytest.fixture(scope="module")
def strict_url() -> Iterator[str]:
    with running_emulator(FOLDER, strict=True) as url:
        yield url


@pytest.fixture
async def client(strict_url: str) -> AsyncIterator[genai.Client]:
    """The SDK pointed at the strict emulator."""
    async with connected(strict_url) as sdk:
        yield sdk


def _user(text: str) -> types.Content:
    return types.Content(role="user", parts=[types.Part(text=text)])


def _model(parts: list[types.Part]) -> types.Content:
    return types.Content(role="model", parts=[part for part in parts if not part.thought])


def _stripped(parts: list[types.Part]) -> list[types.Part]:
    return [part.model_copy(update={"thought_signature": None}) for part in parts]


def _check(contents: list[WireObject], *, model: str = "gemini-3-flash", **body: object) -> str:
    """What is refused, in words; empty where nothing is."""
    try:
        Strict().check(model, body, contents_of({"contents": contents}))
    except WireError as fault:
        error: WireObject = fault.body["error"]
        return str(error["message"]) if (error["code"], error["status"]) == (400, "INVALID_ARGUMENT") else "not a 400"
    return ""


# --- signatures ---------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.* is not a valid:UserWarning")
@pytest.mark.parametrize("name", sorted(scenarios.SCENARIOS.keys() - FAULTS.keys() - BROKEN - REFUSING))
async def test_faithful_history_is_accepted(client: genai.Client, name: str) -> None:
    model = scenarios.PREFIX + name
    history: list[types.Content] = []
    for prompt in ("Hello", "And then?", "And now?"):
        history.append(_user(prompt))
        parts = parts_of(await answer(client, model, list(history)))
        sent = [part for part in parts if not part.thought and not part.function_call and _is_known(part)]
        history.append(_model(sent or [types.Part(text="(no answer)")]))


def _is_known(part: types.Part) -> bool:
    """Not empty, as the SDK leaves what it does not know."""
    return bool(part.model_dump(exclude_none=True))


async def test_refusal_by_a_scenario_lets_the_stripped_history_pass(client: genai.Client) -> None:
    model = "scenario-corrupted-signature-once"
    parts = parts_of(await answer(client, model))
    with pytest.raises(errors.ClientError, match=r"Corrupted thought signature\."):
        await answer(client, model, [_user("Hello"), _model(parts), _user("And then?")])
    assert text_of(await answer(client, model, [_user("Hello"), _model(_stripped(parts)), _user("And then?")]))


@pytest.mark.skipif(FOLDER is None, reason=NO_RECORDINGS)
@pytest.mark.parametrize(
    "stem", ["codeexec-stream-gemini3flash-real-signatures", "codeexec-unary-gemini3flash-multi-turn1"]
)
async def test_recorded_answer_is_known_and_watched(client: genai.Client, stem: str) -> None:
    model = f"replay-{stem}"
    parts = parts_of(await answer(client, model, headers={"X-Emulator-Cut": "7"}))
    assert any(part.thought_signature for part in parts)
    assert parts_of(await answer(client, model, [_user("Hello"), _model(parts), _user("And then?")])) == parts
    with pytest.raises(errors.ClientError, match="Thought signature is missing in a part of contents"):
        await answer(client, model, [_user("Hello"), _model(_stripped(parts)), _user("And then?")])


async def test_altered_signature_is_refused_until_all_are_stripped(client: genai.Client) -> None:
    parts = parts_of(await answer(client, "scenario-code"))
    altered = [parts[0].model_copy(update={"thought_signature": b"altered"}), *parts[1:]]
    stripped = [_user("Hello"), _model(_stripped(parts)), _user("Strip it")]
    with pytest.raises(errors.ClientError, match="Thought signature is missing"):
        await answer(client, "scenario-code", stripped)
    with pytest.raises(errors.ClientError, match=r"Corrupted thought signature\."):
        await answer(client, "scenario-code", [_user("Hello"), _model(altered), _user("Strip it")])
    for _ in range(2):
        assert text_of(await answer(client, "scenario-code", stripped))
    assert text_of(await answer(client, "scenario-code", [_user("Hello"), _model(parts), _user("Strip it")]))
    with pytest.raises(errors.ClientError, match="Thought signature is missing"):
        await answer(client, "scenario-code", stripped)


async def test_answer_of_another_model_goes_without_its_signatures(client: genai.Client) -> None:
    parts = parts_of(await answer(client, "scenario-code"))
    with pytest.raises(errors.ClientError, match=r"Corrupted thought signature\."):
        await answer(client, "gemini-3-flash", [_user("Hello"), _model(parts), _user("Switched")])
    history = [_user("Hello"), _model(_stripped(parts)), _user("Switched again")]
    assert text_of(await answer(client, "gemini-3-flash", history))


async def test_stopped_answer_is_accepted_as_far_as_it_came(client: genai.Client) -> None:
    stream = await client.aio.models.generate_content_stream(model="scenario-stall", contents="Hello")
    parts: list[types.Part] = []

    async def read() -> None:
        async for chunk in stream:
            parts.extend(parts_of([chunk]))

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(read(), timeout=1.0)
    assert parts
    history = [_user("Hello"), _model(parts), _user("Continue")]
    stream = await client.aio.models.generate_content_stream(model="scenario-stall", contents=list(history))
    assert await anext(stream)


async def test_refused_call_stands_so_in_the_journal_and_counts_for_no_scenario(strict_url: str) -> None:
    async with aiohttp.ClientSession(strict_url) as http:
        foreign = {"role": "model", "parts": [{"text": "a", "thoughtSignature": SIGNATURE}]}
        url = "/v1beta/models/scenario-empty-answer-once:generateContent"
        async with http.post(url, json={"contents": [ASK, foreign, ASK]}) as response:
            assert response.status == 400
        async with http.get("/emulator/calls") as response:
            assert (await response.json())[-1]["state"] == "refused"


@pytest.mark.parametrize("dummy", DUMMIES)
def test_foreign_history_bears_dummies_or_nothing(dummy: str) -> None:
    def foreign(**signature: str) -> list[WireObject]:
        return [ASK, {"role": "model", "parts": [{"text": "Imported.", **signature}]}, MORE]

    assert _check(foreign()) == ""
    assert _check(foreign(thoughtSignature=dummy)) == ""
    assert _check(foreign(thoughtSignature=base64.urlsafe_b64encode(dummy.encode()).decode())) == ""
    assert _check(foreign(thoughtSignature=SIGNATURE)) == "Corrupted thought signature."


def test_thoughts_may_be_sent_back() -> None:
    assert _check([ASK, {"role": "model", "parts": [{"text": "Hm.", "thought": True}, {"text": "Yes."}]}, MORE]) == ""


def test_code_without_result_at_the_end_of_a_content_is_refused() -> None:
    code = {"executableCode": {"language": "PYTHON", "code": "1"}}
    assert "contents[1] ends with executable_code" in _check([ASK, {"role": "model", "parts": [code]}, MORE])
    assert _check([ASK, {"role": "model", "parts": [code, {"text": "It printed nothing."}]}, MORE]) == ""


async def test_answer_is_known_before_it_is_sent() -> None:
    checker, call = Strict(), Call("gemini-3-flash", [ASK], False, False, 0, "r")

    async def steps() -> AsyncIterator[Step]:
        part = {"text": "Yes.", "thoughtSignature": SIGNATURE}
        yield Chunk({"candidates": [{"content": {"parts": [part], "role": "model"}}]})

    async for step in checker.listen(call, steps()):  # type: ignore[arg-type]
        assert isinstance(step, Chunk)
        content = step.response["candidates"][0]["content"]
        checker.check("gemini-3-flash", {}, [ASK, content, MORE])


# --- functions, ids, tools ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("contents", "words"),
    [
        ([ASK, {"role": "model", "parts": [CALL]}, {"role": "user", "parts": [RESPONSE]}], ""),
        ([ASK, {"role": "model", "parts": [CALL]}, MORE], strict.CALL_ORDER),
        ([ASK, {"role": "model", "parts": [CALL, CALL]}, {"role": "user", "parts": [RESPONSE]}], strict.RESPONSE_COUNT),
        ([{"role": "model", "parts": [CALL]}, {"role": "user", "parts": [RESPONSE]}], strict.CALL_ORDER),
        ([ASK, {"role": "model", "parts": [{"text": "a"}]}, {"role": "user", "parts": [{"functionResponse": {}}]}],
         strict.RESPONSE_ORDER),
        ([ASK, {"role": "model", "parts": [{"functionCall": {"name": "f"}}]}, {"role": "user", "parts": [RESPONSE]}],
         "was named by no functionCall"),
        ([ASK, {"role": "model", "parts": [{"functionCall": {"name": "f", "id": "c1"}}]},
          {"role": "user", "parts": [RESPONSE]}],
         "Function call is missing a thought_signature in functionCall parts."),
        ([ASK, {"role": "model", "parts": [{"functionCall": {"name": "f", "id": "c1"}}]},
          {"role": "user", "parts": [RESPONSE]}, {"role": "model", "parts": [{"text": "a"}]}, MORE], ""),
        ([ASK, {"role": "model", "parts": [{"codeExecutionResult": {"outcome": "OUTCOME_OK", "id": "r1"}}]}, MORE],
         "was named by no executableCode"),
        ([ASK, {"role": "model", "parts": [{"codeExecutionResult": {"outcome": "OUTCOME_OK"}}]}, MORE], ""),
        ([ASK, {"role": "model", "parts": [{"toolResponse": {"id": "t1"}}]}, MORE], "was named by no toolCall"),
    ],
)  # fmt: skip
def test_calls_and_results_stand_in_order_and_know_each_other(contents: list[WireObject], words: str) -> None:
    refused = _check(contents)
    assert words in refused
    assert bool(words) is bool(refused)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"tools": [FUNCTIONS]}, ""),
        ({"tools": [CODE_TOOL, {"googleSearch": {}}, {"urlContext": {}}]}, ""),
        ({"tools": [CODE_TOOL, FUNCTIONS]}, strict.SERVER_SIDE_TOOLS),
        ({"tools": [{**CODE_TOOL, **FUNCTIONS}]}, strict.SERVER_SIDE_TOOLS),
        ({"tools": [CODE_TOOL, FUNCTIONS], "toolConfig": {"includeServerSideToolInvocations": True}}, ""),
        ({"tools": [CODE_TOOL], "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}}},
         strict.CONFIG_WITHOUT_FUNCTIONS),
        ({"tools": [FUNCTIONS], "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}}}, ""),
        ({"toolConfig": []}, ""),
        ({"toolConfig": 1}, "Invalid value at 'tool_config'"),
        ({"generationConfig": {"thinkingConfig": {"thinkingLevel": "LOW"}}}, ""),
        ({"generationConfig": {"thinkingConfig": {"thinkingLevel": "minimal"}}}, ""),
        ({"generationConfig": {"thinkingConfig": {"thinkingLevel": "EXTREME"}}}, '"EXTREME"'),
        ({"generationConfig": {"thinkingConfig": {"thinkingLevel": 3}}}, "thinking_level"),
    ],
)  # fmt: skip
def test_tools_and_thinking_are_checked(body: WireObject, words: str) -> None:
    refused = _check([ASK], **body)
    assert words in refused
    assert bool(words) is bool(refused)


@pytest.mark.parametrize(("model", "is_refused"), [("gemini-3.1-pro-preview", True), ("gemini-3.5-flash", False)])
def test_minimal_thinking_is_not_for_every_model(model: str, is_refused: bool) -> None:
    config = {"thinkingConfig": {"thinkingLevel": "MINIMAL"}}
    assert bool(_check([ASK], model=model, generationConfig=config)) is is_refused


async def test_lenient_emulator_takes_all_of_it(emulator_url: str) -> None:
    foreign = {"role": "model", "parts": [{"text": "a", "thoughtSignature": SIGNATURE}]}
    body = {"contents": [ASK, foreign, MORE], "tools": [CODE_TOOL, FUNCTIONS]}
    url = f"{emulator_url}/v1beta/models/scenario-text:generateContent"
    async with aiohttp.ClientSession() as http, http.post(url, json=body) as response:
        assert response.status == 200


def test_recordings_are_parsed_whatever_they_hold(tmp_path: Path) -> None:
    for text in ("data: 1", "data: [", "[]", 'data: {"candidates": [{"content": {"parts": [1]}}]}', "\xff"):
        assert strict.parts_of_line(text.encode()) == []
    part = {"text": "a"}
    line = "data: " + json.dumps({"candidates": [{"content": {"parts": [part]}}]}) + "\r"
    assert strict.parts_of_line(line.encode()) == [part]
