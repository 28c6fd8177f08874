"""The stand-in refuses what the real servers refuse, with their status and their words."""

from __future__ import annotations

import json
from typing import Any

import aiohttp
import openai
import pytest

from tests.chat.openai_server.requests import QUESTION, call, calling, image_part, message, request, result, tool
from tests.openai_server.model_names import parse_model_name
from tests.openai_server.profiles import KEY, PROFILES
from tests.openai_server.refusals import TABLES
from tests.openai_server.server import StandInServer
from tests.openai_server.violations import violations

SYSTEM = message("system", "Be brief.")
ANSWER = message("assistant", "It is 1.")
ANSWER_WITH_REASONING = message("assistant", "It is 1.", reasoning_content="")
THINKING_CALL = calling(call(), reasoning_content="")
EFFORT = "Function tools with reasoning_effort are not supported"
UNANSWERED = "must be followed by tool messages"
WITHOUT_CALL = "must be a response to a preceeding message"
EXTRA = "Extra inputs are not permitted"
TOO_MANY = "Not the same number of function calls and responses"


async def post(server: StandInServer, profile: str, body: dict[str, Any], key: str = KEY) -> tuple[int, str]:
    """Send a request, and return the status and the body of the response."""
    headers = {"Authorization": f"Bearer {key}"}
    url = server.url(profile) + "/chat/completions"
    async with aiohttp.ClientSession(headers=headers) as session, session.post(url, json=body) as response:
        return response.status, await response.text()


