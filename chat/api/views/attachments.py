"""Calls about attachments."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from attachments.store import create_upload
from attachments.validation import BINARY, PLAIN, RASTER_TYPES, RefusedUpload, UploadTooLarge
from attachments.views import MULTIPART_OVERHEAD_BYTES, build_content_response, report_upload
from chat.api.conditional_requests import conditional_response
from chat.api.problems import Problem, ProblemType, refused, unavailable
from chat.api.schema import ETAG, IF_NONE_MATCH, problem_responses
from chat.api.serializers.attachments import AttachmentSerializer, FileUploadSerializer, attachment_json
from chat.api.views.base import ApiView
from chat.people.access import readable_attachment
from chat.people.quotas.resources import QuotaExceeded
from chat.people.quotas.throttles import CallThrottle, WriteThrottle


class Attachments(ApiView):
    """The caller's attachments."""

    parser_classes = (MultiPartParser,)
    throttle_classes = (CallThrottle, WriteThrottle)
    body_limit_bytes = settings.UPLOAD_LIMIT_BYTES + MULTIPART_OVERHEAD_BYTES

    @extend_schema(
        operation_id="attachments-create",
        summary="Upload a file",
        request={"multipart/form-data": FileUploadSerializer},
        responses={
            201: AttachmentSerializer,
            **problem_responses(ProblemType.REFUSED, ProblemType.QUOTA, ProblemType.STORAGE_FULL),
        },
    )
    def post(self, request: Request) -> Response:
        """Store an image, a PDF, a spreadsheet, a Parquet, Arrow or Stata file, or text such as CSV and JSON.

        The text may be packed (.gz, .zip).

        Images are encoded again, which removes their metadata.
        """
        file = FileUploadSerializer.parse(request.data)["file"]
        try:
            attachment = create_upload(owner_id=self.caller.pk, name=file.name or "", data=file.read())
        except QuotaExceeded:
            raise
        except UploadTooLarge as error:
            raise Problem(ProblemType.TOO_LARGE, str(error)) from None
        except RefusedUpload as error:
            raise refused("file", str(error)) from None
        report_upload(request._request, attachment)
        return Response(
            attachment_json(attachment), status=201, headers={"Location": f"{request.path}{attachment.pk}/"}
        )


class AttachmentDetail(ApiView):
    """One attachment."""

    @extend_schema(
        operation_id="attachments-read",
        summary="Read about a file",
        parameters=[IF_NONE_MATCH, ETAG],
        responses={200: AttachmentSerializer, 304: None, **problem_responses(ProblemType.CHANGED)},
    )
    def get(self, request: Request, attachment_id: uuid.UUID) -> HttpResponseBase:
        """Return the name, type and size of a file, and whether it is in storage."""
        return conditional_response(request, attachment_json(readable_attachment(self.caller, attachment_id)))


class AttachmentContent(ApiView):
    """The bytes of one attachment."""

    @extend_schema(
        operation_id="attachments-content",
        summary="Download a file",
        parameters=[IF_NONE_MATCH, ETAG],
        responses={
            **{(200, media_type): OpenApiTypes.BINARY for media_type in (BINARY, *sorted(RASTER_TYPES), PLAIN)},
            304: None,
            **problem_responses(ProblemType.CHANGED, ProblemType.UNAVAILABLE),
        },
    )
    def get(self, request: Request, attachment_id: uuid.UUID) -> HttpResponseBase:
        """Return the bytes, whether or not they are in storage yet. Only images have their own `Content-Type`."""
        attachment = readable_attachment(self.caller, attachment_id)
        response = build_content_response(request._request, attachment)
        if response.status_code == 503:
            raise unavailable(f"“{attachment.name}” cannot be read just now. Try again soon.")
        if response.status_code == 412:
            raise Problem(ProblemType.CHANGED, "This is not the file that `If-Match` names: a file never changes.")
        return response
