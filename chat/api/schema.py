"""The OpenAPI document: what drf-spectacular derives from views and serializers, and what all calls have in common."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from http import HTTPStatus
from typing import Any, TypeAlias

from drf_spectacular.extensions import OpenApiAuthenticationExtension, OpenApiSerializerExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ComponentRegistry
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework.serializers import Serializer

from chat.api.problems import PROBLEM_JSON, ProblemType
from chat.api.serializers.problems import ProblemSerializer
from chat.vocabulary.parts import JSONObject

OpenApiObject: TypeAlias = dict[str, Any]
"""An object of the document, as drf-spectacular makes it."""

RETRY_AFTER = OpenApiParameter(
    "Retry-After", {"type": "integer", "minimum": 1}, "header", response=[429, 503], description="Seconds to wait."
)
IF_MATCH = OpenApiParameter("If-Match", str, "header", description="An `ETag`. The response is 412 if it has changed.")
IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match", str, "header", description="An `ETag`. The response is 304 if it has not changed."
)
ETAG = OpenApiParameter("ETag", str, "header", response=[200], description="Changes with the content.")


def problem_responses(*types: ProblemType) -> dict[tuple[int, str], OpenApiResponse]:
    """Return the responses of these problems, for `extend_schema`."""
    return {
        (status, PROBLEM_JSON): OpenApiResponse(
            ProblemSerializer, " · ".join(one.title for one in types if one.status == status) + "."
        )
        for status in sorted({one.status for one in types})
    }


class ApiSchema(AutoSchema):
    """Describes a call. It adds the problems that all calls of its kind may return, so views need not list them."""

    def get_override_parameters(self) -> list[OpenApiParameter | Serializer[Any] | type[Serializer[Any]]]:
        """Return the header `Retry-After`, which some problem responses have."""
        return [RETRY_AFTER]

    def get_operation(
        self, path: str, path_regex: str, path_prefix: str, method: str, registry: ComponentRegistry
    ) -> OpenApiObject | None:
        """Return the description of one call."""
        operation: OpenApiObject | None = super().get_operation(path, path_regex, path_prefix, method, registry)
        if operation is None:
            return None
        responses = operation["responses"]
        for (status, media_type), problem in problem_responses(*_common_problems(path, operation)).items():
            described = self._get_response_for_code(problem, str(status), [media_type])
            responses.setdefault(str(status), described)
        for status, response in responses.items():
            response["description"] = response["description"] or HTTPStatus(int(status)).phrase
        body = operation.get("requestBody")
        if body and list(body["content"]) != ["application/json"]:
            # drf-spectacular does not set `required` if the body is a file.
            body["required"] = True
        operation["responses"] = dict(sorted(responses.items()))
        return operation


def _common_problems(path: str, operation: OpenApiObject) -> Iterator[ProblemType]:
    yield from (ProblemType.UNAUTHENTICATED, ProblemType.FORBIDDEN, ProblemType.TOO_FAST)
    if "{" in path:
        yield ProblemType.ABSENT
    if "requestBody" in operation:
        yield from (ProblemType.MALFORMED, ProblemType.INVALID, ProblemType.TOO_LARGE, ProblemType.MEDIA_TYPE)
    elif any(parameter["in"] == "query" for parameter in operation.get("parameters", [])):
        yield ProblemType.INVALID


class BearerAuthenticationExtension(OpenApiAuthenticationExtension):
    """Describes API tokens."""

    target_class = "chat.api.authentication.BearerAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> JSONObject:
        """Return the security scheme."""
        description = "Made on the account page. `X-API-Key: <token>` is accepted, too, beside another `Authorization`."
        return {"type": "http", "scheme": "bearer", "description": description}


class StrictSerializerExtension(OpenApiSerializerExtension):
    """Describes strict serializers: they accept no unknown names."""

    target_class = "chat.api.serializers.fields.StrictSerializer"
    match_subclasses = True

    def map_serializer(self, auto_schema: AutoSchema, direction: str) -> OpenApiObject:
        """Return the schema of a serializer."""
        schema: OpenApiObject = auto_schema._map_serializer(self.target, direction, bypass_extensions=True)
        return {**schema, "additionalProperties": False}


@cache
def openapi_document() -> OpenApiObject:
    """Return the document, which is the same for all users."""
    generator = SchemaGenerator()
    document: OpenApiObject = generator.get_schema(request=None, public=True)
    return document
