"""Scenarios of function calls, through the real SDK against the emulator in strict mode."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence

import aiohttp
import pytest
from google import genai
from google.genai import errors, types
from pydantic import ValidationError

from tests.chat.emulator.conftest import connected
from tests.chat.emulator.request_factory import make_request
from tests.chat.emulator.sdk import answer, finishes_of, model_content, parts_of, text_of, user, without_signatures
from tests.emulator_server import running_emulator
from tests.gemini_emulator.scenarios.functions import calls_in_turn

FUNCTIONS = ("double", "fail", "square")


@pytest.fixture(scope="module")
def strict_url() -> Iterator[str]:
    with running_emulator(strict=True) as url:
        yield url


@pytest.fixture
async def client(strict_url: str) -> AsyncIterator[genai.Client]:
    """The SDK with the address of the emulator in strict mode."""
    async with connected(strict_url) as sdk:
        yield sdk


class Conversation:
    """A conversation with one scenario, in which the client answers function calls."""

    def __init__(self, client: genai.Client, scenario: str, functions: Sequence[str] = FUNCTIONS) -> None:
        self._client = client
        self._model = f"scenario-{scenario}"
        self._functions = functions
        self.history: list[types.Content] = []

    async def send(self, *parts: types.Part | str) -> list[types.Part]:
        """Send a content of the user, and return the parts of the answer."""
        self.history.append(user(*parts))
        chunks = await answer(self._client, self._model, list(self.history), functions=self._functions, code=False)
        assert finishes_of(chunks) == ["STOP"]
        parts_received = parts_of(chunks)
        self.history.append(model_content(parts_received))
        return parts_received


def calls_of(parts: list[types.Part]) -> list[types.FunctionCall]:
    """Return the function calls of an answer."""
    return [part.function_call for part in parts if part.function_call]


def response_to(call: types.FunctionCall, response: dict[str, object]) -> types.Part:
    """Return the response to a function call."""
    return types.Part(function_response=types.FunctionResponse(id=call.id, name=call.name, response=response))


def joined_text(parts: list[types.Part]) -> str:
    """Return the text of an answer."""
    return "".join(part.text or "" for part in parts)


async def test_call_has_an_id_and_a_signature_and_its_response_is_quoted(client: genai.Client) -> None:
    conversation = Conversation(client, "function-call")
    parts = await conversation.send("Hello")
    [call] = calls_of(parts)
    assert (call.name, call.args) == ("double", {"value": 1})
    assert call.id
    assert parts[0].thought_signature
    parts = await conversation.send(response_to(call, {"result": 2, "unit": "Ωm"}))
    assert joined_text(parts) == '`double` returned `{"result": 2, "unit": "Ωm"}`.'
    assert parts[-1].thought_signature


async def test_calls_are_numbered_in_each_turn(client: genai.Client) -> None:
    conversation = Conversation(client, "function-call")
    for _ in range(2):
        [call] = calls_of(await conversation.send("Hello"))
        assert call.args == {"value": 1}
        await conversation.send(response_to(call, {"result": 2}))


async def test_parallel_calls_follow_the_declarations_and_only_the_first_is_signed(client: genai.Client) -> None:
    conversation = Conversation(client, "function-calls-2")
    parts = await conversation.send("Hello")
    first, second = calls_of(parts)
    assert [(call.name, call.args) for call in (first, second)] == [("double", {"value": 1}), ("fail", {"value": 2})]
    assert first.id != second.id
    assert [bool(part.thought_signature) for part in parts if part.function_call] == [True, False]
    parts = await conversation.send(response_to(first, {"result": 2}), response_to(second, {"error": "no"}))
    assert joined_text(parts) == '`double` returned `{"result": 2}`.\n`fail` returned `{"error": "no"}`.'


async def test_more_calls_than_functions_start_again_with_the_first(client: genai.Client) -> None:
    parts = await Conversation(client, "function-calls-4").send("Hello")
    assert [call.name for call in calls_of(parts)] == ["double", "fail", "square", "double"]


async def test_missing_response_to_a_parallel_call_is_rejected(client: genai.Client) -> None:
    conversation = Conversation(client, "function-calls-2")
    first, _ = calls_of(await conversation.send("Hello"))
    with pytest.raises(errors.ClientError, match="number of function response parts is equal"):
        await conversation.send(response_to(first, {"result": 2}))


async def test_call_without_its_signature_is_rejected(client: genai.Client) -> None:
    conversation = Conversation(client, "function-call")
    [call] = calls_of(await conversation.send("Hello"))
    conversation.history[-1] = types.Content(
        role="model", parts=without_signatures(conversation.history[-1].parts or [])
    )
    with pytest.raises(errors.ClientError, match="Function call is missing a thought_signature"):
        await conversation.send(response_to(call, {"result": 2}))


async def test_unknown_function_is_not_declared(client: genai.Client) -> None:
    conversation = Conversation(client, "function-unknown")
    [call] = calls_of(await conversation.send("Hello"))
    assert call.name not in FUNCTIONS
    assert "no such function" in joined_text(await conversation.send(response_to(call, {"error": "no such function"})))


async def test_invalid_arguments_are_a_string(client: genai.Client, strict_url: str) -> None:
    with pytest.raises(ValidationError, match="args"):
        await Conversation(client, "function-args-invalid").send("Hello")
    declarations = [{"functionDeclarations": [{"name": "double"}]}]
    contents: list[dict[str, object]] = [{"role": "user", "parts": [{"text": "Hello"}]}]
    url = f"{strict_url}/v1beta/models/scenario-function-args-invalid:generateContent"
    async with aiohttp.ClientSession() as http:
        async with http.post(url, json={"contents": contents, "tools": declarations}) as response:
            content = (await response.json())["candidates"][0]["content"]
        call = content["parts"][0]["functionCall"]
        assert (call["name"], call["args"]) == ("double", "value=1")
        error = {"functionResponse": {"name": "double", "id": call["id"], "response": {"error": "no object"}}}
        contents += [content, {"role": "user", "parts": [error]}]
        async with http.post(url, json={"contents": contents, "tools": declarations}) as response:
            parts = (await response.json())["candidates"][0]["content"]["parts"]
    assert parts[0]["text"] == '`double` returned `{"error": "no object"}`.'


async def test_forever_calls_again_after_every_response(client: genai.Client) -> None:
    conversation = Conversation(client, "function-forever")
    parts = await conversation.send("Hello")
    for number in range(1, 6):
        [call] = calls_of(parts)
        assert (call.name, call.args) == ("double", {"value": number})
        assert next(part for part in parts if part.function_call).thought_signature
        parts = await conversation.send(response_to(call, {"result": 2 * number}))


async def test_failing_function_is_called_and_its_error_is_quoted(client: genai.Client) -> None:
    conversation = Conversation(client, "function-failing")
    [call] = calls_of(await conversation.send("Hello"))
    assert call.name == "fail"
    assert "division by zero" in joined_text(await conversation.send(response_to(call, {"error": "division by zero"})))


@pytest.mark.parametrize(
    ("scenario", "functions"),
    [
        ("function-call", ()),
        ("function-calls-2", ()),
        ("function-unknown", ()),
        ("function-args-invalid", ()),
        ("function-forever", ()),
        ("function-failing", ("double",)),
    ],
)
async def test_answer_is_a_text_if_the_needed_function_is_not_declared(
    client: genai.Client, scenario: str, functions: Sequence[str]
) -> None:
    chunks = await answer(client, f"scenario-{scenario}", functions=functions, code=False)
    assert "declares no function" in text_of(chunks)


def test_calls_are_counted_since_the_last_prompt() -> None:
    prompt = {"role": "user", "parts": [{"text": "Hello"}]}
    calls = {"role": "model", "parts": [{"functionCall": {"name": "f"}}, {"functionCall": {"name": "f"}}]}
    response = {"functionResponse": {"name": "f", "response": {}}}
    responses = {"role": "user", "parts": [response, response]}
    assert calls_in_turn(make_request([prompt])) == 0
    assert calls_in_turn(make_request([prompt, calls, responses])) == 2
    assert calls_in_turn(make_request([prompt, calls, responses, calls, responses])) == 4
    assert calls_in_turn(make_request([prompt, calls, responses, prompt])) == 0
