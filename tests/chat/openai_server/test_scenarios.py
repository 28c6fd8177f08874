"""The answers of the stand-in, read by the official `openai` package.

Tests of the provider and of turns prove the scenarios of images, of silence and of cut streams.
"""

from __future__ import annotations

from typing import Any

import openai
import pytest
from openai.types.chat import ParsedChatCompletion

from tests.chat.openai_server.requests import QUESTION, calling, request, result, tool
from tests.openai_server.refusals import KEY, PROFILES
from tests.openai_server.server import StandInServer


async def read(server: StandInServer, profile: str, body: dict[str, Any]) -> ParsedChatCompletion[None]:
    """Send a request, and read its answer to the end."""
    async with (
        openai.AsyncOpenAI(base_url=server.url(profile), api_key=KEY, max_retries=0) as client,
        client.chat.completions.stream(**{name: value for name, value in body.items() if name != "stream"}) as stream,
    ):
        return await stream.get_final_completion()


@pytest.mark.parametrize(("options", "tokens"), [({}, None), ({"stream_options": {"include_usage": True}}, 7)])
async def test_text_repeats_the_question_and_reports_usage_if_it_is_asked_for(
    server: StandInServer, options: dict[str, Any], tokens: int | None
) -> None:
    got = await read(server, "openai", request(**options))
    assert (got.choices[0].message.content, got.choices[0].finish_reason) == ("You asked: What is it?", "stop")
    assert (got.usage and got.usage.completion_tokens) == tokens


@pytest.mark.parametrize("profile", PROFILES)
async def test_function_is_called_and_its_result_is_repeated(server: StandInServer, profile: str) -> None:
    body = request(model="call", tools=[tool()])
    [choice] = (await read(server, profile, body)).choices
    [called] = choice.message.tool_calls or []
    assert (called.function.name, called.function.arguments) == ("echo", '{"value": 1}')
    assert choice.finish_reason == "tool_calls"
    fields = {"reasoning_content": ""} if profile == "deepseek" else {}
    made = calling(called.model_dump(include={"id": True, "type": True, "function": {"name", "arguments"}}), **fields)
    messages = [QUESTION, made, result(called.id, "seven")]
    answered = await read(server, profile, {**body, "messages": messages})
    assert answered.choices[0].message.content == "The result is seven."


@pytest.mark.parametrize(("profile", "unique_ids"), [("generic", 2), ("openai", 4)])
async def test_calls_of_one_answer_have_different_ids_and_a_generic_server_repeats_them(
    server: StandInServer, profile: str, unique_ids: int
) -> None:
    body = request(model="two-calls", tools=[tool(), tool("run")])
    answers = [await read(server, profile, body) for _ in range(2)]
    calls = [call for answer in answers for call in answer.choices[0].message.tool_calls or []]
    assert [call.function.name for call in calls] == ["echo", "run"] * 2
    assert len({call.id for call in calls}) == unique_ids


async def test_recording_is_replayed(server: StandInServer) -> None:
    got = await read(server, "openai", request(model="recording:fifty"))
    assert got.choices[0].message.content == "x" * 50


async def test_unknown_model_is_refused_except_by_llamacpp_which_answers_with_the_loaded_one(
    server: StandInServer,
) -> None:
    body = request(model="recording:none")
    assert (await read(server, "llamacpp", body)).choices[0].message.content == "You asked: What is it?"
    with pytest.raises(openai.NotFoundError) as refused:
        await read(server, "openai", body)
    assert refused.value.code == "model_not_found"
    entry = server.journal[-1]
    assert (entry.profile, entry.body, entry.status) == ("openai", body, 404)
    assert entry.error == {"error": refused.value.body}
