"""The OpenAPI document, made once a process, and the page that shows it to people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator

from attachments.validation import BINARY, PLAIN, RASTER_TYPES
from chat.api.problems import KINDS

FILES_PATH, IMPORT_PATH = "/api/v1/attachments/", "/api/v1/import/"
METHODS = ("get", "post", "put", "patch", "delete")

EVENTS = (
    ("status", "{status}", "First `running`, and near the end how it ended."),
    ("text", "{delta}", "More of the answer's text."),
    ("thought", "{delta}", "More of the model's thoughts."),
    ("code_executable", "{executable_code, code_language, id?}", "Code that the model runs."),
    (
        "code_execution_result",
        "{code_execution_output, code_execution_outcome: success|error|timeout, id?}",
        "What it printed.",
    ),
    ("graph", "{index, attachment_id, mime_type, width, height}", "A graph that the code drew; sizes in pixels."),
    ("image", "{index, attachment_id, mime_type, width, height}", "An image that the model made."),
    ("usage", "{prompt, tool_use, thoughts, candidates, cached, total}", "Tokens; null: not said."),
    ("error", "{code, detail}", "Why the answer was not brought to its end."),
    ("done", "{finish_reason, message_id}", "Always the last."),
)


EVENT_SCHEMA = {
    "description": "One event.",
    "type": "object",
    "properties": {
        "event": {"enum": [name for name, _, _ in EVENTS]},
        "id": {"type": "string", "pattern": "^[0-9]+$"},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
    "required": ["event", "data"],
}

BYTES = {"type": "string", "format": "binary"}
ZIP = {"application/zip": {"schema": BYTES}}
#: Bytes come first in each: generated clients that know one type of an answer take the first.
EXPORTS = {
    **ZIP,
    **{media: {"schema": {"type": "object"}} for media in ("application/json", "application/x-ipynb+json")},
    **{media: {"schema": {"type": "string"}} for media in ("text/html", "text/markdown")},
}
CONTENTS = {media: {"schema": BYTES} for media in (BINARY, *sorted(RASTER_TYPES), PLAIN)}


@dataclass(frozen=True, slots=True)
class Row:
    """A field or parameter, for a table."""

    name: str
    type: str
    is_required: bool
    description: str


@dataclass(frozen=True, slots=True)
class Call:
    """One call, for the page."""

    anchor: str
    method: str
    path: str
    summary: str
    description: str
    parameters: list[Row]
    bodies: list[tuple[str, str]]
    """Media type and what it is."""
    answers: list[tuple[str, str, str]]
    """Status, what it is, words."""


@dataclass(frozen=True, slots=True)
class Shape:
    """One kind of object, for the page."""

    name: str
    description: str
    fields: list[Row]


def only_calls(endpoints: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Of all addresses, those of the API; a hook of the generator."""
    return [endpoint for endpoint in endpoints if endpoint[0].startswith("/api/v1/")]


def finished(result: dict[str, Any], **_: object) -> dict[str, Any]:
    """What the generator cannot know; a hook of it."""
    for path, calls in result["paths"].items():
        for method, call in calls.items():
            if path.endswith("/events/"):
                events = "\n".join(f"- `{name} {data}`: {text}" for name, data, text in EVENTS)
                call["description"] += f" `id` is the event's number.\n\n{events}"
                call["responses"]["200"]["content"] = {"text/event-stream": {"schema": EVENT_SCHEMA}}
            if "/export/" in path:
                call["responses"]["200"]["content"] = EXPORTS if "{format}" in path else ZIP
            if path.endswith("/content/"):
                call["responses"]["200"]["content"] = CONTENTS
            if path in (FILES_PATH, IMPORT_PATH):
                call.get("requestBody", {})["required"] = True
            if call["responses"].get("429"):
                call["responses"]["429"]["headers"] = {
                    "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer", "minimum": 1}}
                }
            if method in ("get", "patch") and "304" in call["responses"]:
                call["responses"]["200"]["headers"] = {"ETag": {"schema": {"type": "string"}}}
    for name, shape in result["components"]["schemas"].items():
        if name in ("NewConversation", "ConversationChanges", "Question", "FeedbackChange"):
            shape["additionalProperties"] = False
    _without_marks(result)
    result["info"]["x-problems"] = {name: kind.meaning for name, kind in KINDS.items()}
    return result


def _without_marks(said: Any) -> None:  # noqa: ANN401 - any JSON
    """Take away what the generator notes for itself."""
    if isinstance(said, dict):
        said.pop("x-spec-enum-id", None)
    for inner in said.values() if isinstance(said, dict) else said if isinstance(said, list) else ():
        _without_marks(inner)


@cache
def document() -> dict[str, Any]:
    """The schema; the same for everybody."""
    found: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return found


@require_safe
def schema(request: HttpRequest) -> JsonResponse:
    """The schema as JSON, for programs."""
    response = JsonResponse(document(), content_type="application/json")
    response.headers["Cache-Control"] = "public, max-age=300"
    return response


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """The schema as a page, for people; it needs no script."""
    return render(request, "chat/api_docs.html", _page())


@cache
def _page() -> dict[str, Any]:
    found = document()
    return {
        "calls": list(_calls(found)),
        "shapes": list(_shapes(found)),
        "problems": KINDS,
        "events": EVENTS,
    }


def _calls(found: Mapping[str, Any]) -> Iterator[Call]:
    for path, methods in found["paths"].items():
        for method in METHODS:
            if call := methods.get(method):
                yield _call(path, method, call)


def _call(path: str, method: str, call: Mapping[str, Any]) -> Call:
    sent = call.get("requestBody", {}).get("content", {})
    return Call(
        anchor=call["operationId"],
        method=method.upper(),
        path=path,
        summary=call["summary"],
        description=call["description"].partition("\n\n")[0],
        parameters=[
            Row(
                given["name"],
                f"{_type(given['schema'])}, {given['in']}",
                given.get("required", False),
                given.get("description", ""),
            )
            for given in call.get("parameters", [])
        ],
        bodies=[(media, _type(body["schema"])) for media, body in sent.items()],
        answers=[_answer(status, answer) for status, answer in call["responses"].items()],
    )


def _answer(status: str, answer: Mapping[str, Any]) -> tuple[str, str, str]:
    kinds = ", ".join(_said(media, body) for media, body in answer.get("content", {}).items())
    return status, kinds, answer["description"]


def _said(media: str, body: Mapping[str, Any]) -> str:
    # What is said of a type without fields is less than its name.
    return _type(body["schema"]) if "$ref" in body["schema"] else media


def _shapes(found: Mapping[str, Any]) -> Iterator[Shape]:
    for name, shape in found["components"]["schemas"].items():
        if "properties" in shape:
            required = shape.get("required", [])
            rows = [
                Row(field, _type(schema), field in required, schema.get("description", ""))
                for field, schema in shape["properties"].items()
            ]
            yield Shape(name, shape.get("description", ""), rows)


def _type(schema: Mapping[str, Any]) -> str:
    """In few words."""
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    for several in ("oneOf", "anyOf", "allOf"):
        if several in schema:
            return " or ".join(_type(inner) for inner in schema[several])
    if "enum" in schema:
        return " | ".join("null" if value is None else str(value) for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    types = schema.get("type", "any")
    words = " or ".join(types) if isinstance(types, list) else str(types)
    return f"{words} ({schema['format']})" if "format" in schema else words
