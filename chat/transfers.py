"""The doors for whole conversations: downloads that are made while they are sent, and files that are taken in."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from chat.access import NotFound, SignedInRequest, conversations_of, readable_conversation
from chat.exports.registry import UnknownFormat, export_all, export_conversation
from chat.exports.sending import download_response
from chat.imports.importing import import_file
from chat.imports.refusal import RefusedImport
from chat.imports.storing import Imported

NO_FILE = "Choose a file first."


@never_cache
@login_required
@require_GET
def conversation_export(
    request: SignedInRequest, conversation_id: uuid.UUID, format_name: str
) -> StreamingHttpResponse:
    """One conversation as a file."""
    conversation = readable_conversation(request.user, conversation_id)
    try:
        return download_response(export_conversation(conversation, format_name, exported_at=timezone.now()))
    except UnknownFormat:
        raise NotFound from None


@never_cache
@login_required
@require_GET
def everything_export(request: SignedInRequest) -> StreamingHttpResponse:
    """All conversations of a person, as one archive."""
    return download_response(export_all(conversations_of(request.user), exported_at=timezone.now()))


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def conversation_import(request: SignedInRequest) -> HttpResponse:
    """The form, and what is sent with it; a file that is refused is answered with the reason."""
    if request.method != "POST":
        return render(request, "chat/import.html")
    file = request.FILES.get("file")
    if file is None:
        return render(request, "chat/import.html", {"refusal": NO_FILE}, status=400)
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


urlpatterns = [
    path("c/<uuid:conversation_id>/export/<slug:format_name>/", conversation_export, name="conversation-export"),
    path("export/", everything_export, name="export"),
    path("import/", conversation_import, name="conversation-import"),
]
