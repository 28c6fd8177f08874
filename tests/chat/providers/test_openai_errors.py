"""Errors in the forms of all servers are mapped to `ProviderError`s, and give facts about what a server refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chat.providers.openai_compatible.endpoint import ModelFacts
from chat.providers.openai_compatible.errors import provider_error, report_of, report_of_body
from chat.providers.openai_compatible.refusal_facts import (
    EFFORT_NONE,
    REASONING,
    facts_after_image_refusal,
    facts_after_refusal,
)
from chat.providers.provider_errors import (
    ContextTooLong,
    FileRefused,
    InvalidRequest,
    ModelNotFound,
    OutOfCredit,
    Overloaded,
    ProviderError,
    RateLimited,
    ToolsUnsupported,
    Unauthorised,
)
from chat.vocabulary.parts import JSON

KEY = "sk-secret-secret-secret"


def error_of(status: int | None, body: str, **headers: str) -> ProviderError:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    report = report_of_body(body.encode(), "text/plain")
    return provider_error(report, status=status, headers=named, api_key=KEY)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('{"error": {"message": "No.", "type": "t", "param": "temperature", "code": "c"}}', "No."),
        ('{"error": "No."}', "No."),
        ('{"detail": "No."}', "No."),
        ('{"message": "No.", "type": "t", "code": 3}', "No."),
        ('{"object": "error", "message": "No.", "code": 400}', "No."),
        ('[{"error": {"message": "No.", "status": "INVALID_ARGUMENT", "code": 400}}]', "No."),
        (
            '{"error": {"message": "Provider returned error", "metadata": {"raw": "No."}}}',
            "Provider returned error: No.",
        ),
        ("<html><head><title>No.</title></head></html>", "No."),
        ("No.", "No."),
        ("", ""),
    ],
)
def test_message_of_an_error_is_read_from_the_format_of_each_kind_of_server(body: str, message: str) -> None:
    assert report_of_body(body.encode(), "application/json").message == message


def test_refused_request_gives_its_reason_without_the_key() -> None:
    error = error_of(400, json.dumps({"error": {"message": f"Bad <b>field</b>, key {KEY}."}}))
    assert (type(error), error.reason) == (InvalidRequest, "Bad field , key [removed].")
    assert not error_of(401, json.dumps({"error": {"message": "Incorrect API key"}})).reason


@pytest.mark.parametrize(
    ("status", "error", "expected"),
    [
        (401, {"message": "Incorrect API key"}, Unauthorised),
        (403, {"message": "no access"}, Unauthorised),
        (402, {"message": "Insufficient credits"}, OutOfCredit),
        (429, {"message": "quota", "code": "insufficient_quota"}, OutOfCredit),
        (429, {"message": "slow down"}, RateLimited),
        (404, {"message": "The model `x` does not exist", "code": "model_not_found"}, ModelNotFound),
        (404, {"message": 'model "x" not found, try pulling it first'}, ModelNotFound),
        (404, {"message": "page not found"}, InvalidRequest),
        (400, {"message": "too long", "code": "context_length_exceeded"}, ContextTooLong),
        (400, {"message": "exceeds", "type": "exceed_context_size_error"}, ContextTooLong),
        (400, {"message": "This model's maximum context length is 4096 tokens."}, ContextTooLong),
        (None, {"message": "Try a larger context length"}, ContextTooLong),
        (400, {"message": "bad request"}, InvalidRequest),
        (422, {"message": "extra_forbidden"}, InvalidRequest),
        (400, {"message": "You uploaded an unsupported image. Please make sure your image is valid."}, FileRefused),
        (400, {"message": "No.", "code": "invalid_image_format"}, FileRefused),
        (400, {"message": "Failed to load image or audio file"}, FileRefused),
        (400, {"message": "Provided image is not valid."}, FileRefused),
        (500, {"message": "image input is not supported - hint: mmproj"}, InvalidRequest),
        (500, {"message": "internal"}, Overloaded),
        (503, {"message": "loading model"}, Overloaded),
        (None, {"message": "Internal server error", "code": 500}, Overloaded),
        (None, {"message": "bad", "type": "invalid_request_error"}, InvalidRequest),
        (None, {"message": "slow down", "code": 429}, RateLimited),
    ],
)
def test_type_of_an_error_depends_on_http_status_and_body(
    status: int | None, error: dict[str, Any], expected: type[ProviderError]
) -> None:
    assert type(error_of(status, json.dumps({"error": error}))) is expected


@pytest.mark.parametrize(
    ("content_type", "named"),
    [
        ("text/html; charset=utf-8", "text/html"),
        ("", "no content type"),
        ("text/html\u202e my diary", "an invalid content type"),
    ],
)
def test_error_about_a_body_that_is_not_json_contains_its_size_and_type_but_no_text_of_it(
    content_type: str, named: str
) -> None:
    body = b"<p>You wrote: my diary, which exceeds the context length</p>"
    error = provider_error(report_of_body(body, content_type), status=400, headers={}, api_key=KEY)
    assert error.detail == f"400 The body is not JSON: {len(body)} bytes, {named}."
    assert isinstance(error, ContextTooLong)


@pytest.mark.parametrize("code", [1302, 0, -1, True, 10**30])
def test_error_code_that_is_not_an_http_status_is_not_stored_as_status(code: int) -> None:
    assert error_of(None, json.dumps({"error": {"message": "No.", "code": code}})).status is None


def test_error_inside_a_stream_has_the_http_status_in_its_code_field() -> None:
    assert error_of(None, json.dumps({"error": {"message": "No.", "code": 503}})).status == 503


def test_detail_of_an_error_never_has_the_key() -> None:
    message = f"Incorrect API key provided: {KEY}. Or sk-proj-0123456789abcdefghij, or pk-0123456789ab."
    detail = error_of(401, json.dumps({"error": message})).detail
    assert "Incorrect" in detail
    assert "secret" not in detail
    assert "0123456789" not in detail


def test_error_has_the_delay_that_the_server_asks_for() -> None:
    assert error_of(429, "slow down", retry_after="7").retry_after_s == 7
    assert error_of(429, "slow down", retry_after="tomorrow").retry_after_s is None


BODY: dict[str, Any] = {
    "messages": [{"role": "system", "content": "a"}],
    "temperature": 1,
    "max_tokens": 5,
    "stream_options": {},
    "tools": [],
    "reasoning_effort": "low",
}


@pytest.mark.parametrize(
    ("status", "error", "facts"),
    [
        (
            400,
            {
                "message": "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1)"
                " value is supported.",
                "param": "temperature",
            },
            ModelFacts(refuses=frozenset({"temperature"})),
        ),
        (
            400,
            {"message": "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."},
            ModelFacts(refuses=frozenset({"max_tokens"})),
        ),
        (422, {"message": "extra_forbidden: body.stream_options"}, ModelFacts(refuses=frozenset({"stream_options"}))),
        (
            400,
            {
                "message": "Function tools with reasoning_effort are not supported for gpt-5.6",
                "param": "reasoning_effort",
            },
            ModelFacts(demands=frozenset({EFFORT_NONE})),
        ),
        (
            400,
            {"message": "The `reasoning_content` in the thinking mode must be passed back to the API."},
            ModelFacts(demands=frozenset({REASONING})),
        ),
        (
            400,
            {"message": "Unsupported value: 'messages[0].role' does not support 'system' with this model."},
            ModelFacts(refuses=frozenset({"system"})),
        ),
    ],
)
def test_refusal_of_a_parameter_gives_facts_about_the_model(
    status: int, error: dict[str, Any], facts: ModelFacts
) -> None:
    report = report_of({"error": error})
    assert facts_after_refusal(status, report.parameter, report.message, BODY, ModelFacts()) == facts


@pytest.mark.parametrize(
    ("status", "message", "expected"),
    [
        (500, "tools param requires --jinja flag", ToolsUnsupported),
        (400, "registry/gemma3 does not support tools", ToolsUnsupported),
        (
            400,
            '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
            ToolsUnsupported,
        ),
        (404, "No endpoints found that support tool use. Try disabling “run_python”.", ToolsUnsupported),
        (400, "Function calling is not enabled for this model", ToolsUnsupported),
        (400, "tools is not supported in this model.", ToolsUnsupported),
        (400, "`tool calling` is not supported with this model", ToolsUnsupported),
        (422, "deepseek-reasoner does not support Function Calling", ToolsUnsupported),
        (400, "Unsupported parameter: 'tools' is not supported with this model.", ToolsUnsupported),
        (400, "Function tools are not supported for gpt-9 in /v1/chat/completions. Use /v1/responses.", InvalidRequest),
        (400, "Tools are not supported here. Please use the Responses API.", InvalidRequest),
        (400, "Invalid schema for function 'run_python': 'oneOf' is not permitted.", InvalidRequest),
        (400, "tools[0].function.strict: this keyword is not supported", InvalidRequest),
        (400, "Unsupported parameter: 'parallel_tool_calls'", InvalidRequest),
        (400, "top_p is not supported", InvalidRequest),
        (400, "response_format is not supported when using tools", InvalidRequest),
        (400, "Function calling is not supported with thinking enabled", InvalidRequest),
        (403, "Your plan does not allow tool use", Unauthorised),
        (400, "Image input is not supported together with tools", InvalidRequest),
        (400, "Tool call id abc not found; parallel tool calls are not supported", InvalidRequest),
        (400, 'Invalid value: "tools are not supported here, she said"', InvalidRequest),
        (401, "tools are not supported", Unauthorised),
    ],
)
def test_only_a_refusal_of_all_tools_raises_tools_unsupported(
    status: int, message: str, expected: type[ProviderError]
) -> None:
    error = provider_error(report_of({"error": {"message": message}}), status=status, headers={}, api_key="")
    assert type(error) is expected
    assert bool(error.reason) is isinstance(error, InvalidRequest)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (401, "temperature is not supported"),
        (400, "the conversation mentions temperature"),
        (400, "top_p is not supported"),
        (400, "'max_tokens' is too large: 100000. This model supports at most 16384 completion tokens, not supported"),
        (400, "'reasoning_effort' does not support 'minimal'. Supported values are: 'low', 'high'."),
        (400, "messages[1].content 'what is the temperature today?' is not supported"),
        (400, "This model's maximum context length is 4096 tokens; 'max_tokens' is not supported"),
        (429, "unsupported temperature"),
    ],
)
def test_refusal_that_is_not_about_a_parameter_of_the_request_gives_no_facts(status: int, message: str) -> None:
    assert facts_after_refusal(status, "", message, BODY, ModelFacts()) is None


def test_refusal_of_both_token_limit_parameters_gives_no_new_facts() -> None:
    known = ModelFacts(refuses=frozenset({"max_tokens"}))
    body = {**BODY, "max_completion_tokens": 5}
    assert facts_after_refusal(400, "", "'max_completion_tokens' is not supported", body, known) is None


def test_message_of_a_validation_error_omits_the_input_that_it_repeats() -> None:
    detail: JSON = {
        "type": "extra_forbidden",
        "loc": ["body", "stream_options"],
        "msg": "Not permitted",
        "input": "secret",
    }
    report = report_of({"detail": [detail]})
    assert report.parameter == "stream_options"
    assert "secret" not in report.message
    facts = facts_after_refusal(422, report.parameter, report.message, BODY, ModelFacts())
    assert facts == ModelFacts(refuses=frozenset({"stream_options"}))


def test_refusal_that_is_already_known_gives_no_new_facts() -> None:
    known = ModelFacts(demands=frozenset({REASONING}))
    assert facts_after_refusal(400, "", "reasoning_content must be passed back to the API", BODY, known) is None


def test_refusal_of_images_changes_the_facts_only_once() -> None:
    message = "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"
    facts = facts_after_image_refusal(500, message, ModelFacts())
    assert facts == ModelFacts(images=False)
    assert facts_after_image_refusal(500, message, facts) is None
    assert facts_after_image_refusal(400, f"bad value: {'x' * 500} {message}", ModelFacts()) is None
