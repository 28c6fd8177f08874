"""What the schema says of a call, in one decorator; and the types of answers that are no JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.renderers import BaseRenderer
from rest_framework.serializers import Serializer

from chat.api.outgoing import Problem
from chat.api.problems import KINDS, PROBLEM_JSON
from chat.exports.registry import FORMATS
from chat.forms import CLIENT_ID_LIMIT

View = TypeVar("View", bound=Callable[..., Any])

SEQ_LIMIT = 2**31 - 1
"""The largest number of an event."""

EVERYWHERE = (401, 403, 429)
"""Statuses of problems that any call may meet."""

STATUS_WORDS = {
    200: "Done.",
    201: "Created.",
    202: "Begun, or soon to end.",
    204: "There is nothing more to say.",
    304: "The caller has it already.",
}


def _file(media_type: str, description: str) -> dict[str, Any]:
    """Bytes. The format is what OpenAPI 3.0 said, and what most generators of clients know a file by."""
    return {"type": "string", "format": "binary", "contentMediaType": media_type, "description": description}


def _form(description: str) -> dict[str, Any]:
    """A form with one file."""
    return {
        "type": "object",
        "properties": {"file": _file("application/octet-stream", description)},
        "required": ["file"],
        "additionalProperties": False,
    }


FILE_BODY = {
    "multipart/form-data": _form("PNG, JPEG, WebP, GIF, PDF, or text such as CSV and JSON; at most 15 MB."),
}
IMPORT_BODY = {
    "application/json": {"type": "object", "description": "A JSON export.", "additionalProperties": True},
    "application/zip": _file("application/zip", "A zip export."),
    "multipart/form-data": _form("A json or zip export; at most 15 MB."),
}

FORMAT_PARAMETER = OpenApiParameter(
    "format", str, OpenApiParameter.PATH, enum=list(FORMATS), description="The form of the file."
)
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "maxLength": CLIENT_ID_LIMIT},
    OpenApiParameter.HEADER,
    description="Chosen by the caller, one for each question: sent twice it begins one turn.",
)
LAST_EVENT_ID = OpenApiParameter(
    "Last-Event-ID",
    {"type": "integer", "minimum": 0, "maximum": SEQ_LIMIT},
    OpenApiParameter.HEADER,
    description="The `id` of the last event that the caller has: exactly those after it are sent.",
)
IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match", str, OpenApiParameter.HEADER, description="An `ETag`: 304 if it is still that."
)
IF_MATCH = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, description="An `ETag`: 412 unless it is still that."
)


class EventStreamRenderer(BaseRenderer):
    """Names the type; nothing is rendered by the framework."""

    media_type = "text/event-stream"
    format = "events"


class BytesRenderer(BaseRenderer):
    """Names the type; nothing is rendered by the framework."""

    media_type = "application/octet-stream"
    format = "bytes"


class CallSchema(AutoSchema):
    """Every body is as its view parses it: no call takes forms but those that say so."""

    def get_tags(self) -> list[str]:
        """By noun."""
        first, *rest = self.path.removeprefix("/api/v1/").split("/")
        return ["turns" if "turns" in rest else "transfers" if first in ("export", "import") else first]


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the schema names tokens."""

    target_class = "chat.api.authentication.BearerAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        """A token of the account page, or of `manage.py create_api_token`."""
        return {"type": "http", "scheme": "bearer", "description": "Made on the account page."}


def describe(
    operation_id: str,
    summary: str,
    description: str,
    *,
    answers: Mapping[int, type[Serializer[Any]] | None],
    body: type[Serializer[Any]] | Mapping[str, Any] | None = None,
    query: type[Serializer[Any]] | None = None,
    path: Sequence[OpenApiParameter] = (),
    problems: Sequence[int] = (),
    has_etag: bool = False,
    has_if_match: bool = False,
    has_idempotency_key: bool = False,
    has_last_event_id: bool = False,
) -> Callable[[View], View]:
    """Describe a method of a view; `problems`: statuses of problems of its own."""
    responses: dict[Any, Any] = {
        status: OpenApiResponse(answer or (None if status == 204 else OpenApiTypes.BINARY), STATUS_WORDS[status])
        for status, answer in answers.items()
    }
    if has_etag:
        responses[304] = OpenApiResponse(None, STATUS_WORDS[304])
    own_problems = {*problems, *([400] if query else []), *([412] if has_etag else [])}
    for status in sorted({*own_problems, *EVERYWHERE}):
        titles = " · ".join(kind.title for kind in KINDS.values() if kind.status == status)
        responses[status, PROBLEM_JSON] = OpenApiResponse(Problem, f"{titles}.")
    parameters: list[Any] = [*([query] if query else []), *path]
    parameters += [IF_NONE_MATCH] * has_etag + [IF_MATCH] * has_if_match
    parameters += [IDEMPOTENCY_KEY] * has_idempotency_key + [LAST_EVENT_ID] * has_last_event_id
    decorate: Callable[[View], View] = extend_schema(
        operation_id=operation_id,
        summary=summary,
        description=description,
        request=body,
        parameters=parameters,
        responses=responses,
    )
    return decorate
