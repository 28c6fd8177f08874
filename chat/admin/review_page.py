"""The review page of a conversation: its transcript, turns and verdicts, and the views that belong to it."""

from __future__ import annotations

import uuid
from functools import partial
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from attachments.models import Attachment
from attachments.views import build_content_response
from chat.admin import transcript_pages, transcripts
from chat.admin.forms import ReasonForm, VerdictForm
from chat.admin.queue import QueueAdmin
from chat.admin.read_access import (
    get_reason,
    get_visible_title,
    log_access,
    log_read_or_redirect,
    may_read_conversations,
    shorten_id,
    store_reason,
)
from chat.models import (
    AccessEntry,
    Conversation,
    Label,
    MessageAttachment,
    Part,
    Review,
    ReviewDecision,
    ReviewState,
    TurnEvent,
    Verdict,
)
from chat.models.access_log import REPEAT_INTERVAL
from chat.models.reviews import NewerVerdict
from chat.page.readers import GroupPlace
from chat.page.transcript.usage import conversation_usage
from chat.people.access import SignedInRequest

HISTORY_LIMIT = 100
"""Maximum number of verdicts that the page shows, newest first."""

SUGGESTED_LABELS_LIMIT = 30
LIST_FILTERS_PARAMETER = "_changelist_filters"
"""URL parameter in which Django's links from a list carry its filters."""


