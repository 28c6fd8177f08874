"""Views of large files to import: upload in pieces, and the page with the progress and the result.

The upload is the core of the protocol tus 1.0 with its extensions `creation` and `termination` (tus.io/protocols). The
URL of an upload is that of its page, so that a client of the protocol and a person go to the same place.
"""

from __future__ import annotations

import base64
import binascii
import uuid
from http import HTTPStatus

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from attachments.storage import StorageError
from chat.library.imports.refusal import RefusedImport
from chat.library.imports.uploads import PIECE_LIMIT_BYTES, WrongOffset, append_piece, begin_upload, cancel
from chat.models import Conversation, ImportJob
from chat.people.access import SignedInRequest, own_import
from chat.people.login_redirects import login_required_post
from chat.people.quotas.pages import limited
from chat.people.quotas.throttles import CallThrottle, WriteThrottle
from chat.vocabulary.sentences import translate_sentence

VERSION = "1.0.0"
PIECE_TYPE = "application/offset+octet-stream"
SHOWN_LIMIT = 200
"""Maximum number of conversations that the page of a result lists."""
STORAGE_AWAY = "The file storage does not answer just now. What has been uploaded stays; try again in a moment."
RETRY_AFTER_S = 5


@never_cache
@login_required
@require_http_methods(["POST"])
@limited(CallThrottle, WriteThrottle, methods=["POST"])
def import_uploads(request: SignedInRequest) -> HttpResponseBase:
    """Begin an upload. `Location` is its URL. For the `fingerprint` of an unfinished upload, return that one's URL."""
    if (wrong := _wrong_version(request)) is not None:
        return wrong
    size_bytes = _read_number(request, "Upload-Length")
    if size_bytes is None:
        return _answer(HTTPStatus.BAD_REQUEST, "The length of the file is missing.")
    metadata = _read_metadata(request.headers.get("Upload-Metadata", ""))
    try:
        job = begin_upload(
            request.user.pk,
            name=metadata.get("filename", ""),
            size_bytes=size_bytes,
            fingerprint=metadata.get("fingerprint", "")[:255],
        )
    except RefusedImport as error:
        is_too_large = size_bytes > settings.IMPORT_LIMIT_BYTES
        return _answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE if is_too_large else HTTPStatus.BAD_REQUEST, str(error))
    response = _answer(HTTPStatus.CREATED, offset=job.received_bytes)
    response.headers["Location"] = job.get_absolute_url()
    return response


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "PATCH", "DELETE"])
@limited(CallThrottle, methods=["HEAD", "PATCH", "DELETE"])
def import_job(request: SignedInRequest, job_id: uuid.UUID) -> HttpResponseBase:
    """Show the progress or the result of an import. Clients of the protocol query, extend or end the upload."""
    job = own_import(request.user, job_id)
    if request.method == "GET" or (request.method == "HEAD" and "Tus-Resumable" not in request.headers):
        return _page(request, job)
    if (wrong := _wrong_version(request)) is not None:
        return wrong
    if request.method == "PATCH":
        return _append(request, job)
    if request.method == "DELETE":
        cancel(job)
        return _answer(HTTPStatus.NO_CONTENT)
    response = _answer(HTTPStatus.OK, offset=job.received_bytes)
    response.headers["Upload-Length"] = str(job.size_bytes)
    return response


@never_cache
@login_required_post
def import_cancel(request: SignedInRequest, job_id: uuid.UUID) -> HttpResponse:
    """End an upload or an import, and redirect to the list of imports."""
    cancel(own_import(request.user, job_id))
    return redirect("conversation-import")


def _append(request: SignedInRequest, job: ImportJob) -> HttpResponse:
    """Store a piece. The body is read only if the piece can be the next one."""
    offset = _read_number(request, "Upload-Offset")
    if request.content_type != PIECE_TYPE:
        return _answer(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"A piece has the type {PIECE_TYPE}.")
    if offset is None:
        return _answer(HTTPStatus.BAD_REQUEST, "The offset of the piece is missing.")
    data = request.read(PIECE_LIMIT_BYTES + 1) if offset == job.received_bytes else b""
    if len(data) > PIECE_LIMIT_BYTES:
        sentence = f"A piece has at most {PIECE_LIMIT_BYTES // 1024**2} MB."
        return _answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, sentence)
    try:
        return _answer(HTTPStatus.NO_CONTENT, offset=append_piece(job, offset, data))
    except WrongOffset:
        job = own_import(request.user, job.pk)
        return _answer(HTTPStatus.CONFLICT, "This piece is not the next one.", offset=job.received_bytes)
    except RefusedImport as error:
        return _answer(HTTPStatus.BAD_REQUEST, str(error))
    except StorageError:
        response = _answer(HTTPStatus.SERVICE_UNAVAILABLE, STORAGE_AWAY)
        response.headers["Retry-After"] = str(RETRY_AFTER_S)
        return response


def _page(request: SignedInRequest, job: ImportJob) -> HttpResponse:
    rows = Conversation.objects.owned_by(request.user.pk).filter(imported__job=job).order_by("imported__pk")
    conversations = list(rows[: SHOWN_LIMIT + 1])
    context = {
        "job": job,
        "conversations": conversations[:SHOWN_LIMIT],
        "has_more": len(conversations) > SHOWN_LIMIT,
        "unnamed": job.left_out - len(job.reasons),
    }
    return render(request, "chat/import_job.html", context)


def _wrong_version(request: SignedInRequest) -> HttpResponse | None:
    """Return the response to a client that uses another version of the protocol, or names no version; else `None`."""
    if request.headers.get("Tus-Resumable") == VERSION:
        return None
    response = _answer(HTTPStatus.PRECONDITION_FAILED, f"Uploads need the protocol tus {VERSION}.")
    response.headers["Tus-Version"] = VERSION
    return response


def _answer(status: HTTPStatus, sentence: str = "", *, offset: int | None = None) -> HttpResponse:
    response = (
        JsonResponse({"detail": translate_sentence(sentence)}, status=status)
        if sentence
        else HttpResponse(status=status)
    )
    response.headers["Tus-Resumable"] = VERSION
    if offset is not None:
        response.headers["Upload-Offset"] = str(offset)
    return response


def _read_number(request: SignedInRequest, name: str) -> int | None:
    """Return a header that is a whole number with at most 18 digits; `None` if it is not."""
    text = request.headers.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 18 else None


def _read_metadata(header: str) -> dict[str, str]:
    """Return the values of `Upload-Metadata`, which are base64. A value that cannot be read is left out."""
    values: dict[str, str] = {}
    for pair in header[:4096].split(",")[:10]:
        name, _, encoded = pair.strip().partition(" ")
        try:
            values[name] = base64.b64decode(encoded, validate=True).decode().replace("\0", "")
        except (binascii.Error, ValueError):
            continue
    return values


urlpatterns = [
    path("import/uploads/", import_uploads, name="import-uploads"),
    path("import/<uuid:job_id>/", import_job, name="import-job"),
    path("import/<uuid:job_id>/cancel/", import_cancel, name="import-cancel"),
]