REFUSED: list[tuple[str, dict[str, Any], int, str]] = [
    # The model, the key and the fields.
    ("openai", request(model="nothing"), 404, '"model_not_found"'),
    ("mistral", request(model="nothing"), 400, '"invalid_model"'),
    ("deepseek", request(model="nothing"), 400, "Model Not Exist"),
    ("ollama", request(model="nothing"), 404, "model 'nothing' not found"),
    ("vllm", request(model="nothing"), 404, "The model `nothing` does not exist."),
    ("generic", request(model="nothing"), 404, '{"error": "Specified model not found: nothing"}'),
    ("openai", request(top_k=3), 400, "Unknown parameter: 'top_k'."),
    ("openai", request(QUESTION | {"id": 1}), 400, "Unknown parameter: 'messages[0].id'."),
    ("openai", request(QUESTION, ANSWER_WITH_REASONING, QUESTION), 400, "messages[1].reasoning_content"),
    ("openai", request(QUESTION, calling(call(extra_content={})), result()), 400, "messages[1].tool_calls[0].extra"),
    ("mistral", request(QUESTION, calling(call(extra_content={})), result()), 422, EXTRA),
    ("mistral", request(stream_options={"include_usage": True}), 422, EXTRA),
    ("mistral", request(max_completion_tokens=5), 422, EXTRA),
    ("generic", request(model="no-usage-option/text", stream_options={"include_usage": True}), 400, "stream_options"),
    # The messages.
    *((name, request() | {"messages": []}, 400, "") for name in PROFILES),
    ("openai", request(message("robot", "Hi")), 400, "Invalid value: 'robot'"),
    ("mistral", request(message("robot", "Hi")), 422, "robot"),
    ("openai", request(QUESTION, message("assistant", None), QUESTION), 400, "expected a string, got null"),
    ("ollama", request(QUESTION, message("assistant", None), QUESTION), 400, "invalid message content type: <nil>"),
    ("mistral", request(QUESTION, message("assistant", None), QUESTION), 400, "either content or tool_calls"),
    ("openai", request(QUESTION, message("assistant", "x", tool_calls=[]), QUESTION), 400, "empty array"),
    ("openai", request(SYSTEM, model="o1-mini/text"), 400, "does not support 'system' with this model"),
    ("vllm", request(QUESTION, SYSTEM, QUESTION), 400, "System message must be at the beginning"),
    ("llamacpp", request(QUESTION, SYSTEM, QUESTION), 500, "System message must be at the beginning"),
    ("mistral", request(QUESTION, ANSWER), 400, "Expected last role User or Tool"),
    ("deepseek", request(QUESTION, ANSWER, QUESTION), 400, "must be passed back to the API"),
    # Function calls and their results.
    ("openai", request(QUESTION, calling(call()), QUESTION), 400, UNANSWERED),
    ("openai", request(QUESTION, calling(call())), 400, UNANSWERED),
    ("openai", request(QUESTION, calling(call(), call("b")), result(), QUESTION, result("b")), 400, UNANSWERED),
    ("deepseek", request(QUESTION, THINKING_CALL, QUESTION), 400, UNANSWERED),
    ("mistral", request(QUESTION, calling(call()), QUESTION), 400, TOO_MANY),
    ("generic", request(QUESTION, calling(call()), QUESTION), 400, UNANSWERED),
    ("openai", request(QUESTION, result()), 400, WITHOUT_CALL),
    ("openai", request(QUESTION, calling(call()), result(), result()), 400, WITHOUT_CALL),
    ("mistral", request(QUESTION, result()), 400, "Unexpected role 'tool' after role 'user'"),
    (
        "mistral",
        request(QUESTION, calling(call()), result(), QUESTION),
        400,
        "Unexpected role 'user' after role 'tool'",
    ),
    (
        "openai",
        request(QUESTION, calling(call(), call()), result(), result()),
        400,
        "Duplicate value for 'tool_call_id'",
    ),
    (
        "openai",
        request(QUESTION, calling(call()), result(), calling(call()), result()),
        400,
        "in messages[1] and messages[3]",
    ),
    ("mistral", request(QUESTION, calling(call("call_1")), result("call_1")), 400, "Tool call id was call_1"),
    *((name, request(QUESTION, calling(call(arguments="{")), result()), 400, "") for name in ("openai", "mistral")),
    ("llamacpp", request(QUESTION, calling(call(arguments="{")), result()), 500, "Failed to parse tool call arguments"),
    ("vllm", request(QUESTION, calling(call(arguments="")), result()), 400, "Expecting value"),
    ("ollama", request(QUESTION, calling(call(arguments="[]")), result()), 400, "invalid tool call arguments"),
    ("generic", request(QUESTION, calling(call(arguments={"value": 1})), result()), 400, "not a JSON object"),
    # Images.
    ("openai", request(QUESTION, calling(call()), result(content=[image_part()])), 400, "only allowed for messages"),
    ("mistral", request(QUESTION, calling(call()), result(content=[image_part()])), 400, "role 'tool'"),
    ("openai", request(message("user", [image_part()]), model="text-only/text"), 400, "only supported by certain"),
    ("deepseek", request(message("user", [image_part()])), 400, "unknown variant `image_url`, expected `text`"),
    ("llamacpp", request(message("user", [image_part()]), model="text-only/text"), 500, "image input is not supported"),
    ("vllm", request(message("user", [image_part()]), model="text-only/text"), 400, "is not a multimodal model"),
    (
        "ollama",
        request(message("user", [{"type": "image_url", "image_url": {"url": "https://host/a.png"}}])),
        400,
        "invalid image input",
    ),
    # Functions.
    ("openai", request(tools=[tool("python")]), 400, "'python' is reserved"),
    ("openai", request(tools=[tool("run.python")]), 400, "does not match pattern"),
    ("openai", request(tools=[]), 400, "empty array"),
    ("openai", request(tool_choice="auto"), 400, "only allowed when 'tools' are specified"),
    ("openai", request(model="gpt-5.6/text", tools=[tool()]), 400, EFFORT),
    ("openai", request(model="gpt-5.6/text", tools=[tool()], reasoning_effort="low"), 400, EFFORT),
    ("deepseek", request(tools=[tool()], tool_choice="required"), 400, "Thinking mode does not support this"),
    ("llamacpp", request(model="no-tools/text", tools=[tool()]), 500, "tools param requires --jinja flag"),
    ("vllm", request(model="no-tools/text", tools=[tool()]), 400, "requires --enable-auto-tool-choice"),
    ("ollama", request(model="no-tools/text", tools=[tool()]), 400, "does not support tools"),
    # Optional parameters.
    ("openai", request(model="gpt-5/text", max_tokens=5), 400, "Use 'max_completion_tokens' instead"),
    ("openai", request(model="o3/text", temperature=0.5), 400, "'temperature' does not support 0.5"),
    # The length.
    *(
        (name, request(message("user", "x" * 2000), model="context-300/text"), 400, "300")
        for name in ("openai", "mistral", "deepseek", "llamacpp", "vllm", "generic")
    ),
]

