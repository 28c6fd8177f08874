"""The views of table previews. A file is parsed in the sandbox, never in this process."""

from __future__ import annotations

import uuid

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpResponse
from django.urls import path
from django.views.decorators.cache import never_cache

from attachments.models import Attachment
from chat.people.access import SignedInRequest, readable_attachment
from chat.people.login_redirects import login_required_post
from chat.python.kernels.table_reading import TableReading
from chat.python.table_readings.choices import KEYS, InvalidChoice
from chat.python.table_readings.controls import choices_from_form
from chat.python.table_readings.live_readings import TooManyPreviews
from chat.python.table_readings.reading_requests import (
    NotATable,
    ReadingUnavailable,
    choose_reading,
    find_or_read_table,
)
from chat.python.table_readings.stored_readings import find_reading, load_choices
from chat.python.table_readings.table_files import can_hold_table
from chat.python.table_readings.view import ReadingState, preview_html
from chat.vocabulary.sentences import translate_sentence

TOO_MANY = "Too many previews at once. Try again in a minute."
UNREAD = "it is not read yet."
STILL_READING = "This file is still being read. Open its preview again in a minute."


@never_cache
@login_required_post
def attachment_preview(request: SignedInRequest, attachment_id: uuid.UUID) -> HttpResponse:
    """Render the preview of an attached table; 204 if the file is no table, or no kernel runs.

    The method is POST, because the first request describes the file and stores the result.
    """
    attachment = readable_attachment(request.user, attachment_id)
    # Connections to kernels belong to the server's event loop, which exists only under ASGI.
    if not isinstance(request, ASGIRequest):
        return HttpResponse(status=204)
    try:
        reading = find_or_read_table(attachment)
    except TooManyPreviews:
        headers = {"Content-Type": "text/plain; charset=utf-8", "Retry-After": "60"}
        return HttpResponse(translate_sentence(TOO_MANY), status=429, headers=headers)
    return _render(attachment, reading) if reading else HttpResponse(status=204)


@never_cache
@login_required_post
def attachment_reading(request: SignedInRequest, attachment_id: uuid.UUID) -> HttpResponse:
    """Read a table as its owner chooses; render its preview. If that fails, render the former table with status 400."""
    attachment = readable_attachment(request.user, attachment_id)
    if not isinstance(request, ASGIRequest) or not can_hold_table(attachment):
        return HttpResponse(status=204)
    error, reading = "", None
    try:
        reading = choose_reading(attachment, _changes(request))
        error = "" if reading else STILL_READING
    except TooManyPreviews:
        error = TOO_MANY
    except (InvalidChoice, ReadingUnavailable) as refusal:
        error = str(refusal)
    except NotATable:
        return HttpResponse(status=204)
    if reading is None:
        reading = find_reading(attachment.pk) or TableReading(error=UNREAD)
    return _render(attachment, reading, error=error, is_open=True)


def _changes(request: ASGIRequest) -> dict[str, object]:
    """Return all choices of the form. Raises InvalidChoice if one is invalid."""
    choices = choices_from_form(request.POST.dict())
    return {key: choices.get(key) for key in KEYS}


def _render(attachment: Attachment, reading: TableReading, *, error: str = "", is_open: bool = False) -> HttpResponse:
    state = ReadingState(load_choices(attachment.pk).choices, error, is_open)
    return HttpResponse(preview_html(attachment, reading, state), status=400 if error else 200)


urlpatterns = [
    path("attachments/<uuid:attachment_id>/preview/", attachment_preview, name="attachment-preview"),
    path("attachments/<uuid:attachment_id>/reading/", attachment_reading, name="attachment-reading"),
]
