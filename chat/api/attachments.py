"""Files: upload one, look at it, take its bytes."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http.response import HttpResponseBase
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from attachments.store import new_upload
from attachments.validation import RefusedUpload, TooLarge
from attachments.views import MULTIPART_SLACK_BYTES, content_response
from chat.api.describing import FILE_BODY, BytesRenderer, describe
from chat.api.doors import ApiView
from chat.api.outgoing import AttachmentItem
from chat.api.problems import Problem, invalid, unavailable
from chat.api.reading import attachment_of
from chat.api.shapes import attachment_json
from chat.api.throttles import CallThrottle, WriteThrottle


class Attachments(ApiView):
    """A person's files."""

    parser_classes = (MultiPartParser,)
    throttle_classes = (CallThrottle, WriteThrottle)
    body_limit_bytes = settings.UPLOAD_LIMIT_BYTES + MULTIPART_SLACK_BYTES

    @describe(
        "attachments-create",
        "Upload a file",
        "One file, as the field `file` of a form. Images are drawn anew, which takes metadata off them.",
        body=FILE_BODY,
        answers={201: AttachmentItem},
        problems=(400, 413, 415, 422),
    )
    def post(self, request: Request) -> Response:
        """Upload."""
        file = form_file(request)
        try:
            attachment = new_upload(owner_id=self.caller.pk, name=file.name or "", data=file.read())
        except TooLarge as error:
            raise Problem("too-large", str(error)) from None
        except RefusedUpload as error:
            raise invalid("refused", file=str(error)) from None
        said = attachment_json(attachment)
        return Response(said, status=201, headers={"Location": f"{request.path}{attachment.pk}/"})


class OneAttachment(ApiView):
    """One file."""

    @describe(
        "attachments-read",
        "Read about a file",
        "Its name, type and size, and how far it is on its way into storage.",
        answers={200: AttachmentItem},
        problems=(404,),
        has_etag=True,
    )
    def get(self, request: Request, attachment_id: uuid.UUID) -> HttpResponseBase:
        """Read."""
        return self.tagged(attachment_json(attachment_of(self.caller, attachment_id)))


class AttachmentContent(ApiView):
    """Its bytes."""

    renderer_classes = (BytesRenderer,)

    @describe(
        "attachments-content",
        "Take a file's bytes",
        "From the moment it is there, in storage or not. Only images come under their own type.",
        answers={200: None},
        problems=(404, 503),
        has_etag=True,
    )
    def get(self, request: Request, attachment_id: uuid.UUID) -> HttpResponseBase:
        """Take."""
        attachment = attachment_of(self.caller, attachment_id)
        response = content_response(request._request, attachment)
        if response.status_code == 503:
            raise unavailable(f"“{attachment.name}” cannot be read just now. Try again soon.")
        if response.status_code == 412:
            raise Problem("changed", "It is not what `If-Match` names, and never was: a file does not change.")
        return response


def form_file(request: Request) -> UploadedFile[bytes]:
    """The field `file` of a form that has no other. Raises Problem."""
    unknown = [str(name)[:60] for name in request.data if name != "file"]
    if unknown:
        raise Problem(
            "invalid",
            "There are fields in this form that this call does not take.",
            errors={name: [f"There is no field “{name}” here; known: file."] for name in unknown[:10]},
        )
    file: UploadedFile[bytes] | None = request.FILES.get("file")
    if file is None:
        raise invalid(file="There is no file in this request: send it as the field file of a form.")
    return file
