"""Calls that export and import whole conversations."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from attachments.views import MULTIPART_OVERHEAD_BYTES
from chat.api.parsers import FileParser, JSONFileParser, ZipFileParser
from chat.api.problems import Problem, ProblemType, refused, unavailable
from chat.api.schema import problem_responses
from chat.api.serializers.attachments import FileUploadSerializer
from chat.api.serializers.imports import ImportResultSerializer
from chat.api.views.base import ApiView
from chat.library.exports.download import Download
from chat.library.exports.export_format import ExportBusy, RefusedExport
from chat.library.exports.export_lease import ExportClaim, ExportUnderWay, check_export, claim_export
from chat.library.exports.registry import FORMATS, UnknownFormat, UnknownMessage, export_all, export_conversation
from chat.library.exports.response import download_response
from chat.library.imports.importer import import_file
from chat.library.imports.refusal import RefusedImport
from chat.messages.records import Deleted
from chat.people.access import NotFound, conversations_of, readable_conversation
from chat.people.quotas.throttles import CallThrottle, WriteThrottle

ZIP = "application/zip"


def _openapi_type(media_type: str) -> OpenApiTypes:
    if media_type == ZIP:
        return OpenApiTypes.BINARY
    return OpenApiTypes.STR if media_type.startswith("text/") else OpenApiTypes.OBJECT


EXPORT_RESPONSES = {
    # The archive comes first: client generators that know one type of a response take the first.
    (200, media_type): _openapi_type(media_type)
    for media_type in (ZIP, *sorted({name for one in FORMATS.values() for name in one.media_types} - {ZIP}))
}


class ConversationExport(ApiView):
    """One conversation as a file."""

    @extend_schema(
        operation_id="conversations-export",
        summary="Export a conversation",
        parameters=[
            OpenApiParameter("format", str, OpenApiParameter.PATH, enum=list(FORMATS)),
            OpenApiParameter(
                "message",
                OpenApiTypes.UUID,
                description="Only this message, in the formats "
                + ", ".join(f"`{one.name}`" for one in FORMATS.values() if one.has_single_messages)
                + ".",
            ),
        ],
        description=(
            "Return a conversation as a file.\n\n"
            + "\n".join(f"- `{one.name}`: {one.description}." for one in FORMATS.values())
        ),
        responses={
            **EXPORT_RESPONSES,
            **problem_responses(ProblemType.REFUSED, ProblemType.UNAVAILABLE, ProblemType.WRONG_SERVER),
        },
    )
    def get(self, request: Request, conversation_id: uuid.UUID, format: str) -> HttpResponseBase:
        """Return a conversation as a file."""
        conversation = readable_conversation(self.caller, conversation_id)
        self.require_asgi()
        try:
            download = export_conversation(
                conversation, format, exported_at=timezone.now(), message_id=request.query_params.get("message")
            )
        except (UnknownFormat, UnknownMessage, Deleted):
            raise NotFound from None
        except ExportBusy as error:
            raise unavailable(str(error)) from None
        except RefusedExport as error:
            raise refused("format", str(error)) from None
        return _response_of(request, download)


class Export(ApiView):
    """All conversations of the caller as a file."""

    @extend_schema(
        operation_id="export",
        summary="Export everything",
        responses={
            (200, ZIP): OpenApiTypes.BINARY,
            **problem_responses(ProblemType.EXPORT_RUNNING, ProblemType.WRONG_SERVER),
        },
    )
    def get(self, request: Request) -> HttpResponseBase:
        """Return a zip with a folder for each conversation. It is made while it is sent.

        Only one such download of a user is sent at a time.
        """
        self.require_asgi()
        try:
            if request.method == "HEAD":
                check_export(self.caller.pk)
                claim = None
            else:
                claim = claim_export(self.caller.pk)
        except ExportUnderWay as error:
            headers = {"Retry-After": str(error.retry_after_s)}
            raise Problem(ProblemType.EXPORT_RUNNING, str(error), headers=headers) from None
        return _response_of(request, export_all(conversations_of(self.caller), exported_at=timezone.now()), claim)


class Import(ApiView):
    """Conversations of a file."""

    parser_classes = (JSONFileParser, ZipFileParser, MultiPartParser, FileParser)
    throttle_classes = (CallThrottle, WriteThrottle)
    body_limit_bytes = settings.UPLOAD_LIMIT_BYTES + MULTIPART_OVERHEAD_BYTES
    beyond_body_limit = (
        "Whoever runs this server can import more with `manage.py import_conversations`."
        " The page `/import/` takes larger files, in pieces."
    )

    @extend_schema(
        operation_id="import",
        summary="Import conversations",
        request={
            "application/json": OpenApiTypes.OBJECT,
            ZIP: OpenApiTypes.BINARY,
            "multipart/form-data": FileUploadSerializer,
        },
        responses={
            200: ImportResultSerializer,
            201: ImportResultSerializer,
            **problem_responses(ProblemType.REFUSED, ProblemType.QUOTA, ProblemType.STORAGE_FULL),
        },
    )
    def post(self, request: Request) -> Response:
        """Import an export, `json` or `zip`: as the body itself, or as the field `file` of a form.

        Exports of Plotline, of ChatGPT and of Claude, Google Takeout with the activity of Gemini (also as HTML, in a
        form), and Jupyter notebooks.

        The status is 201 if there are new conversations, and 200 if an earlier import has brought all of them.
        """
        name, data = "", request.data
        if not isinstance(data, bytes):
            file = FileUploadSerializer.parse(data)["file"]
            name, data = file.name or "", file.read()
        try:
            imported = import_file(data, owner_id=self.caller.pk, name=name)
        except RefusedImport as refusal:
            raise refused("file", str(refusal)) from None
        return Response(ImportResultSerializer(imported).data, status=201 if imported.created else 200)


def _response_of(request: Request, download: Download, claim: ExportClaim | None = None) -> HttpResponseBase:
    response = download_response(download, request.user.pk, claim)
    if request.method == "HEAD":
        return HttpResponse(headers=response.headers)
    return response
