"""Views that start conversations, and that keep temporary ones."""

from __future__ import annotations

import uuid

from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import path

from chat.library.new_conversations import create_temporary_conversation, open_new_conversation
from chat.models import temporary_conversations
from chat.people.access import NotFound, SignedInRequest, writable_conversation
from chat.people.login_redirects import login_required_post
from chat.people.quotas.pages import limited_as_calls


@login_required_post
@limited_as_calls
def conversation_new(request: SignedInRequest) -> HttpResponse:
    """Redirect to an empty conversation."""
    return redirect(open_new_conversation(request.user))


@login_required_post
@limited_as_calls
def temporary_new(request: SignedInRequest) -> HttpResponse:
    """Redirect to a new temporary conversation."""
    return redirect(create_temporary_conversation(request.user))


@login_required_post
def conversation_keep(request: SignedInRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Make a temporary conversation a normal one."""
    conversation = writable_conversation(request.user, conversation_id)
    if not temporary_conversations.keep(conversation):
        raise NotFound
    return redirect(conversation)


urlpatterns = [
    path("c/new/", conversation_new, name="conversation-new"),
    path("c/new/temporary/", temporary_new, name="temporary-new"),
    path("c/<uuid:conversation_id>/keep/", conversation_keep, name="conversation-keep"),
]
