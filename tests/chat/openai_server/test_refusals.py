"""The stand-in refuses what the real servers refuse, with their status and their words."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.chat.openai_server.requests import QUESTION, call, calling, message, request, result, tool
from tests.openai_server.models import ModelName
from tests.openai_server.refusals import KEY, PROFILES, TABLES, WRONG_KEY, Refusal, refuse, refuse_key
from tests.openai_server.violations import Violation, violations

SYSTEM = message("system", "Be brief.")
ANSWER = message("assistant", "It is 1.")
THINKING_CALL = calling(call(), reasoning_content="")
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
LINKED_IMAGE = {"type": "image_url", "image_url": {"url": "https://host/a.png"}}
LONG_QUESTION = message("user", "x" * 2000)


MISTAKES: dict[str, list[dict[str, Any]]] = {
    "unknown-field": [
        request(top_k=3),
        request(QUESTION | {"id": 1}),
        request(QUESTION, calling(call(extra_content={})), result()),
    ],
    "empty-messages": [request() | {"messages": []}],
    "role": [request(message("robot", "Hi"))],
    "content": [request(QUESTION, message("assistant", None), QUESTION)],
    "system-role": [request(SYSTEM, model="o1-mini/text")],
    "late-system": [request(QUESTION, SYSTEM, QUESTION)],
    "no-reasoning": [request(QUESTION, ANSWER, QUESTION)],
    "assistant-last": [request(QUESTION, ANSWER)],
    "empty-calls": [request(QUESTION, message("assistant", "x", tool_calls=[]), QUESTION)],
    "call-id-repeated": [
        request(QUESTION, calling(call(), call()), result(), result()),
        request(QUESTION, calling(call()), result(), calling(call()), result()),
    ],
    "call-id-form": [request(QUESTION, calling(call("call_1")), result("call_1"))],
    "arguments": [
        request(QUESTION, calling(call(arguments=arguments)), result()) for arguments in ("{", "", "[]", {"value": 1})
    ],
    "call-unanswered": [
        request(QUESTION, calling(call()), QUESTION),
        request(QUESTION, calling(call())),
        request(QUESTION, calling(call(), call("abcdefgh2")), result()),
    ],
    "result-without-call": [
        request(QUESTION, result()),
        request(QUESTION, calling(call()), result(), result()),
    ],
    "user-after-tool": [request(QUESTION, calling(call()), result(), QUESTION)],
    "image": [request(message("user", [IMAGE]))],
    "image-for-text-model": [request(message("user", [IMAGE]), model="text-only/text")],
    "image-role": [request(QUESTION, calling(call()), result(content=[IMAGE]))],
    "image-address": [request(message("user", [LINKED_IMAGE]))],
    "tools": [request(model="no-tools/text", tools=[tool()])],
    "empty-tools": [request(tools=[])],
    "tool-name": [request(tools=[tool("run.python")])],
    "tool-named-python": [request(tools=[tool("python")])],
    "choice-without-tools": [request(tool_choice="auto")],
    "forced-choice": [request(tools=[tool()], tool_choice="required")],
    "tools-with-effort": [
        request(model="gpt-5.6/text", tools=[tool()]),
        request(model="gpt-5.6/text", tools=[tool()], reasoning_effort="low"),
    ],
    "max-tokens": [request(model="gpt-5/text", max_tokens=5)],
    "sampling": [request(model="o3/text", temperature=0.5)],
    "store": [request(model="no-store/text", store=False)],
    "usage-option": [request(model="no-usage-option/text", stream_options={"include_usage": True})],
    "long-context": [request(LONG_QUESTION, model="context-300/text")],
}
"""Requests with one mistake."""
REFUSED = [
    (server, mistake, body)
    for server, table in TABLES.items()
    for mistake in table
    for body in MISTAKES.get(mistake, [])
    # DeepSeek refuses every image, wherever it is.
    if (server, mistake) != ("deepseek", "image-address")
]


def error(message: str, kind: str, code: object) -> dict[str, Any]:
    """Return an error body in the form of OpenAI."""
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


UNKNOWN_MODEL = {
    "openai": error(
        "The model `nothing` does not exist or you do not have access to it.",
        "invalid_request_error",
        "model_not_found",
    ),
    "mistral": {
        **error("Invalid model: nothing", "invalid_model", "1500")["error"],
        "object": "error",
        "raw_status_code": 400,
    },
    "deepseek": error("Model Not Exist", "invalid_request_error", "invalid_request_error"),
    "vllm": error("The model `nothing` does not exist.", "NotFoundError", 404),
    "ollama": error("model 'nothing' not found", "not_found_error", None),
    "generic": {"error": "Specified model not found: nothing"},
}
"""The form of each server's errors. llama.cpp answers with the loaded model."""

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
    ("openai", request(QUESTION, calling(call()), result(), message("user", [IMAGE]))),
    ("mistral", request(QUESTION, calling(call()), result(), ANSWER, message("user", [IMAGE]))),
    ("llamacpp", request(QUESTION, calling(call()), result(content=[IMAGE]), QUESTION)),
    ("openai", request(model="gpt-5.6/text", tools=[tool()], reasoning_effort="none")),
    ("openai", request(model="gpt-5/text", max_completion_tokens=5, temperature=1)),
    ("openai", request(temperature=0.5, max_tokens=5, stream_options={"include_usage": True})),
    ("ollama", request(LONG_QUESTION, model="context-300/text")),
    ("generic", request(QUESTION | {"id": 1}, top_k=3)),
]