class ReviewPageAdmin(QueueAdmin):
    """Adds the review page of a conversation, its verdict form, its reason form and its files."""

    def get_urls(self) -> list[URLPattern]:
        """Return Django's URLs of the admin, and those of the views below."""
        views = {
            "reason": require_http_methods(["GET", "HEAD", "POST"])(self.reason_view),
            "verdict": require_POST(self.verdict_view),
        }
        urls = [
            path(f"<uuid:conversation_id>/{name}/", self.admin_site.admin_view(view), name=f"chat_conversation_{name}")
            for name, view in views.items()
        ]
        file_view = self.admin_site.admin_view(require_safe(self.file_view), cacheable=True)
        file_path = "<uuid:conversation_id>/files/<uuid:attachment_id>/"
        return [*urls, path(file_path, file_view, name="chat_conversation_file"), *super().get_urls()]

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Conversation | None:
        """Return the conversation. Its title is replaced by the short id if the user must not see it yet."""
        conversation = super().get_object(request, object_id, from_field)
        if conversation is not None and conversation.title:
            conversation.title = get_visible_title(request, conversation)
        return conversation

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        """Log the read and render the page, or redirect to the form that asks for the reason."""
        if request.method not in ("GET", "HEAD") or not self.has_view_permission(request):
            raise PermissionDenied
        conversation = self.get_object(request, unquote(object_id))
        if conversation is None:
            messages.warning(request, gettext("This conversation does not exist any more."))
            return redirect("admin:chat_conversation_changelist")
        return self._render_page(request, conversation)

    def reason_view(self, request: SignedInRequest, conversation_id: uuid.UUID) -> HttpResponse:
        """Ask for the reason to read a conversation, and show only its short id and its owner's name."""
        conversation = _get_conversation(request, conversation_id)
        next_url = request.GET.get("next", "")
        is_local = url_has_allowed_host_and_scheme(next_url, {request.get_host()}, request.is_secure())
        form = ReasonForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            store_reason(request, conversation.pk, form.cleaned_data["reason"])
            return redirect(next_url if is_local else build_page_url(conversation.pk))
        error = form.sentence() if request.method == "POST" else ""
        names = {"id": shorten_id(conversation.pk), "user": conversation.owner.get_username()}
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": gettext("Conversation %(id)s of %(user)s") % names,
            "form": form,
            "error": error,
        }
        status = 400 if error else 200
        return TemplateResponse(request, "admin/chat/conversation/reason.html", context, status=status)

    def verdict_view(self, request: SignedInRequest, conversation_id: uuid.UUID) -> HttpResponse:
        """Store a verdict. If somebody else wrote one since the page was shown, show the page with that one instead."""
        conversation = _get_conversation(request, conversation_id)
        if not self.has_review_permission(request):
            raise PermissionDenied
        form = VerdictForm(request.POST)
        if not form.is_valid():
            return self._render_page(request, conversation, submitted=request.POST, error=form.sentence())
        data = form.cleaned_data
        decision = ReviewDecision(data["decision"])
        try:
            Review.objects.decide(
                [conversation.pk],
                request.user,
                decision,
                note=data["note"],
                labels=data["labels"],
                seen=data["seen"] or 0,
            )
        except NewerVerdict as newer:
            names = {"reviewer": newer.verdict.reviewer_name, "decision": newer.verdict.get_decision_display()}
            error = (
                gettext("%(reviewer)s %(decision)s since you opened this page. Look at it, then decide again.") % names
            )
            return self._render_page(request, conversation, submitted=request.POST, error=error)
        messages.success(request, gettext("Written down: you %(decision)s.") % {"decision": gettext(decision.label)})
        return redirect(build_page_url(conversation.pk, request.POST.get(LIST_FILTERS_PARAMETER, "")))

    def file_view(
        self, request: SignedInRequest, conversation_id: uuid.UUID, attachment_id: uuid.UUID
    ) -> HttpResponseBase:
        """Send the bytes of a file of this conversation.

        The access is logged, unless the user has just read the conversation, whose page loads its graphs from here.
        """
        conversation = _get_conversation(request, conversation_id)
        attachment = Attachment.objects.filter(pk=attachment_id).first()
        if attachment is None or not _has_attachment(conversation, attachment):
            raise Http404
        reason = get_reason(request, conversation.pk)
        if reason is None:
            return HttpResponse(
                gettext("Open the conversation with a reason first."), status=403, content_type="text/plain"
            )
        since = timezone.now() - REPEAT_INTERVAL
        recent = AccessEntry.objects.filter(reader=request.user, conversation=conversation, created_at__gt=since)
        if not recent.filter(action=AccessEntry.Action.READ).exists():
            log_access(request, conversation, AccessEntry.Action.FILE, reason=reason, detail=attachment.name)
        return build_content_response(request, attachment)

    def _render_page(
        self,
        request: HttpRequest,
        conversation: Conversation,
        *,
        submitted: QueryDict | None = None,
        error: str = "",
    ) -> HttpResponse:
        """Log the read and render the page. `submitted` is the verdict form that was refused with `error`."""
        if redirection := log_read_or_redirect(request, conversation):
            return redirection
        list_filters = request.GET.get(LIST_FILTERS_PARAMETER, "") or request.POST.get(LIST_FILTERS_PARAMETER, "")
        context = {
            **self.admin_site.each_context(request),
            "is_nav_sidebar_enabled": False,
            "opts": self.opts,
            "title": str(conversation),
            "original": conversation,
            "conversation": conversation,
            "usage": conversation_usage(conversation),
            "reason": get_reason(request, conversation.pk),
            "list_filters": list_filters,
            "page_url": build_page_url(conversation.pk, list_filters),
            "may_decide": self.has_review_permission(request),
            "has_delete_permission": self.has_delete_permission(request, conversation),
            "submitted": submitted,
            "error": error,
            **_transcript_context(request, conversation),
            **self._navigation_context(request, conversation, list_filters),
            **_review_context(conversation),
        }
        request.current_app = self.admin_site.name
        template = "admin/chat/conversation/change_form.html"
        return TemplateResponse(request, template, context, status=400 if error else 200)

    def _navigation_context(
        self, request: HttpRequest, conversation: Conversation, list_filters: str
    ) -> dict[str, str | None]:
        """Return the links to the list and to the neighbours in it, with the list's filters."""
        is_sent_view = _is_sent_view(request)
        previous_id, next_id = self.find_neighbours(request, conversation, list_filters)
        queue_url = reverse("admin:chat_conversation_changelist")

        def url_of(pk: uuid.UUID | None) -> str | None:
            return None if pk is None else build_page_url(pk, list_filters, is_sent_view=is_sent_view)

        return {
            "queue_url": f"{queue_url}?{list_filters}" if list_filters else queue_url,
            "previous_url": url_of(previous_id),
            "next_url": url_of(next_id),
        }


