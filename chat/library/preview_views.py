"""The view of table previews. A file is parsed in the sandbox, never here."""

from __future__ import annotations

import uuid

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpResponse
from django.urls import path
from django.views.decorators.cache import never_cache

from chat.people.access import SignedInRequest, readable_attachment
from chat.people.login_redirects import login_required_post
from chat.python.table_readings.kernel_reading import TooManyPreviews
from chat.python.table_readings.live_readings import find_or_read_table
from chat.python.table_readings.view import preview_html
from chat.vocabulary.sentences import translate_sentence

TOO_MANY = "Too many previews at once. Try again in a minute."


@never_cache
@login_required_post
def attachment_preview(request: SignedInRequest, attachment_id: uuid.UUID) -> HttpResponse:
    """Render the preview of an attached table: 204 if there is none, because the file is no table or no kernel runs.

    The method is POST, because the first request describes the file and stores the result.
    """
    attachment = readable_attachment(request.user, attachment_id)
    # Connections to kernels belong to the server's event loop, which exists only under ASGI.
    if not isinstance(request, ASGIRequest):
        return HttpResponse(status=204)
    try:
        preview = find_or_read_table(attachment)
    except TooManyPreviews:
        headers = {"Content-Type": "text/plain; charset=utf-8", "Retry-After": "60"}
        return HttpResponse(translate_sentence(TOO_MANY), status=429, headers=headers)
    return HttpResponse(preview_html(attachment.name, preview)) if preview else HttpResponse(status=204)


urlpatterns = [
    path("attachments/<uuid:attachment_id>/preview/", attachment_preview, name="attachment-preview"),
]
