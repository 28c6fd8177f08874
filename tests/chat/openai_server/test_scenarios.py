"""The answers of the stand-in, read by the official `openai` package.

Tests of the provider and of turns prove the scenarios of images, of silence and of cut streams.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import aiohttp
import openai
import pytest

from tests.chat.openai_server.requests import QUESTION, calling, request, result, tool
from tests.openai_server.profiles import KEY, PROFILES
from tests.openai_server.server import StandInServer

each_profile = pytest.mark.parametrize("profile", PROFILES)


@dataclass
class Read:
    """What the package read from a stream."""

    text: str = ""
    calls: dict[int, dict[str, str]] = field(default_factory=dict)
    finish: str = ""
    usage: Any = None


async def read(server: StandInServer, profile: str, body: dict[str, Any]) -> Read:
    """Send a request, and read its answer to the end."""
    got = Read()
    async with openai.AsyncOpenAI(base_url=server.url(profile), api_key=KEY, max_retries=0) as client:
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


async def test_recording_is_replayed_byte_for_byte(server: StandInServer) -> None:
    url = server.url("openai") + "/chat/completions"
    headers = {"Authorization": f"Bearer {KEY}"}
    async with aiohttp.ClientSession(headers=headers) as session:
        async with session.post(url, json=request(model="recording:fifty")) as response:
            assert await response.read() == b'data: {"choices": []}\n\n' * 50
        async with session.post(url, json=request(model="recording:none")) as response:
            assert response.status == 404