def _is_sent_view(request: HttpRequest) -> bool:
    """Return whether the page shows messages as they were sent, in place of the transcript."""
    return request.GET.get("as") == "sent"


def _transcript_context(request: HttpRequest, conversation: Conversation) -> dict[str, object]:
    """Return the messages of the shown version, the other versions and all turns."""
    nodes = transcripts.load_tree(conversation.pk)
    version_id = _parse_uuid(request.GET.get("version", ""))
    path_ids = transcripts.find_path(version_id, nodes)
    is_sent_view = _is_sent_view(request)
    near = GroupPlace.parse(request.GET.get("at", ""))
    window = transcript_pages.page_of(path_ids, request, version_id, near)
    shown_ids = path_ids[window.first : window.last]
    load = partial(transcripts.load_transcript, conversation, path_ids, nodes, window)
    return {
        "is_sent_view": is_sent_view,
        "shown_ids": set(shown_ids),
        "transcript": [] if is_sent_view else load(partial(transcript_pages.group_url, request), near),
        "sent_messages": transcripts.load_sent_messages(shown_ids) if is_sent_view else [],
        **transcript_pages.links(window, len(path_ids), request),
        "version_id": version_id if version_id in nodes and not nodes[version_id].is_shown else None,
        "versions": transcripts.list_versions(nodes, path_ids),
        "turns": transcripts.load_turns(conversation, nodes),
    }


def _review_context(conversation: Conversation) -> dict[str, object]:
    """Return the state, labels and history of the conversation's review."""
    review = Review.objects.select_related("assignee").filter(pk=conversation.pk).first()
    verdicts = list(Verdict.objects.filter(conversation=conversation)[: HISTORY_LIMIT + 1])
    labels_in_use = Label.objects.filter(reviews__isnull=False).distinct().values_list("name", flat=True)
    return {
        "state": ReviewState(review.state if review else ReviewState.UNREVIEWED),
        "assignee": review.assignee if review else None,
        "labels": list(review.labels.values_list("name", flat=True)) if review else [],
        "verdicts": verdicts[:HISTORY_LIMIT],
        "has_more_verdicts": len(verdicts) > HISTORY_LIMIT,
        "newest_verdict_id": verdicts[0].pk if verdicts else 0,
        "suggested_labels": list(labels_in_use[:SUGGESTED_LABELS_LIMIT]),
    }


def _get_conversation(request: HttpRequest, conversation_id: uuid.UUID) -> Conversation:
    """Return a conversation with its owner. Raise PermissionDenied, or Http404 if it does not exist.

    The permission is checked first, so that users without it do not learn which conversations exist.
    """
    if not may_read_conversations(request):
        raise PermissionDenied
    return get_object_or_404(Conversation.objects.kept().select_related("owner"), pk=conversation_id)


def _has_attachment(conversation: Conversation, attachment: Attachment) -> bool:
    """Return whether a conversation shows an attachment. Only the event log has the attachments of a live answer."""
    events = TurnEvent.objects.filter(turn__conversation=conversation, name=TurnEvent.ATTACHMENT)
    return (
        MessageAttachment.objects.filter(message__conversation=conversation, attachment=attachment).exists()
        or Part.objects.filter(message__conversation=conversation, attachment=attachment).exists()
        or events.filter(data__attachment_id=str(attachment.pk)).exists()
    )


def build_page_url(conversation_id: uuid.UUID, list_filters: str = "", *, is_sent_view: bool = False) -> str:
    """Return the URL of a review page that keeps the list's filters and the chosen view."""
    url = reverse("admin:chat_conversation_change", args=[conversation_id])
    query = {}
    if list_filters:
        query[LIST_FILTERS_PARAMETER] = list_filters
    if is_sent_view:
        query["as"] = "sent"
    return f"{url}?{urlencode(query)}" if query else url


def _parse_uuid(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None
