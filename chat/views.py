"""Pages: parse with a form, authorise with `access`, make one domain call, answer.

What is not theirs is a 404 (`access.NotFound`). A page that changes something takes POST only and redirects.
"""

from __future__ import annotations

import uuid
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from django_htmx.middleware import HtmxDetails

from chat.access import NotFound, conversations_of, readable_conversation, writable_conversation
from chat.catalogue.choices import check_choice, choices
from chat.catalogue.setups import UnknownModel
from chat.forms import ATTACHMENTS_LIMIT, ConversationSettingsForm, ListForm, PlaceField, RenameForm
from chat.models import Conversation, Place
from chat.models.found import found
from chat.search.query import parse
from chat.turns.spending import conversation_usage
from chat.turns.transcript import snapshot

LISTED_AT_ONCE = 40
FOUND_AT_ONCE = 20


class SignedInRequest(HttpRequest):
    """A request behind `login_required`."""

    user: User
    htmx: HtmxDetails


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
        **_listed(request.user, opened=shown.pk),
        "conversation": shown,
        "messages": page.messages,
        "emulated": settings.GEMINI_EMULATED,
        "socket_url": f"/ws/conversations/{shown.pk}/?revision={page.revision}",
        "code_execution_choices": Conversation.CodeExecution.choices,
        "model_choices": choices(shown.model),
        "prompt_limit_bytes": settings.PROMPT_LIMIT_BYTES,
        "file_limit_bytes": settings.UPLOAD_LIMIT_BYTES,
        "files_limit": ATTACHMENTS_LIMIT,
        "usage": conversation_usage(shown.pk),
    }
    return render(request, "chat/conversation.html", context)


@never_cache
@login_required
@require_safe
def conversations(request: SignedInRequest) -> HttpResponse:
    """List theirs, or those that hold what they look for: as a page, or as what htmx puts into the list."""
    form = ListForm(request.GET)
    if not form.is_valid():
        return _refusal(form.sentence())
    asked = form.cleaned_data
    context = _listed(request.user, asked["q"], asked["after"], asked["open"])
    if not request.htmx:
        return render(request, "chat/conversations.html", context)
    return render(request, "chat/_entries.html" if asked["after"] else "chat/_conversations.html", context)


@login_required
@require_POST
def conversation_new(request: SignedInRequest) -> HttpResponse:
    """Open an empty conversation."""
    return redirect(Conversation.objects.open_new(request.user.pk))


@login_required
@require_POST
def conversation_rename(request: SignedInRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Give it another title."""
    renamed = writable_conversation(request.user, conversation_id)
    form = RenameForm(request.POST)
    if not form.is_valid():
        return _refusal(form.sentence())
    renamed.change_settings(form.cleaned_data)
    return redirect(renamed)


@login_required
@require_POST
def conversation_settings(request: SignedInRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Change those settings that the form names; a script, which accepts no HTML, is not sent to the page."""
    changed = writable_conversation(request.user, conversation_id)
    form = ConversationSettingsForm(request.POST)
    if not form.is_valid():
        return _refusal(form.sentence())
    model = form.cleaned_data.get("model", changed.model)
    # A model that was taken away since stays chosen while only other settings change.
    if model != changed.model:
        try:
            check_choice(model)
        except UnknownModel as unknown:
            return _refusal(str(unknown))
    changed.change_settings(form.cleaned_data)
    return redirect(changed) if request.accepts("text/html") else HttpResponse(status=204)


@login_required
@require_POST
def conversation_delete(request: SignedInRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Delete it and what only it shows."""
    writable_conversation(request.user, conversation_id).delete_with_attachments()
    return redirect("home")


def _listed(
    user: User, searched: str = "", after: Place | None = None, opened: uuid.UUID | None = None
) -> dict[str, Any]:
    """What the list's templates need; `opened`: the conversation in view, which the list marks."""
    terms = parse(searched)
    theirs = conversations_of(user)
    page = theirs.holding(terms).page(FOUND_AT_ONCE, after) if searched else theirs.page(LISTED_AT_ONCE, after)
    more_url = ""
    if page.end:
        more = {"q": searched, "after": PlaceField.written(page.end), "open": opened or ""}
        more_url = f"{reverse('conversations')}?{urlencode(more)}"
    return {
        "conversation": {"pk": opened},
        "conversations": page.conversations,
        "searched": searched,
        "found": found(page.conversations, terms) if searched else [],
        "more_url": more_url,
    }


def _refusal(sentence: str) -> HttpResponse:
    """Why nothing was changed."""
    return HttpResponse(sentence, status=400, content_type="text/plain; charset=utf-8")
