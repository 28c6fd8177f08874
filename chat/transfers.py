"""Views that export conversations as streamed downloads, and import them from files."""

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
from chat.exports.response import download_response
from chat.imports.importer import import_file
from chat.imports.refusal import RefusedImport
from chat.imports.store import ImportResult

NO_FILE = "Choose a file first."


@never_cache
@login_required
@require_GET
def conversation_export(
    request: SignedInRequest, conversation_id: uuid.UUID, format_name: str
) -> StreamingHttpResponse:
    """Return one conversation as a file."""
    conversation = readable_conversation(request.user, conversation_id)
    try:
        return download_response(export_conversation(conversation, format_name, exported_at=timezone.now()))
    except UnknownFormat:
        raise NotFound from None


@never_cache
@login_required
@require_GET
def all_conversations_export(request: SignedInRequest) -> StreamingHttpResponse:
    """Return all conversations of the user as one archive."""
    return download_response(export_all(conversations_of(request.user), exported_at=timezone.now()))


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def conversation_import(request: SignedInRequest) -> HttpResponse:
    """Show the form, or import the file that is sent with it. A refused file is answered with the reason."""
    if request.method != "POST":
        return render(request, "chat/import.html")
    file = request.FILES.get("file")
    if file is None:
        return render(request, "chat/import.html", {"refusal": NO_FILE}, status=400)
    try:
        result = import_file(file.read(), owner_id=request.user.pk, name=file.name or "")
    except RefusedImport as refusal:
        return render(request, "chat/import.html", {"refusal": str(refusal)}, status=400)
    conversation_ids = (*result.created, *result.existing)
    if len(conversation_ids) == 1:
        return redirect("conversation", conversation_ids[0])
    messages.success(request, import_sentence(result))
    return redirect("conversation-import")


def import_sentence(result: ImportResult) -> str:
    """Return how many conversations of a file are new, and how many were imported before."""
    created, existing = len(result.created), len(result.existing)
    sentence = f"{created} conversation{'' if created == 1 else 's'} imported."
    if existing:
        sentence += f" {existing} {'was' if existing == 1 else 'were'} here already."
    return sentence


urlpatterns = [
    path("c/<uuid:conversation_id>/export/<slug:format_name>/", conversation_export, name="conversation-export"),
    path("export/", all_conversations_export, name="export"),
    path("import/", conversation_import, name="conversation-import"),
]
