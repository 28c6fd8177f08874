"""The answers of the stand-in, read by the official `openai` package.

Tests of the provider and of turns prove the scenarios of images, of silence and of cut streams.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import openai
import pytest

from tests.chat.openai_server.requests import QUESTION, calling, request, result, tool
from tests.openai_server.refusals import KEY, PROFILES
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
                got.text += choice.delta.content or ""
                for call in choice.delta.tool_calls or []:
                    kept = got.calls.setdefault(
                        call.index, {"id": call.id, "name": call.function.name, "arguments": ""}
                    )
                    kept["arguments"] += call.function.arguments
    return got


@pytest.mark.parametrize(("options", "tokens"), [({}, None), ({"stream_options": {"include_usage": True}}, 7)])
async def test_text_repeats_the_question_and_reports_usage_if_it_is_asked_for(
    server: StandInServer, options: dict[str, Any], tokens: int | None
) -> None:
    got = await read(server, "openai", request(**options))
    assert (got.text, got.finish) == ("You asked: What is it?", "stop")
    assert (got.usage and got.usage.completion_tokens) == tokens


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


@pytest.mark.parametrize(("profile", "unique_ids"), [("generic", 2), ("openai", 4)])
async def test_calls_of_one_answer_have_different_ids_and_a_generic_server_repeats_them(
    server: StandInServer, profile: str, unique_ids: int
) -> None:
    body = request(model="two-calls", tools=[tool(), tool("run")])
    calls = [call for _ in range(2) for call in (await read(server, profile, body)).calls.values()]
    assert [call["name"] for call in calls] == ["echo", "run"] * 2
    assert len({call["id"] for call in calls}) == unique_ids


async def test_recording_is_replayed(server: StandInServer) -> None:
    assert (await read(server, "openai", request(model="recording:fifty"))).text == "x" * 50


async def test_unknown_model_is_refused_except_by_llamacpp_which_answers_with_the_loaded_one(
    server: StandInServer,
) -> None:
    body = request(model="recording:none")
    assert (await read(server, "llamacpp", body)).text == "You asked: What is it?"
    with pytest.raises(openai.NotFoundError) as refused:
        await read(server, "openai", body)
    assert refused.value.code == "model_not_found"
    entry = server.journal[-1]
    assert (entry.profile, entry.body, entry.status, entry.error) == (
        "openai",
        body,
        404,
        {"error": refused.value.body},
    )
