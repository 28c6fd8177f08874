"""The doors of attachments: upload one, read its bytes.

Bytes go through this server, which checks who asks each time: no address of the bucket ever leaves it, and
nothing is ever served with a type that a browser would run.
"""

from __future__ import annotations

import threading
import uuid
import weakref
from collections import Counter

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils.cache import get_conditional_response
from django.utils.http import content_disposition_header
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_POST, require_safe

from attachments.models import Attachment
from attachments.store import BytesUnavailable, new_upload, read_bytes
from attachments.validation import BINARY, JSON_TYPE, PLAIN, RASTER_TYPES, RefusedUpload, TooLarge, too_large_sentence

#: What a multipart body holds besides the file.
MULTIPART_SLACK_BYTES = 64 * 1024
#: Of one person's files, what is on its way to readers at once in this process: it lies in memory until the slowest of
#: them has taken it. Browsers ask for six files at a time.
HELD_LIMIT_BYTES = 128 * 1024 * 1024

_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
}

_held_bytes: Counter[int] = Counter()
"""Owner -> bytes in responses."""
# Responses may be collected while this thread counts.
_counting = threading.RLock()


@require_safe
@login_required
def content(request: HttpRequest, attachment_id: uuid.UUID) -> HttpResponseBase:
    """The bytes, for who may read them; anybody else sees what an absent id shows."""
    attachment = get_object_or_404(Attachment.objects.readable_by(request.user), pk=attachment_id)
    return content_response(request, attachment)


def content_response(request: HttpRequest, attachment: Attachment) -> HttpResponseBase:
    """The bytes of an attachment that the caller has authorised, 304 if the client has them, 503 if nobody has."""
    etag = f'"{attachment.sha256}"'
    response = get_conditional_response(request, etag=etag)
    if response is None:
        try:
            response = _held(attachment)
        except BytesUnavailable as error:
            headers = {**_HEADERS, "Cache-Control": "no-store", "Retry-After": "10"}
            return HttpResponse(str(error), status=503, content_type="text/plain; charset=utf-8", headers=headers)
    is_inline = attachment.mime_type in RASTER_TYPES
    response.headers["Content-Disposition"] = content_disposition_header(not is_inline, attachment.name) or "inline"
    response.headers["ETag"] = etag
    # A content never changes under its id; private, because the next person at this browser may be another.
    response.headers["Cache-Control"] = "private, max-age=31536000, immutable"
    for name, value in _HEADERS.items():
        response.headers[name] = value
    return response


class _Held(HttpResponse):
    """Bytes that are counted."""

    def __init__(self, attachment: Attachment, data: bytes) -> None:
        super().__init__(data, content_type=_served_type(attachment.mime_type))
        # At the latest when it is collected: a response whose reader leaves early may never be closed.
        self._let_go = weakref.finalize(self, _let_go, attachment.owner_id, attachment.size_bytes)

    def close(self) -> None:
        """The reader has them, or has left."""
        super().close()
        self._let_go()


def _held(attachment: Attachment) -> HttpResponse:
    """A response with the bytes, which are counted until it has been sent. Raises BytesUnavailable."""
    owner_id, size_bytes = attachment.owner_id, attachment.size_bytes
    with _counting:
        if _held_bytes[owner_id] + size_bytes > HELD_LIMIT_BYTES:
            raise BytesUnavailable("Too many files are being read at once. Try again when some of them are there.")
        _held_bytes[owner_id] += size_bytes
    try:
        return _Held(attachment, read_bytes(attachment))
    except BaseException:
        _let_go(owner_id, size_bytes)
        raise


def _let_go(owner_id: int, size_bytes: int) -> None:
    with _counting:
        _held_bytes[owner_id] -= size_bytes
        if not _held_bytes[owner_id]:
            del _held_bytes[owner_id]


# The body is weighed before the CSRF check reads it into temporary files; the check then guards all that follows.
@csrf_exempt
@require_POST
def upload(request: HttpRequest) -> HttpResponseBase:
    """Keep the multipart field `file`: 201 with the attachment's JSON, or 400, 401, 413 with a sentence."""
    length = str(request.META.get("CONTENT_LENGTH") or "")
    # Cut, because a number may be sent that Python refuses to read.
    if length.isdecimal() and int(length[:18]) > settings.UPLOAD_LIMIT_BYTES + MULTIPART_SLACK_BYTES:
        return _refusal(too_large_sentence("The file"), status=413)
    return _upload_of_weighed_body(request)


@csrf_protect
def _upload_of_weighed_body(request: HttpRequest) -> HttpResponseBase:
    user_id = request.user.pk
    if user_id is None:
        return _refusal("Please log in to attach a file.", status=401)
    file = request.FILES.get("file")
    if file is None:
        return _refusal("There is no file in this request.", status=400)
    try:
        attachment = new_upload(owner_id=user_id, name=file.name or "", data=file.read())
    except TooLarge as error:
        return _refusal(str(error), status=413)
    except RefusedUpload as error:
        return _refusal(str(error), status=400)
    return JsonResponse(attachment.as_json(), status=201)


def _refusal(sentence: str, *, status: int) -> JsonResponse:
    return JsonResponse({"detail": sentence}, status=status)


def _served_type(mime_type: str) -> str:
    """Its own type for raster images; for all else one that no browser runs."""
    if mime_type in RASTER_TYPES:
        return mime_type
    is_text = mime_type.startswith("text/") or mime_type == JSON_TYPE
    return f"{PLAIN}; charset=utf-8" if is_text else BINARY
