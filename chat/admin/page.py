"""A conversation's review page: what was said, how it went, the verdicts on it, and the doors that hang from it."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from django import forms
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
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from attachments.models import Attachment
from attachments.views import content_response
from chat.admin import guard, transcripts
from chat.admin.guard import StaffRequest
from chat.admin.queue import QueueAdmin
from chat.forms import PlainTextField, SentencesForm
from chat.models import (
    AccessEntry,
    Conversation,
    Decision,
    Label,
    MessageAttachment,
    Part,
    Review,
    State,
    TurnEvent,
    Verdict,
)
from chat.models.reviews import LABEL_LIMIT, LABELS_LIMIT, NOTE_LIMIT, NOTED_ONCE_WITHIN
from chat.turns.spending import conversation_usage

HISTORY_SHOWN = 100
SUGGESTED_LABELS = 30
KEPT = "_changelist_filters"
"""The list's filters, as Django's own links carry them."""


class LabelsField(PlainTextField):
    """Words between commas; each once, whatever its case."""

    def clean(self, value: object) -> list[str]:
        """Raises ValidationError for too many or too long ones."""
        text = super().clean(value)
        words = [" ".join(word.split()) for word in text.split(",")]
        found = list({word.casefold(): word for word in reversed(words) if word}.values())[::-1]
        if len(found) > LABELS_LIMIT:
            raise forms.ValidationError(f"At most {LABELS_LIMIT} labels can stand at one conversation.")
        if any(len(word) > LABEL_LIMIT for word in found):
            raise forms.ValidationError(f"A label can have at most {LABEL_LIMIT} characters.")
        return found


class VerdictForm(SentencesForm):
    """A decision, with a note and the labels that hold from then on."""

    decision = forms.ChoiceField(
        choices=[choice for choice in Decision.choices if choice[0] != Decision.ASSIGNED],
        error_messages={"required": "Choose a verdict.", "invalid_choice": "There is no such verdict."},
    )
    note = PlainTextField(
        required=False,
        max_length=NOTE_LIMIT,
        error_messages={"max_length": f"A note can have at most {NOTE_LIMIT:,} characters."},
    )
    labels = LabelsField(required=False)
    seen = forms.IntegerField(required=False, min_value=0, max_value=2**63 - 1)
    """The newest line of the history when the page was shown."""


if TYPE_CHECKING:
    _Base = QueueAdmin
else:
    _Base = object


class PageAdmin(_Base):
    """The page of `ConversationAdmin`, and its doors."""

    def get_urls(self) -> list[URLPattern]:
        """Those of the admin, and of what hangs from a conversation."""
        doors = [
            ("reason", require_http_methods(["GET", "HEAD", "POST"])(self.reason_view)),
            ("verdict", require_POST(self.verdict_view)),
        ]
        urls = [
            path(f"<uuid:conversation_id>/{name}/", self.admin_site.admin_view(view), name=f"chat_conversation_{name}")
            for name, view in doors
        ]
        file_view = self.admin_site.admin_view(require_safe(self.file_view), cacheable=True)
        file_path = "<uuid:conversation_id>/files/<uuid:attachment_id>/"
        return [*urls, path(file_path, file_view, name="chat_conversation_file"), *super().get_urls()]

    def has_review_permission(self, request: HttpRequest) -> bool:
        """Whether they may write verdicts."""
        return guard.may_read(request) and bool(request.user.has_perm("chat.change_review"))

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Conversation | None:
        """Named by its id where a reason is asked for first."""
        found: Conversation | None = super().get_object(request, object_id, from_field)
        if found is not None:
            found.title = guard.shown_title(request, found) if found.title else ""
        return found

    def _readable(self, request: HttpRequest, conversation_id: uuid.UUID) -> Conversation:
        """Raises PermissionDenied before it is known whether there is one, and Http404."""
        if not guard.may_read(request):
            raise PermissionDenied
        return get_object_or_404(Conversation.objects.select_related("owner"), pk=conversation_id)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The page; a reading, or first the way to the form that asks for the reason."""
        if request.method not in ("GET", "HEAD") or not self.has_view_permission(request):
            raise PermissionDenied
        conversation = self.get_object(request, unquote(object_id))
        if conversation is None:
            messages.warning(request, "This conversation does not exist any more.")
            return redirect("admin:chat_conversation_changelist")
        return self._page(request, conversation)

    def _page(
        self,
        request: HttpRequest,
        conversation: Conversation,
        *,
        typed: QueryDict | None = None,
        refusal: str = "",
    ) -> HttpResponse:
        if asking := guard.opened(request, conversation):
            return asking
        nodes = transcripts.tree(conversation.pk)
        version = _uuid(request.GET.get("version", ""))
        shown = transcripts.path_through(version, nodes)
        is_sent = request.GET.get("as") == "sent"
        kept = request.GET.get(KEPT, "") or request.POST.get(KEPT, "")
        before, after = self.beside(request, conversation, kept)
        context = {
            **self.admin_site.each_context(request),
            "is_nav_sidebar_enabled": False,
            "opts": self.opts,
            "title": str(conversation),
            "original": conversation,
            "conversation": conversation,
            "transcript": [] if is_sent else transcripts.transcript(conversation, shown, nodes),
            "sent": transcripts.as_sent(shown) if is_sent else [],
            "is_sent": is_sent,
            "version": version if version in nodes and not nodes[version].is_shown else None,
            "others": transcripts.others(nodes, shown),
            "turns": transcripts.turn_facts(conversation, nodes),
            "usage": conversation_usage(conversation.pk),
            "reason": guard.held_reason(request, conversation.pk),
            "next_url": after and page_url(after, kept, is_sent=is_sent),
            "previous_url": before and page_url(before, kept, is_sent=is_sent),
            "queue_url": f"{reverse('admin:chat_conversation_changelist')}{'?' if kept else ''}{kept}",
            "kept": kept,
            "here": page_url(conversation.pk, kept),
            "may_decide": self.has_review_permission(request),
            "has_delete_permission": self.has_delete_permission(request, conversation),
            "typed": typed,
            "refusal": refusal,
            **self._review(conversation),
        }
        request.current_app = self.admin_site.name
        return TemplateResponse(
            request, "admin/chat/conversation/change_form.html", context, status=400 if refusal else 200
        )

    def _review(self, conversation: Conversation) -> dict[str, Any]:
        review = Review.objects.select_related("assignee").filter(pk=conversation.pk).first()
        verdicts = list(Verdict.objects.filter(conversation=conversation)[: HISTORY_SHOWN + 1])
        labels = list(review.labels.values_list("name", flat=True)) if review else []
        in_use = Label.objects.filter(reviews__isnull=False).distinct().values_list("name", flat=True)
        return {
            "state": State(review.state if review else State.UNREVIEWED),
            "assignee": review.assignee if review else None,
            "labels": labels,
            "verdicts": verdicts[:HISTORY_SHOWN],
            "has_more_verdicts": len(verdicts) > HISTORY_SHOWN,
            "seen": verdicts[0].pk if verdicts else 0,
            "suggested": list(in_use[:SUGGESTED_LABELS]),
        }

    def reason_view(self, request: StaffRequest, conversation_id: uuid.UUID) -> HttpResponse:
        """Ask for the reason; nothing of the conversation is shown but its owner's name."""
        conversation = self._readable(request, conversation_id)
        asked_for = request.GET.get("next", "")
        is_ours = url_has_allowed_host_and_scheme(asked_for, {request.get_host()}, request.is_secure())
        target = asked_for if is_ours else page_url(conversation.pk)
        form = guard.ReasonForm(request.POST or None)
        if request.method == "POST" and form.is_valid():
            guard.hold_reason(request, conversation.pk, form.cleaned_data["reason"])
            return redirect(target)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": f"Conversation {guard.short_id(conversation.pk)} of {conversation.owner.get_username()}",
            "form": form,
            "refusal": form.sentence() if request.method == "POST" else "",
        }
        status = 400 if context["refusal"] else 200
        return TemplateResponse(request, "admin/chat/conversation/reason.html", context, status=status)

    def verdict_view(self, request: StaffRequest, conversation_id: uuid.UUID) -> HttpResponse:
        """Write a verdict; one that came meanwhile is shown first."""
        conversation = self._readable(request, conversation_id)
        if not self.has_review_permission(request):
            raise PermissionDenied
        form = VerdictForm(request.POST)
        if not form.is_valid():
            return self._page(request, conversation, typed=request.POST, refusal=form.sentence())
        given = form.cleaned_data
        newest = Verdict.objects.filter(conversation=conversation).exclude(reviewer=request.user).first()
        if newest is not None and newest.pk > (given["seen"] or 0):
            sentence = f"{newest} since you opened this page. Look at it, then decide again."
            return self._page(request, conversation, typed=request.POST, refusal=sentence)
        decision = Decision(given["decision"])
        Review.objects.decide([conversation.pk], request.user, decision, note=given["note"], labels=given["labels"])
        messages.success(request, f"Written down: you {decision.label}.")
        return redirect(page_url(conversation.pk, request.POST.get(KEPT, "")))

    def file_view(
        self, request: StaffRequest, conversation_id: uuid.UUID, attachment_id: uuid.UUID
    ) -> HttpResponseBase:
        """The bytes of a file of this conversation; a graph of a transcript that was just read needs no line."""
        conversation = self._readable(request, conversation_id)
        attachment = Attachment.objects.filter(pk=attachment_id).first()
        if attachment is None or not holds(conversation, attachment):
            raise Http404
        reason = guard.held_reason(request, conversation.pk)
        if reason is None:
            return HttpResponse("Open the conversation with a reason first.", status=403, content_type="text/plain")
        since = timezone.now() - NOTED_ONCE_WITHIN
        read = AccessEntry.objects.filter(reader=request.user, conversation=conversation, created_at__gt=since)
        if not read.filter(action=AccessEntry.Action.READ).exists():
            guard.note(request, [conversation], AccessEntry.Action.FILE, reason=reason, detail=attachment.name)
        return content_response(request, attachment)


def holds(conversation: Conversation, attachment: Attachment) -> bool:
    """Whether a file stands in a conversation; those of a live answer stand in its log alone until it ends."""
    drawn = TurnEvent.objects.filter(turn__conversation=conversation, name=TurnEvent.ATTACHMENT)
    return (
        MessageAttachment.objects.filter(message__conversation=conversation, attachment=attachment).exists()
        or Part.objects.filter(message__conversation=conversation, attachment=attachment).exists()
        or drawn.filter(data__attachment_id=str(attachment.pk)).exists()
    )


def page_url(conversation_id: uuid.UUID, kept: str = "", *, is_sent: bool = False) -> str:
    """A conversation's review page, with the list's filters and the way of showing."""
    url = reverse("admin:chat_conversation_change", args=[conversation_id])
    query = {**({KEPT: kept} if kept else {}), **({"as": "sent"} if is_sent else {})}
    return f"{url}?{urlencode(query)}" if query else url


def _uuid(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None
