"""Actions on many conversations of the review queue at once."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy, ngettext

from attachments.models import PendingUpload
from attachments.tasks import retry_now
from chat.admin.forms import ReasonForm, ReviewerForm
from chat.admin.queue import QueueAdmin
from chat.admin.read_access import log_access
from chat.admin.review_csv import export_results
from chat.library.exports.as_zip import export_all
from chat.library.exports.response import download_response
from chat.models import AccessEntry, Conversation, Message, MessageAttachment, Part, Review, ReviewDecision, User
from chat.people.access import SignedInRequest
from chat.vocabulary.number_text import group_thousands

BATCH_CONVERSATIONS = 200

Conversations: TypeAlias = QuerySet[Conversation]


class BulkActionsAdmin(QueueAdmin):
    """Adds the bulk actions to the review queue."""

    actions: Sequence[str] = ("take", "assign", "approve", "flag", "export", "export_results", "try_storage_again")

    def has_retry_permission(self, request: HttpRequest) -> bool:
        """Return whether the user has the permission `change_pendingupload`."""
        return bool(request.user.has_perm("attachments.change_pendingupload"))

    @admin.action(description=gettext_lazy("Assign to me"), permissions=["review"])
    def take(self, request: SignedInRequest, conversations: Conversations) -> None:
        """Make the user the assignee and put the conversations into review."""
        self._decide(request, conversations, ReviewDecision.TAKEN)

    @admin.action(description=gettext_lazy("Assign to a reviewer…"), permissions=["review"])
    def assign(self, request: SignedInRequest, conversations: Conversations) -> HttpResponse | None:
        """Ask for a reviewer, then make them the assignee."""
        form = ReviewerForm(request.POST if "confirmed" in request.POST else None)
        if not form.is_valid():
            return self._render_form(request, gettext("Assign to a reviewer"), conversations, form)
        self._decide(request, conversations, ReviewDecision.ASSIGNED, assignee=form.cleaned_data["reviewer"])
        return None

    @admin.action(description=gettext_lazy("Approve"), permissions=["review"])
    def approve(self, request: SignedInRequest, conversations: Conversations) -> None:
        """Approve the conversations."""
        self._decide(request, conversations, ReviewDecision.APPROVED)

    @admin.action(description=gettext_lazy("Flag"), permissions=["review"])
    def flag(self, request: SignedInRequest, conversations: Conversations) -> None:
        """Flag the conversations."""
        self._decide(request, conversations, ReviewDecision.FLAGGED)

    @admin.action(description=gettext_lazy("Export as zip"), permissions=["view"])
    def export(self, request: SignedInRequest, conversations: Conversations) -> HttpResponse | StreamingHttpResponse:
        """Send all formats of each conversation as one archive. Ask for a reason first if the settings require one."""
        reason = ""
        if settings.REVIEW_NEEDS_REASON:
            form = ReasonForm(request.POST if "confirmed" in request.POST else None)
            if not form.is_valid():
                return self._render_form(request, gettext("Export conversations"), conversations, form)
            reason = form.cleaned_data["reason"]
        logged = _log_and_yield(request, _list_ids(conversations), reason)
        return download_response(export_all(logged, timezone.now()), request.user.pk)

    @admin.action(description=gettext_lazy("Export review results as CSV"), permissions=["view"])
    def export_results(self, request: SignedInRequest, conversations: Conversations) -> StreamingHttpResponse:
        """Send one CSV row for each conversation."""
        return download_response(export_results(request, _list_ids(conversations), timezone.now()), request.user.pk)

    @admin.action(description=gettext_lazy("Try storage of their files again now"), permissions=["retry"])
    def try_storage_again(self, request: SignedInRequest, conversations: Conversations) -> None:
        """Schedule every unconfirmed upload of the conversations for immediate retry."""
        retried = 0
        for ids in _split_into_batches(_list_ids(conversations)):
            links = MessageAttachment.objects.filter(message__conversation__in=ids).values("attachment")
            parts = Part.objects.filter(message__conversation__in=ids, attachment__isnull=False).values("attachment")
            retried += retry_now(PendingUpload.objects.filter(Q(pk__in=links) | Q(pk__in=parts)).order_by())
        text = ngettext("%(number)s upload tried again now.", "%(number)s uploads tried again now.", retried)
        self.message_user(request, text % {"number": group_thousands(retried)}, messages.SUCCESS)

    def _decide(
        self,
        request: SignedInRequest,
        conversations: Conversations,
        decision: ReviewDecision,
        *,
        assignee: User | None = None,
    ) -> None:
        decided = sum(
            Review.objects.decide(ids, request.user, decision, assignee=assignee)
            for ids in _split_into_batches(_list_ids(conversations))
        )
        text = ngettext(
            "Written down for %(number)s conversation.", "Written down for %(number)s conversations.", decided
        )
        self.message_user(request, text % {"number": group_thousands(decided)}, messages.SUCCESS)

    def _render_form(
        self, request: SignedInRequest, title: str, conversations: Conversations, form: forms.Form
    ) -> HttpResponse:
        """Render a form that submits the same action again, together with the fields of `form`."""
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": title,
            "count": conversations.order_by().count(),
            "form": form,
            "action": request.POST.get("action", ""),
            "select_across": request.POST.get("select_across", "0"),
            "selected_ids": request.POST.getlist(ACTION_CHECKBOX_NAME),
            "checkbox_name": ACTION_CHECKBOX_NAME,
        }
        return TemplateResponse(request, "admin/chat/conversation/bulk_action.html", context)


def _list_ids(conversations: Conversations) -> list[uuid.UUID]:
    """Return the ids in the order of the list."""
    return list(conversations.select_related(None).values_list("pk", flat=True))


def _split_into_batches(ids: list[uuid.UUID]) -> Iterator[list[uuid.UUID]]:
    return (ids[start : start + BATCH_CONVERSATIONS] for start in range(0, len(ids), BATCH_CONVERSATIONS))


def _log_and_yield(request: HttpRequest, ids: list[uuid.UUID], reason: str) -> Iterator[Conversation]:
    """Yield the conversations for an export, and log each access before the export reads the conversation.

    Conversations without messages and those that have been deleted meanwhile are skipped.
    """
    for pk in ids:
        messages_of_it = Message.objects.filter(conversation=OuterRef("pk"))
        conversation = Conversation.objects.filter(Exists(messages_of_it), pk=pk).first()
        if conversation is not None:
            log_access(request, conversation, AccessEntry.Action.EXPORTED, reason=reason)
            yield conversation
