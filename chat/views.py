"""Views of the pages. Each parses with a form, authorises with `access`, makes one domain call and renders a response.

A conversation that the user may not read is answered with 404 (`access.NotFound`). Views that change something accept
only POST.
"""

from __future__ import annotations

import uuid
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth.decorators import login_required
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
from chat.catalogue.choices import check_choice, list_choices
from chat.catalogue.setups import UnknownModel
from chat.form_fields import ATTACHMENTS_LIMIT, ListPositionField
from chat.forms import ConversationSettingsForm, ListForm, MarksForm, RatingForm, RenameForm
from chat.fragments import rating_html
from chat.models import REASON_LIMIT, AccessEntry, Conversation, FeedbackNotAllowed, ListPosition, User
from chat.models.deletion import delete_conversation
from chat.models.list_queries import Group, list_page
from chat.models.search_results import load_search_results
from chat.search.query import parse
from chat.transcript.snapshot import snapshot
from chat.transcript.usage import conversation_usage
from chat.turns.feedback import Thumb, rate

LIST_PAGE_SIZE = 40
SEARCH_PAGE_SIZE = 20
READINGS_PAGE_SIZE = 50


@never_cache
@login_required
@require_safe
def home(request: SignedInRequest) -> HttpResponse:
    """Redirect to the newest conversation, or to a new one if the user has none."""
    newest = conversations_of(request.user).in_use().newest_first().first()
    return redirect(newest or Conversation.objects.open_new(request.user.pk))


