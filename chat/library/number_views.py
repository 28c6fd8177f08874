"""The view of the line below an answer that says where its numbers come from."""

from __future__ import annotations

import uuid

from asgiref.sync import async_to_sync
from django.contrib.auth.decorators import login_required
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpResponse
from django.urls import path
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from chat.messages.background_ledgers import begin
from chat.messages.number_ledgers import find_ledger, has_results
from chat.page.number_list import has_just_ended, numbers_html
from chat.people.access import NotFound, SignedInRequest, writable_message
from chat.vocabulary.parts import Role


@never_cache
@login_required
@require_safe
def message_numbers(request: SignedInRequest, message_id: uuid.UUID) -> HttpResponse:
    """Render the numbers of an answer with their sources: 202 while they are traced, 204 if they are not.

    With the parameter `begin`, which is sent after a click, earlier and imported answers are traced now.
    """
    message = writable_message(request.user, message_id)
    if message.role != Role.MODEL:
        raise NotFound
    is_asked = "begin" in request.GET
    if ledger := find_ledger(message.pk):
        return HttpResponse(numbers_html(message.text, ledger.numbers, ledger.unread_files, is_asked=is_asked))
    # The task belongs to the server's event loop, which exists only under ASGI.
    if isinstance(request, ASGIRequest) and (is_asked or (has_just_ended(message.turn) and has_results(message.pk))):
        async_to_sync(begin)(message.pk)
        return HttpResponse(status=202)
    return HttpResponse(status=204)


urlpatterns = [path("messages/<uuid:message_id>/numbers/", message_numbers, name="message-numbers")]
