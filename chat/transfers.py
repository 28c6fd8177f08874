"""The doors for whole conversations: downloads that are made while they are sent, and files that are taken in.

A download's bytes are made on the request's own thread, a block at a time, and the next one when the last has been
taken over by the server: neither a slow database nor a slow reader holds up anybody else.
"""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Generator, Iterator
from typing import cast

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from chat.access import NotFound, conversations_of, readable_conversation
from chat.exports.download import Download, in_blocks
from chat.exports.registry import UnknownFormat, export_all, export_conversation
from chat.imports.importing import import_file
from chat.imports.refusal import RefusedImport
from chat.imports.storing import Imported

NO_FILE = "Choose a file first."
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@never_cache
@login_required
@require_GET
def conversation_export(request: HttpRequest, conversation_id: uuid.UUID, format_name: str) -> StreamingHttpResponse:
    """One conversation as a file."""
    conversation = readable_conversation(request.user, conversation_id)
    try:
        return download_response(export_conversation(conversation, format_name, exported_at=timezone.now()))
    except UnknownFormat:
        raise NotFound from None


@never_cache
@login_required
@require_GET
def everything_export(request: HttpRequest) -> StreamingHttpResponse:
    """All conversations of a person, as one archive."""
    return download_response(export_all(conversations_of(request.user), exported_at=timezone.now()))


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def conversation_import(request: HttpRequest) -> HttpResponse:
    """The form, and what is sent with it; a file that is refused is answered with the reason."""
    if request.method != "POST":
        return render(request, "chat/import.html")
    file = request.FILES.get("file")
    if file is None:
        return render(request, "chat/import.html", {"refusal": NO_FILE}, status=400)
    assert request.user.pk is not None
    try:
        imported = import_file(file.read(), owner_id=request.user.pk, name=file.name or "")
    except RefusedImport as refusal:
        return render(request, "chat/import.html", {"refusal": str(refusal)}, status=400)
    if len(imported.created) + len(imported.known) == 1:
        return redirect("conversation", (*imported.created, *imported.known)[0])
    messages.success(request, imported_words(imported))
    return redirect("conversation-import")


def imported_words(imported: Imported) -> str:
    """What became of a file."""
    created, known = len(imported.created), len(imported.known)
    words = f"{created} conversation{'' if created == 1 else 's'} imported."
    if known:
        words += f" {known} {'was' if known == 1 else 'were'} here already."
    return words


def download_response(download: Download) -> StreamingHttpResponse:
    """A download that is sent while it is made; whoever leaves ends it."""
    response = StreamingHttpResponse(_sent(download), content_type=download.content_type, headers=HEADERS)
    response.headers["Content-Disposition"] = content_disposition_header(True, download.name) or "attachment"
    return response


async def _sent(download: Download) -> AsyncIterator[bytes]:
    # Sensitive to the thread: within one request it is the request's own, with its connection to the database.
    following = sync_to_async(_next, thread_sensitive=True)
    blocks = in_blocks(download.chunks)
    try:
        while block := await following(blocks):
            yield block
    finally:
        await sync_to_async(_close, thread_sensitive=True)(download)


def _next(blocks: Iterator[bytes]) -> bytes:
    """The next block; nothing at the end."""
    return next(blocks, b"")


def _close(download: Download) -> None:
    cast("Generator[bytes]", download.chunks).close()


urlpatterns = [
    path("c/<uuid:conversation_id>/export/<slug:format_name>/", conversation_export, name="conversation-export"),
    path("export/", everything_export, name="export"),
    path("import/", conversation_import, name="conversation-import"),
]
