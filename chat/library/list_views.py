"""Views of the list of conversations, and of the actions of its menu."""

from __future__ import annotations

import uuid
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import conditional_page, require_safe
from django_htmx.http import HttpResponseClientRedirect

from chat.answering.turns.deletions import delete_with_undo
from chat.library.conversation_list import list_context
from chat.library.forms import ListForm, MarksForm, MessageForm, RenameForm, StatesForm
from chat.library.refusal_responses import refuse
from chat.library.sidebar_projects import sidebar_projects
from chat.models.deletion import restore_conversation
from chat.models.list_queries import Group
from chat.models.list_states import mark_answer_read, with_live_status
from chat.page.fragments import delete_swap, entry_swap, join_html
from chat.people.access import (
    SignedInRequest,
    conversations_of,
    find_deleted,
    readable_conversation,
    writable_conversation,
)
from chat.people.login_redirects import login_required_post


@never_cache
@login_required
@require_safe
def conversations(request: SignedInRequest) -> HttpResponse:
    """Render the list of conversations or the results of a search: as a page, or as a fragment for htmx."""
    form = ListForm(request.GET)
    if not form.is_valid():
        return refuse(form.sentence())
    context = list_context(request, **form.cleaned_data)
    if not request.htmx:
        return render(request, "chat/conversations.html", {**context, **sidebar_projects(request.user)})
    return render(request, "chat/_entries.html" if form.cleaned_data["after"] else "chat/_conversations.html", context)


@never_cache
@conditional_page
@login_required
@require_safe
def conversation_states(request: SignedInRequest) -> HttpResponse:
    """Render swaps of entries in the list whose states may have changed; 304 if they are unchanged."""
    form = StatesForm(request.GET)
    if not form.is_valid():
        return refuse(form.sentence())
    ids: list[uuid.UUID] = form.cleaned_data["ids"]
    rows = {row.pk: row for row in with_live_status(conversations_of(request.user).filter(pk__in=ids)).order_by()}
    swaps = (entry_swap(rows[pk]) if pk in rows else delete_swap(f"entry-{pk}") for pk in ids)
    return HttpResponse(join_html(swaps))


@login_required_post
def conversation_read(request: SignedInRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Record that the page of a conversation shows the end of an answer."""
    seen = writable_conversation(request.user, conversation_id)
    form = MessageForm(request.POST)
    if not form.is_valid():
        return refuse(form.sentence())
    mark_answer_read(seen, form.cleaned_data["message_id"])
    return HttpResponse(status=204)


@login_required_post
def conversation_rename(request: SignedInRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Rename a conversation."""
    renamed = writable_conversation(request.user, conversation_id)
    form = RenameForm(request.POST)
    if not form.is_valid():
        context = {"heading": "Not renamed", "sentence": form.sentence(), "conversation": renamed}
        return render(request, "refused.html", context, status=400)
    renamed.change_settings(form.cleaned_data)
    return redirect(renamed)


@login_required_post
def conversation_marks(request: SignedInRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Archive, restore, pin or unpin a conversation. htmx gets the changed parts of the page and an undo button."""
    marked = writable_conversation(request.user, conversation_id)
    form, list_form = MarksForm(request.POST), ListForm(request.POST)
    if not (form.is_valid() and list_form.is_valid()):
        return refuse(form.sentence() or list_form.sentence())
    marked.change_settings(form.cleaned_data)
    if not request.htmx:
        return redirect("conversations")
    view = list_form.cleaned_data
    is_in_group = (view["group"] is Group.ARCHIVED) == (marked.archived_at is not None)
    context = {
        **list_context(request, **view),
        "marked": marked,
        "changes": form.cleaned_data,
        # If a pinned conversation leaves the list, the whole list is replaced: the heading of the group may have to go.
        "has_left": not (is_in_group or view["q"] or marked.pinned_at),
    }
    return render(request, "chat/_marked.html", context)


@login_required_post
def conversation_delete(request: SignedInRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Delete a conversation with all files that only it shows, and offer to undo this for a short time.

    htmx gets the changed parts of the page. If the deleted conversation is open, the browser leaves its page.
    """
    form = ListForm(request.POST)
    if not form.is_valid():
        return refuse(form.sentence())
    deleted = writable_conversation(request.user, conversation_id)
    delete_with_undo(deleted)
    home = f"{reverse('home')}?{urlencode({'deleted': deleted.pk})}"
    if not request.htmx:
        return redirect(home)
    if form.cleaned_data["open"] == deleted.pk:
        return HttpResponseClientRedirect(home)
    return render(request, "chat/_deleted_swaps.html", {"deleted": deleted, "undo_s": settings.DELETION_UNDO_S})


@login_required_post
def conversation_restore(request: SignedInRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Undo a deletion. For a conversation that is not deleted, nothing changes, so the button can be pressed twice."""
    form = ListForm(request.POST)
    if not form.is_valid():
        return refuse(form.sentence())
    if deleted := find_deleted(request.user, conversation_id):
        restore_conversation(deleted)
    restored = readable_conversation(request.user, conversation_id)
    if not request.htmx:
        return redirect(restored)
    return render(
        request, "chat/_restored_swaps.html", {**list_context(request, **form.cleaned_data), "restored": restored}
    )
