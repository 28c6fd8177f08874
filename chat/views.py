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
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from chat.access import (
    NotFound,
    SignedInRequest,
    conversations_of,
    readable_conversation,
    writable_conversation,
    writable_message,
)
from chat.catalogue.choices import check_choice, choices
from chat.catalogue.setups import UnknownModel
from chat.forms import (
    ATTACHMENTS_LIMIT,
    ConversationSettingsForm,
    ListForm,
    MarksForm,
    PlaceField,
    RatingForm,
    RenameForm,
)
from chat.fragments import rating_html
from chat.models import REASON_LIMIT, AccessEntry, Conversation, NoFeedbackHere, Place
from chat.models.found import found
from chat.models.listed import Group, listed
from chat.search.query import parse
from chat.turns.rating import Thumb, rate
from chat.turns.spending import conversation_usage
from chat.turns.transcript import snapshot

LISTED_AT_ONCE = 40
FOUND_AT_ONCE = 20
READINGS_AT_ONCE = 50


@never_cache
@login_required
@require_safe
def home(request: SignedInRequest) -> HttpResponse:
    """Go to the newest conversation; whoever has none gets an empty one."""
    newest = conversations_of(request.user).in_use().newest_first().first()
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
        **_listed(request.user, open=shown.pk),
        "conversation": shown,
        "messages": page.messages,
        "emulated": settings.GEMINI_EMULATED,
        "socket_url": f"/ws/conversations/{shown.pk}/?revision={page.revision}",
        "code_execution_choices": Conversation.CodeExecution.choices,
        "model_choices": choices(shown.model),
        "prompt_limit_bytes": settings.PROMPT_LIMIT_BYTES,
        "file_limit_bytes": settings.UPLOAD_LIMIT_BYTES,
        "files_limit": ATTACHMENTS_LIMIT,
        "reason_limit": REASON_LIMIT,
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
    context = _listed(request.user, **asked)
    if not request.htmx:
        return render(request, "chat/conversations.html", context)
    return render(request, "chat/_entries.html" if asked["after"] else "chat/_conversations.html", context)


@never_cache
@login_required
@require_safe
def readings(request: SignedInRequest) -> HttpResponse:
    """Who of the staff read their conversations, newest first; those that they have deleted since are told of too."""
    before = request.GET.get("before", "")
    entries = AccessEntry.objects.filter(owner=request.user)
    # Cut, because a number may be sent that no database takes.
    if before[:18].isdecimal():
        entries = entries.filter(pk__lt=int(before[:18]))
    found = list(entries[: READINGS_AT_ONCE + 1])
    shown = found[:READINGS_AT_ONCE]
    kept = conversations_of(request.user).filter(pk__in=[entry.conversation_id for entry in shown])
    context = {
        "readings": shown,
        "end": shown[-1].pk if len(found) > READINGS_AT_ONCE else None,
        "kept_ids": set(kept.order_by().values_list("pk", flat=True)),
        "is_first": not before,
    }
    return render(request, "account/readings.html", context)


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


@login_required
@require_POST
def conversation_marks(request: SignedInRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Archive or pin it, or the contrary; htmx gets what that changes in the page, with a way back."""
    marked = writable_conversation(request.user, conversation_id)
    form, place = MarksForm(request.POST), ListForm(request.POST)
    if not (form.is_valid() and place.is_valid()):
        return _refusal(form.sentence() or place.sentence())
    marked.change_settings(form.cleaned_data)
    if not request.htmx:
        return redirect("conversations")
    asked = place.cleaned_data
    belongs = (asked["group"] is Group.ARCHIVED) == (marked.archived_at is not None)
    context = {
        **_listed(request.user, **asked),
        "marked": marked,
        "changes": form.cleaned_data,
        # With the last pinned one goes a heading.
        "has_left": not (belongs or asked["q"] or marked.pinned_at),
    }
    return render(request, "chat/_marked.html", context)


@login_required
@require_POST
def message_feedback(request: SignedInRequest, conversation_id: uuid.UUID, message_id: uuid.UUID) -> HttpResponse:
    """Rate an answer, or take that back; its thumbs."""
    message = writable_message(request.user, message_id, conversation_id)
    form = RatingForm(request.POST)
    if not form.is_valid():
        return _refusal(form.sentence())
    said = form.cleaned_data
    thumb = None if said["verdict"] == "none" else Thumb(said["verdict"] == "good", said["reason"])
    try:
        return HttpResponse(rating_html(rate(message, request.user, thumb)))
    except NoFeedbackHere as refusal:
        return _refusal(str(refusal))
    except Conversation.DoesNotExist:
        raise NotFound from None


def _listed(
    user: User,
    *,
    q: str = "",
    group: Group | None = None,
    after: Place | None = None,
    open: uuid.UUID | None = None,
) -> dict[str, Any]:
    """What the list's templates need; of `ListForm`."""
    terms = parse(q)
    theirs = conversations_of(user)
    context: dict[str, Any] = {"conversation": {"pk": open}, "searched": q, "group": group}
    if q:
        page = theirs.holding(terms).page(FOUND_AT_ONCE, after)
        end = page.end
        context |= {"conversations": page.conversations, "found": found(page.conversations, terms)}
    else:
        rows = listed(theirs, LISTED_AT_ONCE, group, after)
        group, end = rows.group, rows.end
        begins_others = bool(rows.others) and (bool(rows.pinned) or context["group"] is Group.PINNED)
        context |= {
            "pinned": rows.pinned,
            "conversations": rows.others,
            "begins_pinned": bool(rows.pinned) and after is None,
            "begins_others": begins_others,
        }
    more = {"q": q, "group": group or "", "after": PlaceField.written(end), "open": open or ""} if end else {}
    return {**context, "more_url": f"{reverse('conversations')}?{urlencode(more)}" if more else ""}


def _refusal(sentence: str) -> HttpResponse:
    """Why nothing was changed."""
    return HttpResponse(sentence, status=400, content_type="text/plain; charset=utf-8")
