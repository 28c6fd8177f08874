"""Views that export conversations as streamed downloads, and import conversations from files."""

from __future__ import annotations

import uuid
from pathlib import Path
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from attachments.content_disposition import content_disposition
from chat.library.exports import verify_evidence
from chat.library.exports.evidence_key import fingerprint
from chat.library.exports.export_format import RefusedExport
from chat.library.exports.export_lease import ExportUnderWay, check_export, claim_export
from chat.library.exports.registry import UnknownFormat, UnknownMessage, export_all, export_conversation
from chat.library.exports.response import download_response
from chat.library.imports.importer import import_file
from chat.library.imports.refusal import RefusedImport
from chat.library.imports.store import ImportResult
from chat.messages.records import Deleted
from chat.models import ImportedConversation
from chat.page.queued_views import ended_with_client
from chat.people.access import NotFound, SignedInRequest, conversations_of, imports_of, readable_conversation
from chat.people.quotas.pages import limited, limited_as_calls, refusal
from chat.people.quotas.resources import QuotaExceeded
from chat.people.quotas.throttles import CallThrottle, WriteThrottle
from chat.vocabulary.sentences import translate_sentence

NO_FILE = "Choose a file first."
SHOWN_JOBS = 20
"""Maximum number of imports of large files that the form lists."""


@ended_with_client
@never_cache
@login_required
@require_safe
@limited_as_calls
def conversation_export(request: SignedInRequest, conversation_id: uuid.UUID, format_name: str) -> HttpResponseBase:
    """Return one conversation as a file, or with `?message=` one message of it."""
    conversation = readable_conversation(request.user, conversation_id)
    try:
        download = export_conversation(
            conversation, format_name, exported_at=timezone.now(), message_id=request.GET.get("message")
        )
    except (UnknownFormat, UnknownMessage, Deleted):
        raise NotFound from None
    except RefusedExport as error:
        return refusal(request, str(error), status=error.status)
    return HttpResponse() if request.method == "HEAD" else download_response(download, request.user.pk)


@never_cache
@login_required
@require_safe
@limited_as_calls
def all_conversations_export(request: SignedInRequest) -> HttpResponseBase:
    """Return all conversations of the user as one archive, unless another such export is under way."""
    try:
        if request.method == "HEAD":
            check_export(request.user.pk)
            return HttpResponse()
        claim = claim_export(request.user.pk)
    except ExportUnderWay as error:
        return refusal(request, str(error), status=409, retry_after_s=error.retry_after_s)
    download = export_all(conversations_of(request.user), exported_at=timezone.now())
    return download_response(download, request.user.pk, claim)


@require_safe
def evidence(request: HttpRequest) -> HttpResponse:
    """Show how an evidence pack is checked, and the fingerprint of this server's key. Anybody may read it."""
    return render(request, "chat/evidence.html", {"fingerprint": fingerprint()})


@require_safe
def evidence_program(request: HttpRequest) -> HttpResponse:
    """Return the program that checks evidence packs."""
    headers = {"Content-Disposition": content_disposition("verify_evidence.py")}
    return HttpResponse(Path(verify_evidence.__file__).read_bytes(), content_type="text/x-python", headers=headers)


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@limited(CallThrottle, WriteThrottle, methods=["POST"])
def conversation_import(request: SignedInRequest) -> HttpResponse:
    """Show the form, or import the file that is sent with it. For a refused file, show the reason.

    A script that does not accept HTML gets JSON: `url` of the page with the result, or the reason as `detail`.
    """
    if request.method != "POST":
        return _form(request)
    response = _import(request)
    if isinstance(response, HttpResponseRedirect) and not request.accepts("text/html"):
        return JsonResponse({"url": response.url})
    return response


def _import(request: SignedInRequest) -> HttpResponse:
    file = request.FILES.get("file")
    if file is None:
        return _form(request, NO_FILE, status=400)
    try:
        result = import_file(file.read(), owner_id=request.user.pk, name=file.name or "")
    except RefusedImport as error:
        return _form(request, str(error), status=400)
    except QuotaExceeded as error:
        response = _form(request, str(error), status=error.status)
        if error.retry_after_s is not None:
            response.headers["Retry-After"] = str(error.retry_after_s)
        return response
    conversation_ids = (*result.created, *result.existing)
    if len(conversation_ids) == 1:
        return redirect("conversation", conversation_ids[0])
    messages.success(request, import_sentence(result))
    first = ImportedConversation.objects.filter(conversation__in=result.created[:1]).first()
    if first is None:
        return redirect("conversation-import")
    # The rows of an import are numbered in the order in which its conversations were stored.
    return redirect(f"{reverse('conversations')}?{urlencode({'imported': first.pk})}")


def _form(request: SignedInRequest, sentence: str = "", *, status: int = 200) -> HttpResponse:
    """Return the form, with the reason if the file was refused. Scripts get the reason as JSON."""
    if sentence and not request.accepts("text/html"):
        return JsonResponse({"detail": translate_sentence(sentence)}, status=status)
    limits = {"limit": settings.IMPORT_LIMIT_BYTES, "whole_limit": settings.UPLOAD_LIMIT_BYTES}
    context = {
        "refusal": sentence,
        "jobs": imports_of(request.user)[:SHOWN_JOBS],
        **{f"{name}_bytes": limit for name, limit in limits.items()},
        **{f"{name}_mb": limit // 1024**2 for name, limit in limits.items()},
    }
    return render(request, "chat/import.html", context, status=status)


def import_sentence(result: ImportResult) -> str:
    """Return a sentence with the numbers of conversations that are new, are here already, and were continued."""
    created, existing = len(result.created), len(result.existing)
    sentence = f"{created} conversation{'' if created == 1 else 's'} imported."
    if existing:
        sentence += f" {existing} {'was' if existing == 1 else 'were'} here already."
    if continued := len(result.continued):
        sentence += f" {continued} {'was' if continued == 1 else 'were'} continued."
    return sentence


urlpatterns = [
    path("c/<uuid:conversation_id>/export/<slug:format_name>/", conversation_export, name="conversation-export"),
    path("export/", all_conversations_export, name="export"),
    path("evidence/", evidence, name="evidence"),
    path("evidence/verify_evidence.py", evidence_program, name="evidence-program"),
    path("import/", conversation_import, name="conversation-import"),
]
