"""The ways in which servers report errors: as an HTTP status, inside a stream, and not at all. See `shapes`."""

from __future__ import annotations

import json
from collections.abc import Mapping

from tests.openai_server.expected import Expected
from tests.openai_server.shape import DONE, JSON_TYPE, Shape, chunk, delta, ending, events, stream

LONG_LM_STUDIO = (
    "The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model"
    " with a larger context length, or provide a shorter input"
)
LONG_LLAMACPP = "the request exceeds the available context size. try increasing the context size"
PAGE = b"<!doctype html><title>Sign in</title><p>Please sign in."


def failed(code: str) -> Expected:
    """Return what must be read from a response that is nothing but an error."""
    return Expected(finish=None, error=code)


def cut_by(code: str) -> Expected:
    """Return what must be read from a stream that an error ends after the text `Par`."""
    return Expected("Par", finish=None, error=code)


def http(status: int, code: str, body: object, **headers: str) -> Shape:
    """Return an HTTP error with a JSON body."""
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return Shape(json.dumps(body).encode(), failed(code), status, JSON_TYPE, fields)


def error(message: str, *, code: object = None, kind: str = "invalid_request_error") -> dict[str, object]:
    """Return an error body in OpenAI's form."""
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


STREAM_ERRORS: Mapping[str, Shape] = {
    "error-in-data": Shape(
        events(delta(content="Par"), error("Internal server error", code=500, kind="InternalServerError")) + DONE,
        cut_by("overloaded"),
    ),
    "error-as-event": Shape(
        events(delta(content="Par")) + b"event: error\n" + events(error("The model has crashed", code=500)),
        cut_by("overloaded"),
    ),
    "error-as-string": Shape(events(delta(content="Par"), {"error": "upstream failed"}), cut_by("")),
    "error-beside-choices": Shape(
        stream(
            delta(content="Par"),
            chunk([{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}], **error("Upstream", code=502)),
        ),
        cut_by("overloaded"),
    ),
    "error-as-finish": Shape(stream(delta(content="Par"), ending("error")), cut_by("")),
    "error-as-field": Shape(
        b"error: " + json.dumps({"code": 400, "message": LONG_LLAMACPP}).encode() + b"\n\n" + DONE,
        failed("context_too_long"),
    ),
    "error-as-first-event": Shape(
        b"event: error\n" + events({**error(LONG_LM_STUDIO), "message": LONG_LM_STUDIO}), failed("context_too_long")
    ),
    "no-json-in-an-event": Shape(events(delta(content="Par")) + b"data: {oops\n\n", cut_by("malformed_response")),
    "page-of-html": Shape(PAGE, failed("malformed_response"), content_type="text/html"),
    "page-of-html-as-stream": Shape(PAGE, failed("malformed_response")),
    "no-bytes": Shape(b"", failed("malformed_response")),
    "error-in-json-with-status-200": Shape(
        json.dumps(error("No slot is available", code=503)).encode(), failed("overloaded"), content_type=JSON_TYPE
    ),
}

# The profiles refuse wrong keys, unknown models and long contexts: see `refusals.toml`.
HTTP_ERRORS: Mapping[str, Shape] = {
    "http-forbidden": http(403, "unauthorised", error("Country, region, or territory not supported")),
    "http-flat": http(400, "invalid_request", {"code": 400, "message": "Validation: no", "type": "Bad Request"}),
    "http-in-a-list": http(400, "invalid_request", [error("Bad field")]),
    "http-details": http(
        422,
        "invalid_request",
        {
            "object": "error",
            "message": {"detail": [{"type": "missing", "loc": ["body", "x"], "msg": "Field required"}]},
        },
    ),
    "http-rate": http(429, "rate_limited", error("Rate limit reached", code="rate_limit_exceeded"), Retry_After="7"),
    "http-rate-upstream": http(
        429, "rate_limited", {"error": {"message": "Provider returned error", "code": 429, "metadata": {"raw": "busy"}}}
    ),
    "http-quota": http(
        429,
        "out_of_credit",
        error("You exceeded your current quota.", code="insufficient_quota", kind="insufficient_quota"),
    ),
    "http-credits": http(402, "out_of_credit", error("Insufficient credits", code=402)),
    "http-busy": http(503, "overloaded", error("Loading model", code=503, kind="unavailable_error")),
    "http-html": Shape(b"<html><h1>502 Bad Gateway</h1></html>", failed("overloaded"), 502, "text/html"),
}

ERROR_SHAPES: Mapping[str, Shape] = {**STREAM_ERRORS, **HTTP_ERRORS}