def case_name(value: object) -> str:
    """Return a short name for a value of a case."""
    return value if isinstance(value, str) else ""


def refusals_of(server: str, body: dict[str, Any]) -> dict[str, Refusal]:
    """Return how a server refuses each mistake in a request that it does not accept."""
    model = ModelName(body["model"])
    refusals = {one.rule: refuse(server, one, model.full) for one in violations(server, body, model)}
    return {mistake: refusal for mistake, refusal in refusals.items() if refusal is not None}


def test_every_mistake_that_a_server_refuses_has_a_case() -> None:
    assert {mistake for table in TABLES.values() for mistake in table} == MISTAKES.keys() | {"key", "model"}


@pytest.mark.parametrize(("server", "mistake", "body"), REFUSED, ids=case_name)
def test_mistake_is_refused_in_the_words_of_the_server(server: str, mistake: str, body: dict[str, Any]) -> None:
    refusals = refusals_of(server, body)
    # DeepSeek refuses most messages of the assistant.
    assert refusals.keys() <= {mistake, "no-reasoning"}
    refusal = refusals[mistake]
    status, _, message = TABLES[server][mistake]
    assert refusal.status == status
    words = re.sub(r"\\\{\w+\\\}", ".+", re.escape(json.dumps(message)))
    assert re.search(words, json.dumps(refusal.body)), refusal.body


@pytest.mark.parametrize(("server", "body"), ACCEPTED, ids=case_name)
def test_request_is_accepted(server: str, body: dict[str, Any]) -> None:
    assert refusals_of(server, body) == {}


@pytest.mark.parametrize("server", PROFILES)
def test_wrong_key_is_refused(server: str) -> None:
    assert refuse_key(server, KEY) is None
    refusal = refuse_key(server, WRONG_KEY)
    assert refusal is not None
    assert (refusal.status, TABLES[server]["key"][2] in str(refusal.body)) == (401, True)


@pytest.mark.parametrize(("server", "expected"), UNKNOWN_MODEL.items())
def test_unknown_model_is_refused_in_the_form_of_the_server(server: str, expected: object) -> None:
    refusal = refuse(server, Violation("model"), "nothing")
    assert refusal is not None
    assert refusal.body == expected


def test_openai_names_the_path_of_a_mistake() -> None:
    body = request(QUESTION, calling(call(extra_content={})), result())
    error = refusals_of("openai", body)["unknown-field"].body["error"]
    path = "messages[1].tool_calls[0].extra_content"
    assert (error["param"], path in error["message"]) == (path, True)


@pytest.mark.parametrize("field", [{"stream_options": {"include_usage": True}}, {"max_completion_tokens": 5}])
def test_field_that_mistral_does_not_know_is_named(field: dict[str, Any]) -> None:
    [(name, value)] = field.items()
    detail = {"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs are not permitted", "input": value}
    form = {"object": "error", "type": "invalid_request_error", "param": None, "code": None}
    refusal = refusals_of("mistral", request(**field))["unknown-field"]
    assert (refusal.status, refusal.body) == (422, {**form, "message": {"detail": [detail]}})


def test_context_error_of_llamacpp_has_its_numbers() -> None:
    body = request(LONG_QUESTION, model="context-300/text")
    error = refusals_of("llamacpp", body)["long-context"].body["error"]
    assert (error["type"], error["n_ctx"]) == ("exceed_context_size_error", 300)
    assert error["n_prompt_tokens"] > 300
