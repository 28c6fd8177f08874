"""The answers of the stand-in, read by the official `openai` package."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import openai
import pytest

from tests.chat.openai_server.requests import QUESTION, calling, image_part, message, request, result, tool
from tests.openai_server.profiles import KEY, PROFILES
from tests.openai_server.server import StandInServer
from tests.polling import wait_until_async

each_profile = pytest.mark.parametrize("profile", PROFILES)


@dataclass
class Read:
    """What the package read from a stream."""

    text: str = ""
    calls: dict[int, dict[str, str]] = field(default_factory=dict)
    finish: str = ""
    usage: Any = None


@asynccontextmanager
async def client_of(server: StandInServer, profile: str) -> AsyncGenerator[openai.AsyncOpenAI, None]:
    """Provide a client of the package."""
    async with openai.AsyncOpenAI(base_url=server.url(profile), api_key=KEY, max_retries=0) as client:
        yield client


async def read(server: StandInServer, profile: str, body: dict[str, Any]) -> Read:
    """Send a request, and read its answer to the end."""
    got = Read()
    async with client_of(server, profile) as client:
        stream: Any = await client.chat.completions.create(**body)
        async for chunk in stream:
            got.usage = chunk.usage or got.usage
            for choice in chunk.choices:
                got.finish = choice.finish_reason or got.finish
                got.text += choice.delta.content if isinstance(choice.delta.content, str) else ""
                for call in choice.delta.tool_calls or []:
                    kept = got.calls.setdefault(call.index, {"id": "", "name": "", "arguments": ""})
                    kept["id"] = call.id or kept["id"]
                    kept["name"] = call.function.name or kept["name"]
                    kept["arguments"] += call.function.arguments or ""
    return got


async def read_raw(
    server: StandInServer,
    body: dict[str, Any],
    timeout: aiohttp.ClientTimeout | None = None,
    received: bytearray | None = None,
) -> None:
    """Read the bytes of an answer of vLLM's to its end, and append them to `received`."""
    kept = bytearray() if received is None else received
    url = server.url("vllm") + "/chat/completions"
    async with (
        aiohttp.ClientSession(timeout=timeout or aiohttp.ClientTimeout()) as session,
        session.post(url, json=body) as response,
    ):
        async for data in response.content.iter_any():
            kept += data


@each_profile
async def test_text_repeats_the_question_and_reports_usage(server: StandInServer, profile: str) -> None:
    body = request(stream_options={"include_usage": True})
    if profile == "mistral":
        del body["stream_options"]
    got = await read(server, profile, body)
    assert (got.text, got.finish, got.usage.completion_tokens) == ("You asked: What is it?", "stop", 7)


async def test_usage_is_sent_only_if_it_is_asked_for(server: StandInServer) -> None:
    assert (await read(server, "openai", request())).usage is None


@each_profile
async def test_function_is_called_and_its_result_is_repeated(server: StandInServer, profile: str) -> None:
    body = request(model="call", tools=[tool()])
    got = await read(server, profile, body)
    [called] = got.calls.values()
    assert (called["name"], called["arguments"], got.finish) == ("echo", '{"value": 1}', "tool_calls")
    function = {"name": "echo", "arguments": called["arguments"]}
    fields = {"reasoning_content": ""} if profile == "deepseek" else {}
    made = calling({"id": called["id"], "type": "function", "function": function}, **fields)
    messages = [QUESTION, made, result(called["id"], "seven")]
    answered = await read(server, profile, {**body, "messages": messages})
    assert answered.text == "The result is seven."


@each_profile
async def test_two_functions_are_called_in_one_answer(server: StandInServer, profile: str) -> None:
    got = await read(server, profile, request(model="two-calls", tools=[tool(), tool("run")]))
    assert [one["name"] for one in got.calls.values()] == ["echo", "run"]
    assert len({one["id"] for one in got.calls.values()}) == 2


@pytest.mark.parametrize(("profile", "are_equal"), [("generic", True), ("openai", False)])
async def test_only_a_generic_server_repeats_the_ids_of_calls(
    server: StandInServer, profile: str, are_equal: bool
) -> None:
    body = request(model="call", tools=[tool()])
    ids = [(await read(server, profile, body)).calls[0]["id"] for _ in range(2)]
    assert (ids[0] == ids[1]) == are_equal


async def test_colour_of_the_last_image_is_read(server: StandInServer) -> None:
    content = [{"type": "text", "text": "?"}, image_part((1, 2, 3)), image_part((0, 128, 255))]
    got = await read(server, "openai", request(message("user", content), model="image"))
    assert got.text == "It begins with #0080ff."


async def test_image_after_a_result_is_described(server: StandInServer) -> None:
    messages = [QUESTION, calling(result_call()), result("a"), message("user", [image_part()])]
    got = await read(server, "openai", request(*messages, model="call", tools=[tool()]))
    assert got.text == "The result is 1. The image begins with #ff0000."


def result_call() -> dict[str, Any]:
    """Return a call with the id `a`."""
    return {"id": "a", "type": "function", "function": {"name": "echo", "arguments": "{}"}}


@pytest.mark.parametrize("scenario", ["silent", "stalls"])
async def test_silence_lasts_until_the_client_closes(server: StandInServer, scenario: str) -> None:
    before = len(server.journal)
    body = request(model=scenario)
    with pytest.raises(TimeoutError):
        await read_raw(server, body, aiohttp.ClientTimeout(sock_read=1.0))
    [entry] = server.journal.since(before)
    await wait_until_async(entry.closed.is_set)
    assert (entry.status, entry.is_complete) == (0 if scenario == "silent" else 200, False)


@pytest.mark.parametrize("scenario", ["cut", "cut-in-event"])
async def test_connection_is_closed_in_the_middle(server: StandInServer, scenario: str) -> None:
    received = bytearray()
    with pytest.raises(aiohttp.ClientPayloadError):
        await read_raw(server, request(model=scenario), received=received)
    assert b"words" in received
    assert b"[DONE]" not in received


async def test_error_in_the_middle_follows_the_text(server: StandInServer) -> None:
    with pytest.raises(openai.APIError, match="The engine died"):
        await read(server, "vllm", request(model="error-mid-stream"))


async def test_recording_is_replayed_byte_for_byte(server: StandInServer) -> None:
    url = server.url("openai") + "/chat/completions"
    headers = {"Authorization": f"Bearer {KEY}"}
    async with aiohttp.ClientSession(headers=headers) as session:
        async with session.post(url, json=request(model="recording:fifty")) as response:
            assert await response.read() == b'data: {"choices": []}\n\n' * 50
        async with session.post(url, json=request(model="recording:none")) as response:
            assert response.status == 404