@never_cache
@login_required
@require_safe
def conversation(request: SignedInRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Render a conversation with its transcript and the list of conversations."""
    shown = readable_conversation(request.user, conversation_id)
    # The page names the revision at which its messages were read. Its socket sends what has changed since.
    try:
        page = snapshot(shown.pk)
    except Conversation.DoesNotExist:  # It has just been deleted in another tab.
        raise NotFound from None
    choices = list_choices(shown.model)
    context = {
        **_list_context(request.user, open=shown.pk),
        "conversation": shown,
        "messages": page.messages,
        "is_demo": any(choice.is_demo for choice in choices if choice.value == shown.model),
        "socket_url": f"/ws/conversations/{shown.pk}/?revision={page.revision}",
        "code_execution_choices": Conversation.CodeExecution.choices,
        "model_choices": choices,
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
    """Render the list of conversations or the results of a search: as a page, or as a fragment for htmx."""
    form = ListForm(request.GET)
    if not form.is_valid():
        return _refusal(form.sentence())
    context = _list_context(request.user, **form.cleaned_data)
    if not request.htmx:
        return render(request, "chat/conversations.html", context)
    return render(request, "chat/_entries.html" if form.cleaned_data["after"] else "chat/_conversations.html", context)


@never_cache
@login_required
@require_safe
def readings(request: SignedInRequest) -> HttpResponse:
    """Render which staff read the user's conversations, newest first, including conversations deleted since."""
    before = request.GET.get("before", "")
    entries = AccessEntry.objects.filter(owner=request.user)
    # 18 digits fit into the database's 64-bit integers.
    if before[:18].isdecimal():
        entries = entries.filter(pk__lt=int(before[:18]))
    rows = list(entries[: READINGS_PAGE_SIZE + 1])
    page = rows[:READINGS_PAGE_SIZE]
    existing = conversations_of(request.user).filter(pk__in=[entry.conversation_id for entry in page])
    context = {
        "readings": page,
        "end": page[-1].pk if len(rows) > READINGS_PAGE_SIZE else None,
        "kept_ids": set(existing.order_by().values_list("pk", flat=True)),
        "is_first": not before,
    }
    return render(request, "account/readings.html", context)


@login_required
@require_POST
def conversation_new(request: SignedInRequest) -> HttpResponse:
    """Redirect to an empty conversation."""
    return redirect(Conversation.objects.open_new(request.user.pk))


@login_required
@require_POST
def conversation_rename(request: SignedInRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Rename a conversation."""
    renamed = writable_conversation(request.user, conversation_id)
    form = RenameForm(request.POST)
    if not form.is_valid():
        return _refusal(form.sentence())
    renamed.change_settings(form.cleaned_data)
    return redirect(renamed)


@login_required
@require_POST
def conversation_settings(request: SignedInRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Save the settings that the form contains. Scripts, which do not accept HTML, get 204 instead of a redirect."""
    changed = writable_conversation(request.user, conversation_id)
    form = ConversationSettingsForm(request.POST)
    if not form.is_valid():
        return _refusal(form.sentence())
    model = form.cleaned_data.get("model", changed.model)
    # A conversation keeps a model that is no longer offered while only its other settings change.
    if model != changed.model:
        try:
            check_choice(model)
        except UnknownModel as error:
            return _refusal(str(error))
    changed.change_settings(form.cleaned_data)
    return redirect(changed) if request.accepts("text/html") else HttpResponse(status=204)


@login_required
@require_POST
def conversation_delete(request: SignedInRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Delete a conversation with everything that only it shows."""
    delete_conversation(writable_conversation(request.user, conversation_id))
    return redirect("home")


@login_required
@require_POST
def conversation_marks(request: SignedInRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Archive, restore, pin or unpin a conversation. htmx gets the changed parts of the page and an undo button."""
    marked = writable_conversation(request.user, conversation_id)
    form, list_form = MarksForm(request.POST), ListForm(request.POST)
    if not (form.is_valid() and list_form.is_valid()):
        return _refusal(form.sentence() or list_form.sentence())
    marked.change_settings(form.cleaned_data)
    if not request.htmx:
        return redirect("conversations")
    view = list_form.cleaned_data
    is_in_group = (view["group"] is Group.ARCHIVED) == (marked.archived_at is not None)
    context = {
        **_list_context(request.user, **view),
        "marked": marked,
        "changes": form.cleaned_data,
        # A pinned conversation is not removed alone, because the heading of its group may have to go with it.
        "has_left": not (is_in_group or view["q"] or marked.pinned_at),
    }
    return render(request, "chat/_marked.html", context)


@login_required
@require_POST
def message_feedback(request: SignedInRequest, conversation_id: uuid.UUID, message_id: uuid.UUID) -> HttpResponse:
    """Store or remove the rating of an answer, and render its rating buttons."""
    message = writable_message(request.user, message_id, conversation_id)
    form = RatingForm(request.POST)
    if not form.is_valid():
        return _refusal(form.sentence())
    verdict, reason = form.cleaned_data["verdict"], form.cleaned_data["reason"]
    thumb = None if verdict == "none" else Thumb(verdict == "good", reason)
    try:
        return HttpResponse(rating_html(rate(message, request.user, thumb)))
    except FeedbackNotAllowed as error:
        return _refusal(str(error))
    except Conversation.DoesNotExist:
        raise NotFound from None


def _list_context(
    user: User,
    *,
    q: str = "",
    group: Group | None = None,
    after: ListPosition | None = None,
    open: uuid.UUID | None = None,
) -> dict[str, Any]:
    """Return the context of the list's templates. The arguments are the fields of `ListForm`."""
    terms = parse(q)
    conversations = conversations_of(user)
    context: dict[str, Any] = {"conversation": {"pk": open}, "searched": q, "group": group}
    if q:
        page = conversations.holding(terms).page(SEARCH_PAGE_SIZE, after)
        end = page.end
        context |= {"conversations": page.conversations, "found": load_search_results(page.conversations, terms)}
    else:
        rows = list_page(conversations, LIST_PAGE_SIZE, group, after)
        group, end = rows.group, rows.end
        begins_others = bool(rows.others) and (bool(rows.pinned) or context["group"] is Group.PINNED)
        context |= {
            "pinned": rows.pinned,
            "conversations": rows.others,
            "begins_pinned": bool(rows.pinned) and after is None,
            "begins_others": begins_others,
        }
    if end is None:
        return {**context, "more_url": ""}
    query = urlencode({"q": q, "group": group or "", "after": ListPositionField.serialize(end), "open": open or ""})
    return {**context, "more_url": f"{reverse('conversations')}?{query}"}


def _refusal(sentence: str) -> HttpResponse:
    """Return the sentence that explains why the request was refused."""
    return HttpResponse(sentence, status=400, content_type="text/plain; charset=utf-8")
