"""Views of a conversation, its messages and its settings, of galleries, and of the list of what staff have read.

An unreadable conversation is answered with 404 (`access.NotFound`).
"""

from __future__ import annotations

import uuid
from dataclasses import replace
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from attachments.other_images import PICKER_TYPES
from attachments.validation import PREVIEW_SUFFIXES
from chat.answering.turns.engine_choice import answers_run_code
from chat.answering.turns.feedback import Thumb, rate
from chat.library.forms import ConversationSettingsForm, DeletedForm, RatingForm, ShownMessagesForm
from chat.library.new_conversations import open_new_conversation
from chat.library.refusal_responses import refuse
from chat.library.search_hits import find_hits
from chat.messages.records import records_by_id
from chat.models import (
    REASON_LIMIT,
    AccessEntry,
    Conversation,
    FeedbackNotAllowed,
    PythonSession,
    temporary_conversations,
)
from chat.models.form_fields import ATTACHMENTS_LIMIT
from chat.models.list_states import mark_read
from chat.page.fragments import rating_html
from chat.page.queued_views import queued
from chat.page.readers import OWNER, GroupPlace
from chat.page.transcript.gallery import gallery_page
from chat.page.transcript.long_texts import group_at, place_of_words
from chat.page.transcript.message_links import find_link_target
from chat.page.transcript.snapshot import snapshot
from chat.page.transcript.usage import conversation_usage
from chat.page.transcript.views import answer_markdown
from chat.page.transcript.window import PAGE_CHARS
from chat.people.access import (
    NotFound,
    SignedInRequest,
    conversations_of,
    find_deleted,
    readable_conversation,
    writable_conversation,
    writable_message,
)
from chat.people.login_redirects import login_required_post
from chat.people.quotas.pages import limited_as_calls
from chat.providers.catalogue.choices import check_choice, list_choices
from chat.providers.catalogue.setups import UnknownModel
from chat.python.session_panel import panel_html
from chat.python.sessions.places import launch_error

READINGS_PAGE_SIZE = 50
GALLERY_PAGE_SIZE = 60


@never_cache
@login_required
@require_safe
@limited_as_calls
def home(request: SignedInRequest) -> HttpResponse:
    """Redirect to the newest conversation, or to a new one if the user has none."""
    newest = conversations_of(request.user).kept().in_use().newest_first().first()
    shown = newest or open_new_conversation(request.user)
    deleted = _deleted_id(request)
    return redirect(f"{shown.get_absolute_url()}?{urlencode({'deleted': deleted})}" if deleted else shown)


