"""Views that run the code of a conversation on a newer file, and show what changed."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from attachments.models import Attachment
from attachments.store import create_upload
from attachments.validation import RefusedUpload
from chat.models import Message, NewerFileRun
from chat.models.plain_sql import database_time
from chat.people.access import (
    NotFound,
    SignedInRequest,
    newer_file_run_of,
    readable_attachment,
    writable_conversation,
)
from chat.people.quotas.pages import limited
from chat.people.quotas.resources import QuotaExceeded
from chat.people.quotas.throttles import CallThrottle, WriteThrottle
from chat.python.newer_files.results import results_of
from chat.python.newer_files.rows import NewerFileRefused
from chat.python.newer_files.start import TableDiffers, find_replaceable, start_run

NO_FILE = "Choose a file first."
WRONG_SERVER = "Code cannot run again on this server. Tell its operator."


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@limited(CallThrottle, WriteThrottle, methods=["POST"])
def newer_file(request: SignedInRequest, conversation_id: uuid.UUID, attachment_id: uuid.UUID) -> HttpResponse:
    """Show the form for a newer file in place of an attached table, with earlier runs, or start a run.

    POST takes `file`, or as `newer` the id of an uploaded file, to run on it although its table differs.
    """
    conversation = writable_conversation(request.user, conversation_id)
    former = find_replaceable(conversation, attachment_id)
    if former is None:
        raise NotFound
    runs = NewerFileRun.objects.filter(conversation=conversation, replaced=attachment_id).select_related("newer")
    context: dict[str, object] = {
        "conversation": conversation,
        "former": former.attachment,
        "runs": runs,
        "limit_mb": settings.UPLOAD_LIMIT_BYTES // 1024**2,
    }
    if request.method != "POST":
        return render(request, "chat/newer_file.html", context)
    try:
        if not isinstance(request, ASGIRequest):
            raise NewerFileRefused(WRONG_SERVER)
        newer = _newer_file(request)
        context["newer"] = newer
        return redirect(start_run(conversation, former.attachment, newer, anyway="newer" in request.POST))
    except QuotaExceeded:
        raise
    except (NewerFileRefused, RefusedUpload) as refusal:
        context["refusal"] = str(refusal)
    except TableDiffers as differs:
        context["differences"] = differs.sentences
    return render(request, "chat/newer_file.html", context, status=400)


def _newer_file(request: SignedInRequest) -> Attachment:
    """Return the file of the form, or the one that was uploaded before.

    Raises NewerFileRefused if there is none, RefusedUpload if it is invalid, and NotFound for an unknown id.
    """
    if "newer" in request.POST:
        try:
            return readable_attachment(request.user, uuid.UUID(request.POST["newer"]))
        except ValueError:
            raise NotFound from None
    file = request.FILES.get("file")
    if file is None:
        raise NewerFileRefused(NO_FILE)
    return create_upload(owner_id=request.user.pk, name=file.name or "", data=file.read())


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@limited(CallThrottle, WriteThrottle, methods=["POST"])
def newer_file_run(request: SignedInRequest, run_id: uuid.UUID) -> HttpResponse:
    """Show what changed in a run on a newer file. POST deletes the list, and stops the code if it still runs."""
    run = newer_file_run_of(request.user, run_id)
    if request.method == "POST":
        run.delete()
        return redirect("newer-file", run.conversation_id, run.replaced_id)
    indexes = Message.objects.filter(pk__in={one["message_id"] for one in [*run.blocks, *run.numbers]})
    places = {str(pk): index + 1 for pk, index in indexes.values_list("pk", "index")}
    context = {
        "run": run,
        "results": results_of(run, database_time()),
        "blocks": [{**one, "place": places.get(one["message_id"])} for one in run.blocks],
        "numbers": [{**one, "place": places.get(one["message_id"])} for one in run.numbers],
    }
    return render(request, "chat/newer_file_run.html", context)


urlpatterns = [
    path(
        "c/<uuid:conversation_id>/newer-file/<uuid:attachment_id>/",
        newer_file,
        name="newer-file",
    ),
    path("newer-files/<uuid:run_id>/", newer_file_run, name="newer-file-run"),
]
