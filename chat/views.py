"""Pages: parse with a form, authorise with `access`, make one domain call, answer.

What is not theirs is a 404 (`access.NotFound`). A page that changes something takes POST only and redirects.
"""

from __future__ import annotations

import uuid

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from chat.access import NotFound, conversations_of, readable_conversation, writable_conversation
from chat.forms import ConversationSettingsForm, RenameForm, SentencesForm
from chat.models import Conversation
from chat.turns.transcript import snapshot


class SignedInRequest(HttpRequest):
    """A request behind `login_required`."""

    user: User


@never_cache
@login_required
@require_safe
def home(request: SignedInRequest) -> HttpResponse:
    """Go to the newest conversation; whoever has none gets an empty one."""
    newest = conversations_of(request.user).newest_first().first()
    return redirect(newest or Conversation.objects.open_new(request.user.pk))


@never_cache
@login_required
@require_safe
def conversation(request: SignedInRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Show a conversation with its transcript, and the others beside it."""
    shown = readable_conversation(request.user, conversation_id)
    # Messages and the revision that the page names are read together: what comes later, its socket brings.
    try:
        page = snapshot(shown.pk)
    except Conversation.DoesNotExist:  # deleted in another tab just now
        raise NotFound from None
    context = {
        "conversation": shown,
        "messages": page.messages,
        "conversations": conversations_of(request.user).listed(),
        "emulated": settings.GEMINI_EMULATED,
        "socket_url": f"/ws/conversations/{shown.pk}/?revision={page.revision}",
        "code_execution_choices": Conversation.CodeExecution.choices,
    }
    return render(request, "chat/conversation.html", context)


@login_required
@require_POST
def conversation_new(request: SignedInRequest) -> HttpResponse:
    """Open an empty conversation."""
    return redirect(Conversation.objects.open_new(request.user.pk))


@login_required
@require_POST
def conversation_rename(request: SignedInRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Give it another title."""
    return _change(request, conversation_id, RenameForm(request.POST))


@login_required
@require_POST
def conversation_settings(request: SignedInRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Change those settings that the form names."""
    return _change(request, conversation_id, ConversationSettingsForm(request.POST))


@login_required
@require_POST
def conversation_delete(request: SignedInRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Delete it and what only it shows."""
    writable_conversation(request.user, conversation_id).delete_with_attachments()
    return redirect("home")


def _change(request: SignedInRequest, conversation_id: uuid.UUID, form: SentencesForm) -> HttpResponse:
    """Write the form's values, or answer 400 with the sentence that says why not."""
    changed = writable_conversation(request.user, conversation_id)
    if not form.is_valid():
        return HttpResponse(form.sentence(), status=400, content_type="text/plain; charset=utf-8")
    changed.change_settings(form.cleaned_data)
    return redirect(changed)