@queued
@never_cache
@login_required
@require_safe
def conversation(request: SignedInRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Render a conversation with its newest messages, or those around, before or after one of its messages."""
    shown = readable_conversation(request.user, conversation_id)
    form = ShownMessagesForm(request.GET)
    if not form.is_valid():
        raise NotFound
    if request.method == "GET":
        mark_read(shown)
    if temporary_conversations.is_due(shown.temporary_seen_at):
        temporary_conversations.renew([shown.pk])
    # The page contains the revision at which its messages were read. Its socket sends later changes.
    try:
        near = _near(request, shown, form.cleaned_data["message"])
        target = find_link_target(shown, **({"message": near.message_id} if near else form.cleaned_data))
        page = snapshot(shown.pk, target.choose, target.near, limit_chars=PAGE_CHARS, reader=replace(OWNER, near=near))
    except Conversation.DoesNotExist:  # It has just been deleted in another tab.
        raise NotFound from None
    context = {
        "conversation": shown,
        "hits": find_hits(shown, request.GET.get("q", ""), form.cleaned_data["message"]),
        "page": page,
        "is_other_version": target.is_other_version,
        "launch_error": launch_error(),
        "may_read_launch_error": settings.DEBUG or request.user.is_staff,
        "socket_url": f"/ws/conversations/{shown.pk}/?revision={page.revision}&expects=window",
        **_settings_context(shown),
        "prompt_limit_bytes": settings.PROMPT_LIMIT_BYTES,
        "file_limit_bytes": settings.UPLOAD_LIMIT_BYTES,
        "files_limit": ATTACHMENTS_LIMIT,
        "picker_types": PICKER_TYPES,
        "table_suffixes": " ".join(sorted(PREVIEW_SUFFIXES)),
        "reason_limit": REASON_LIMIT,
        "runs_code": not page.messages and answers_run_code(shown),
        "usage": conversation_usage(shown),
        "has_session": PythonSession.objects.filter(conversation=shown).exists(),
        "deleted": find_deleted(request.user, _deleted_id(request)),
        "undo_s": settings.DELETION_UNDO_S,
    }
    return render(request, "chat/conversation.html", context)


def _near(request: SignedInRequest, shown: Conversation, message_id: uuid.UUID | None) -> GroupPlace | None:
    """Return the group of blocks of a long answer that the URL names, or the one that matches the search best."""
    if at := GroupPlace.parse(request.GET.get("at", "")):
        return at
    query = request.GET.get("q", "")
    return place_of_words(shown, message_id, query) if query and message_id else None


def _settings_context(shown: Conversation) -> dict[str, object]:
    """Return the settings and models that the page offers, and notes about the chosen model."""
    choices = list_choices(shown.model)
    chosen = next((choice for choice in choices if choice.value == shown.model), choices[0])
    return {
        **Conversation.setting_choices(),
        "chosen_model": chosen,
        "is_demo": chosen.is_demo,
        "searches": chosen.searches(shown.web_search),
        "model_choices": choices,
    }


def _deleted_id(request: SignedInRequest) -> uuid.UUID | None:
    """Return the id of the conversation whose deletion the page offers to undo."""
    form = DeletedForm(request.GET)
    return form.cleaned_data["deleted"] if form.is_valid() else None


@never_cache
@login_required
@require_safe
def readings(request: SignedInRequest) -> HttpResponse:
    """Render which staff read conversations of the user, and when. Newest first, with deleted conversations."""
    before = _row_before(request)
    entries = AccessEntry.objects.filter(owner=request.user, **({} if before is None else {"pk__lt": before}))
    rows = list(entries[: READINGS_PAGE_SIZE + 1])
    page = rows[:READINGS_PAGE_SIZE]
    existing = conversations_of(request.user).filter(pk__in=[entry.conversation_id for entry in page])
    context = {
        "readings": page,
        "end": page[-1].pk if len(rows) > READINGS_PAGE_SIZE else None,
        "kept_ids": set(existing.order_by().values_list("pk", flat=True)),
        "is_first": before is None,
    }
    return render(request, "account/readings.html", context)


def _row_before(request: SignedInRequest) -> int | None:
    """Return the number of the last row of the previous page of a list; `None` for the first page."""
    # 18 digits fit into the database's 64-bit integers.
    digits = request.GET.get("before", "")[:18]
    return int(digits) if digits.isdecimal() else None


@never_cache
@login_required
@require_safe
def graphs(request: SignedInRequest, conversation_id: uuid.UUID | None = None) -> HttpResponse:
    """Render the graphs and images of one conversation, or of all conversations of the user, newest first."""
    shown = readable_conversation(request.user, conversation_id) if conversation_id else None
    conversations = conversations_of(request.user)
    before = _row_before(request)
    shown_rows = conversations.filter(pk=shown.pk) if shown else conversations.kept()
    page = gallery_page(request.user.pk, shown_rows, GALLERY_PAGE_SIZE, before)
    context = {"conversation": shown, "images": page.images, "end": page.end, "is_first": before is None}
    return render(request, "chat/gallery.html", context)


@never_cache
@login_required
@require_safe
def conversation_session(request: SignedInRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Render the state of the Python session, a fragment for the panel."""
    return HttpResponse(panel_html(readable_conversation(request.user, conversation_id).pk))


@login_required_post
def conversation_settings(request: SignedInRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """Save the settings that the form contains. Scripts, which do not accept HTML, get 204 instead of a redirect."""
    changed = writable_conversation(request.user, conversation_id)
    form = ConversationSettingsForm(request.POST)
    if not form.is_valid():
        return refuse(form.sentence())
    model = form.cleaned_data.get("model", changed.model)
    # A conversation keeps a model that is no longer offered while only its other settings change.
    if model != changed.model:
        try:
            check_choice(model)
        except UnknownModel as error:
            return refuse(str(error))
    changed.change_settings(form.cleaned_data)
    return redirect(changed) if request.accepts("text/html") else HttpResponse(status=204)


@never_cache
@login_required
@require_safe
def message_text(request: SignedInRequest, message_id: uuid.UUID) -> HttpResponse:
    """Return the text of an answer as Markdown, to copy it."""
    message = writable_message(request.user, message_id)
    record = records_by_id([message.pk]).get(message.pk)
    if record is None:  # It has just been deleted in another tab.
        raise NotFound
    return HttpResponse(answer_markdown(record), content_type="text/plain; charset=utf-8")


@queued
@never_cache
@login_required
@require_safe
def message_blocks(request: SignedInRequest, message_id: uuid.UUID, part: int, number: int) -> HttpResponse:
    """Render a group of blocks of a long answer that a page lacks. Without htmx, redirect to a page that has it."""
    message = writable_message(request.user, message_id)
    place = GroupPlace(message.pk, part, number)
    if not request.htmx:
        return redirect(f"{reverse('conversation', args=[message.conversation_id])}{place.query}")
    record = records_by_id([message.pk]).get(message.pk)
    html = group_at(record, place, OWNER) if record else None
    if html is None:
        raise NotFound
    return HttpResponse(html)


@login_required_post
def message_feedback(request: SignedInRequest, conversation_id: uuid.UUID, message_id: uuid.UUID) -> HttpResponse:
    """Store or remove the rating of an answer, and render its rating buttons."""
    message = writable_message(request.user, message_id, conversation_id)
    form = RatingForm(request.POST)
    if not form.is_valid():
        return refuse(form.sentence())
    verdict, reason = form.cleaned_data["verdict"], form.cleaned_data["reason"]
    thumb = None if verdict == "none" else Thumb(verdict == "good", reason)
    try:
        return HttpResponse(rating_html(rate(message, request.user, thumb)))
    except FeedbackNotAllowed as error:
        return refuse(str(error))
    except Conversation.DoesNotExist:
        raise NotFound from None
