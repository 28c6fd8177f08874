"""Whole conversations as files, out and in."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from attachments.views import MULTIPART_SLACK_BYTES
from chat.access import NotFound, conversations_of, readable_conversation
from chat.api.attachments import form_file
from chat.api.describing import FORMAT_PARAMETER, IMPORT_BODY, BytesRenderer, describe
from chat.api.doors import ApiView
from chat.api.outgoing import Imported
from chat.api.parsing import FileParser, JSONFileParser, ZipFileParser
from chat.api.problems import invalid
from chat.api.throttles import CallThrottle, WriteThrottle
from chat.exports.download import Download
from chat.exports.registry import UnknownFormat, export_all, export_conversation
from chat.exports.sending import download_response
from chat.imports.importing import import_file
from chat.imports.refusal import RefusedImport


class ConversationExport(ApiView):
    """A conversation as a file."""

    renderer_classes = (BytesRenderer,)

    @describe(
        "conversations-export",
        "Export a conversation",
        "As `json` (everything, to import again), `md`, `html`, `ipynb`, or `zip` with all of these and the files.",
        path=(FORMAT_PARAMETER,),
        answers={200: None},
        problems=(404, 503),
    )
    def get(self, request: Request, conversation_id: uuid.UUID, format: str) -> HttpResponseBase:
        """Export."""
        conversation = readable_conversation(self.caller, conversation_id)
        self.need_server()
        try:
            return _sent(request, export_conversation(conversation, format, exported_at=timezone.now()))
        except UnknownFormat:
            raise NotFound from None


class Export(ApiView):
    """Everything as a file."""

    renderer_classes = (BytesRenderer,)

    @describe(
        "export",
        "Export everything",
        "All conversations, as a zip with a folder for each, made while it is sent.",
        answers={200: None},
        problems=(503,),
    )
    def get(self, request: Request) -> HttpResponseBase:
        """Export."""
        self.need_server()
        return _sent(request, export_all(conversations_of(self.caller), exported_at=timezone.now()))


class Import(ApiView):
    """Conversations out of a file."""

    parser_classes = (JSONFileParser, ZipFileParser, MultiPartParser, FileParser)
    throttle_classes = (CallThrottle, WriteThrottle)
    body_limit_bytes = settings.UPLOAD_LIMIT_BYTES + MULTIPART_SLACK_BYTES

    @describe(
        "import",
        "Import conversations",
        "An export as `json` or `zip`, as the body itself or as the field `file` of a form. 201: there are new"
        " conversations; 200: an earlier import had brought them all.",
        body=IMPORT_BODY,
        answers={200: Imported, 201: Imported},
        problems=(400, 413, 415, 422),
    )
    def post(self, request: Request) -> Response:
        """Import."""
        name, data = "", request.data
        if not isinstance(data, bytes):
            file = form_file(request)
            name, data = file.name or "", file.read()
        try:
            imported = import_file(data, owner_id=self.caller.pk, name=name)
        except RefusedImport as refusal:
            raise invalid("refused", file=str(refusal)) from None
        said = {"ids": list(map(str, imported.created)), "known_ids": list(map(str, imported.known))}
        return Response(said, status=201 if imported.created else 200)


def _sent(request: Request, download: Download) -> HttpResponseBase:
    response = download_response(download)
    if request.method == "HEAD":
        return HttpResponse(headers=response.headers)
    return response