ACCEPTED: list[tuple[str, dict[str, Any]]] = [
    *((name, request()) for name in PROFILES),
    *((name, request(SYSTEM, QUESTION)) for name in PROFILES),
    *(
        (name, request(SYSTEM, QUESTION, THINKING_CALL, result()))
        for name in PROFILES
        if name not in ("openai", "mistral")
    ),
    *((name, request(SYSTEM, QUESTION, calling(call()), result())) for name in ("openai", "mistral")),
    ("openai", request(QUESTION, calling(call(), call("b")), result("b"), result(), QUESTION)),
    ("openai", request(QUESTION, calling(call()), result(), message("user", [image_part()]))),
    ("mistral", request(QUESTION, calling(call()), result(), ANSWER, message("user", [image_part()]))),
    ("llamacpp", request(QUESTION, calling(call()), result(content=[image_part()]), QUESTION)),
    ("llamacpp", request(model="any name at all")),
    ("openai", request(model="gpt-5.6/text", tools=[tool()], reasoning_effort="none")),
    ("openai", request(model="gpt-5/text", max_completion_tokens=5, temperature=1)),
    ("openai", request(temperature=0.5, max_tokens=5, stream_options={"include_usage": True})),
    ("deepseek", request(QUESTION, ANSWER, QUESTION, thinking={"type": "disabled"})),
    ("ollama", request(message("user", "x" * 2000), model="context-300/text")),
    ("generic", request(QUESTION | {"id": 1}, top_k=3)),
]


def case_name(value: object) -> str:
    """Return a short name for a value of a case."""
    return value if isinstance(value, str) else "" if isinstance(value, dict) else str(value)


@pytest.mark.parametrize(("profile", "body", "status", "words"), REFUSED, ids=case_name)
async def test_request_is_refused_in_the_words_of_the_server(
    server: StandInServer, profile: str, body: dict[str, Any], status: int, words: str
) -> None:
    got_status, text = await post(server, profile, body)
    # The body is JSON, so quotation marks in it are escaped.
    assert (got_status, words in text or words in json.dumps(json.loads(text), ensure_ascii=False)) == (status, True), (
        text
    )
    entry = server.journal.entries[-1]
    assert (entry.profile, entry.body, entry.status) == (profile, body, status)
    assert entry.error == json.loads(text)


@pytest.mark.parametrize(("profile", "body"), ACCEPTED, ids=case_name)
async def test_request_is_accepted(server: StandInServer, profile: str, body: dict[str, Any]) -> None:
    status, text = await post(server, profile, body)
    assert status == 200, text
    assert "data: [DONE]" in text
    assert server.journal.entries[-1].is_complete


def test_every_mistake_that_a_server_refuses_has_a_case() -> None:
    found = {
        violation.rule
        for profile, body, _, _ in REFUSED
        for violation in violations(body, parse_model_name(body["model"]), PROFILES[profile].fields)
    }
    assert {rule for table in TABLES.values() for rule in table} == found | {"key", "model"}


@pytest.mark.parametrize(
    ("profile", "words"),
    [
        ("openai", "Incorrect API key provided"),
        ("mistral", '{"detail": "Invalid API Key"}'),
        ("deepseek", "Authentication Fails"),
        ("llamacpp", '"authentication_error"'),
        ("vllm", "Unauthorized"),
        ("ollama", "unauthorized"),
        ("generic", '{"error": "Unauthorized"}'),
    ],
)
async def test_wrong_key_is_refused(server: StandInServer, profile: str, words: str) -> None:
    status, text = await post(server, profile, request(), key="wrong")
    assert (status, words in text) == (401, True)


async def test_errors_have_the_form_that_the_openai_package_reads(server: StandInServer) -> None:
    async with openai.AsyncOpenAI(base_url=server.url("openai"), api_key=KEY, max_retries=0) as client:
        with pytest.raises(openai.BadRequestError) as refused:
            await client.chat.completions.create(**request(model="gpt-5/text", max_tokens=5))
        with pytest.raises(openai.NotFoundError):
            await client.chat.completions.create(**request(model="nothing"))
    assert (refused.value.code, refused.value.param) == ("unsupported_parameter", "max_tokens")


async def test_context_error_of_llamacpp_has_its_numbers(server: StandInServer) -> None:
    _, text = await post(server, "llamacpp", request(message("user", "x" * 2000), model="context-300/text"))
    error = json.loads(text)["error"]
    assert (error["type"], error["n_ctx"]) == ("exceed_context_size_error", 300)
    assert error["n_prompt_tokens"] > 300
