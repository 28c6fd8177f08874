"""The views of attachments: one for the upload of a file, one for its content.

Every download goes through this server, which checks the permission on each request. No URL of the bucket is ever sent
to a client, and no file is served with a Content-Type that a browser would execute.
"""

from __future__ import annotations

import threading
import uuid
import weakref
from collections import Counter
from collections.abc import Hashable

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils.cache import get_conditional_response
from django.utils.module_loading import import_string
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_POST, require_safe

from attachments.content_disposition import content_disposition
from attachments.models import Attachment
from attachments.store import BytesUnavailable, create_upload, read_bytes_unconnected
from attachments.validation import (
    BINARY,
    JSON_TYPE,
    PLAIN,
    RASTER_TYPES,
    RefusedUpload,
    build_too_large_message,
)

#: Bytes that a multipart body may have in addition to the file: boundaries and part headers.
MULTIPART_OVERHEAD_BYTES = 64 * 1024
#: Limit for one owner's files in responses that this process has not finished sending. The bytes stay in memory until
#: the slowest client has received them. Browsers request up to six files at a time. Readers who are not the owner have
#: a limit of their own, so that they cannot use up the owner's.
IN_FLIGHT_LIMIT_BYTES = 128 * 1024 * 1024

_SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
}

_in_flight_bytes: Counter[Hashable] = Counter()
"""Bytes in unfinished responses, by `counted_for`: the id of the files' owner, or the key of another group of readers.
"""
# Reentrant, because the garbage collector may finalize a response while its own thread holds the lock.
_in_flight_lock = threading.RLock()


@require_safe
@login_required
def content(request: HttpRequest, attachment_id: uuid.UUID) -> HttpResponseBase:
    """Return the bytes to a user who may read them. Other users get the same 404 as for an id that does not exist."""
    attachment = get_object_or_404(Attachment.objects.readable_by(request.user), pk=attachment_id)
    return build_content_response(request, attachment)


def build_content_response(
    request: HttpRequest, attachment: Attachment, *, counted_for: Hashable | None = None
) -> HttpResponseBase:
    """Return a response with the attachment's bytes. The caller has checked that the user may read them.

    The status is 304 if the client has the bytes already, and 503 if they cannot be read now. `counted_for`: whose
    limit of bytes in flight applies; by default the owner's.
    """
    etag = f'"{attachment.sha256}"'
    response = get_conditional_response(request, etag=etag)
    if response is None:
        try:
            response = _build_counted_response(attachment, attachment.owner_id if counted_for is None else counted_for)
        except BytesUnavailable as error:
            headers = {**_SECURITY_HEADERS, "Cache-Control": "no-store", "Retry-After": "10"}
            return HttpResponse(str(error), status=503, content_type="text/plain; charset=utf-8", headers=headers)
    is_inline = attachment.mime_type in RASTER_TYPES
    response.headers["Content-Disposition"] = content_disposition(attachment.name, is_attachment=not is_inline)
    response.headers["ETag"] = etag
    # The content of an id never changes. `private`, because caches shared by several users must not store it.
    response.headers["Cache-Control"] = "private, max-age=31536000, immutable"
    for name, value in _SECURITY_HEADERS.items():
        response.headers[name] = value
    return response


class _CountedResponse(HttpResponse):
    """A response whose bytes count as in flight until it is closed."""

    def __init__(self, attachment: Attachment, data: bytes, counted_for: Hashable) -> None:
        super().__init__(data, content_type=_choose_content_type(attachment.mime_type))
        # A response whose client disconnects early may never be closed; then the finalizer releases its bytes.
        self._release = weakref.finalize(self, _release_in_flight, counted_for, attachment.size_bytes)

    def close(self) -> None:
        """Release the bytes: the client has received them or has disconnected."""
        super().close()
        self._release()


def _build_counted_response(attachment: Attachment, counted_for: Hashable) -> HttpResponse:
    """Return a response with the file's bytes; count them as in flight. Raise BytesUnavailable if this fails."""
    size_bytes = attachment.size_bytes
    with _in_flight_lock:
        if _in_flight_bytes[counted_for] + size_bytes > IN_FLIGHT_LIMIT_BYTES:
            raise BytesUnavailable("Too many files are being read at once. Try again when some of them are there.")
        _in_flight_bytes[counted_for] += size_bytes
    try:
        return _CountedResponse(attachment, read_bytes_unconnected(attachment), counted_for)
    except BaseException:
        _release_in_flight(counted_for, size_bytes)
        raise


def _release_in_flight(counted_for: Hashable, size_bytes: int) -> None:
    with _in_flight_lock:
        _in_flight_bytes[counted_for] -= size_bytes
        if not _in_flight_bytes[counted_for]:
            del _in_flight_bytes[counted_for]


# Exempt, because the CSRF check reads the whole body into temporary files. This view checks the length first, and the
# function that it calls has the CSRF check.
@csrf_exempt
@require_POST
def upload(request: HttpRequest) -> HttpResponseBase:
    """Store the multipart field `file`.

    The response is 201 with the attachment's JSON, or has a `detail` message: 400, 401 or 413, and 403 or 429 if a
    quota does not allow the file.
    """
    length = str(request.META.get("CONTENT_LENGTH") or "")
    # Only the first 18 digits are parsed, because Python refuses to convert a number of thousands of digits.
    if length.isdecimal() and int(length[:18]) > settings.UPLOAD_LIMIT_BYTES + MULTIPART_OVERHEAD_BYTES:
        return _build_error_response(build_too_large_message(), status=413)
    return _store_uploaded_file(request)


@csrf_protect
def _store_uploaded_file(request: HttpRequest) -> HttpResponseBase:
    user_id = request.user.pk
    if user_id is None:
        return _build_error_response("Please log in to attach a file.", status=401)
    file = request.FILES.get("file")
    if file is None:
        return _build_error_response("There is no file in this request.", status=400)
    try:
        attachment = create_upload(owner_id=user_id, name=file.name or "", data=file.read())
    except RefusedUpload as error:
        response = _build_error_response(str(error), status=error.status)
        if error.retry_after_s is not None:
            response.headers["Retry-After"] = str(error.retry_after_s)
        return response
    report_upload(request, attachment)
    return JsonResponse(attachment.as_json(), status=201)


def report_upload(request: HttpRequest, attachment: Attachment) -> None:
    """Call the listener in settings.UPLOAD_LISTENER with a file that a person has uploaded.

    Without an ASGI server nothing is called, because the listener works on the server's event loop.
    """
    if isinstance(request, ASGIRequest):
        import_string(settings.UPLOAD_LISTENER)(attachment)


def _build_error_response(message: str, *, status: int) -> JsonResponse:
    translate = import_string(settings.SENTENCE_TRANSLATION)
    return JsonResponse({"detail": translate(message)}, status=status)


def _choose_content_type(mime_type: str) -> str:
    """Return the Content-Type for downloads.

    Raster images have their own type. Every other file is plain text or `application/octet-stream`, which no browser
    executes.
    """
    if mime_type in RASTER_TYPES:
        return mime_type
    is_text = mime_type.startswith("text/") or mime_type == JSON_TYPE
    return f"{PLAIN}; charset=utf-8" if is_text else BINARY
