"""What is done with many conversations of the queue at once."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone

from attachments.models import PendingUpload
from attachments.tasks import retry_now
from chat.admin import guard, results
from chat.admin.guard import ReasonForm, StaffRequest
from chat.admin.queue import QueueAdmin
from chat.exports.as_zip import export_all
from chat.exports.sending import download_response
from chat.models import AccessEntry, Conversation, Decision, Message, MessageAttachment, Part, Review

BATCH = 200
REVIEWERS_LIMIT = 500

Chosen = QuerySet[Conversation]


class ReviewerForm(forms.Form):
    """To whom."""

    reviewer = forms.ModelChoiceField(queryset=User.objects.none(), empty_label=None)

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        self.fields["reviewer"].queryset = reviewers()  # type: ignore[attr-defined]


def reviewers() -> QuerySet[User]:
    """Staff who may write verdicts."""
    found = User.objects.with_perm("chat.change_review", is_active=True, include_superusers=True)
    return found.filter(is_staff=True).order_by("username")


if TYPE_CHECKING:
    _Base = QueueAdmin
else:
    _Base = object


class BulkAdmin(_Base):
    """The actions of `ConversationAdmin`."""

    actions = ("take", "assign", "approve", "flag", "export", "export_results", "try_storage_again")

    def has_retry_permission(self, request: HttpRequest) -> bool:
        """As in the list of files."""
        return bool(request.user.has_perm("attachments.change_pendingupload"))

    @admin.action(description="Assign to me", permissions=["review"])
    def take(self, request: StaffRequest, chosen: Chosen) -> None:
        """They are in review then."""
        self._decide(request, chosen, Decision.TAKEN)

    @admin.action(description="Assign to a reviewer…", permissions=["review"])
    def assign(self, request: StaffRequest, chosen: Chosen) -> HttpResponse | None:
        """Ask to whom first."""
        form = ReviewerForm(request.POST if "confirmed" in request.POST else None)
        if not form.is_valid():
            return self._ask(request, "Assign to a reviewer", chosen, form)
        self._decide(request, chosen, Decision.ASSIGNED, assignee=form.cleaned_data["reviewer"])
        return None

    @admin.action(description="Approve", permissions=["review"])
    def approve(self, request: StaffRequest, chosen: Chosen) -> None:
        """All of them."""
        self._decide(request, chosen, Decision.APPROVED)

    @admin.action(description="Flag", permissions=["review"])
    def flag(self, request: StaffRequest, chosen: Chosen) -> None:
        """All of them."""
        self._decide(request, chosen, Decision.FLAGGED)

    @admin.action(description="Export as zip", permissions=["view"])
    def export(self, request: StaffRequest, chosen: Chosen) -> HttpResponse | StreamingHttpResponse:
        """All formats of each, made while they are sent; where reasons are asked for, ask first."""
        reason = ""
        if settings.REVIEW_NEEDS_REASON:
            form = ReasonForm(request.POST if "confirmed" in request.POST else None)
            if not form.is_valid():
                return self._ask(request, "Export conversations", chosen, form)
            reason = form.cleaned_data["reason"]
        exported = noted(request, ids_of(chosen), reason)
        return download_response(export_all(exported, timezone.now()))

    @admin.action(description="Export review results as CSV", permissions=["view"])
    def export_results(self, request: StaffRequest, chosen: Chosen) -> StreamingHttpResponse:
        """One line for each, made while it is sent."""
        return download_response(results.export(request, ids_of(chosen), timezone.now()))

    @admin.action(description="Try storage of their files again now", permissions=["retry"])
    def try_storage_again(self, request: StaffRequest, chosen: Chosen) -> None:
        """Make uploads due at once that storage has not confirmed."""
        retried = 0
        for ids in batches(ids_of(chosen)):
            links = MessageAttachment.objects.filter(message__conversation__in=ids).values("attachment")
            parts = Part.objects.filter(message__conversation__in=ids, attachment__isnull=False).values("attachment")
            retried += retry_now(PendingUpload.objects.filter(Q(pk__in=links) | Q(pk__in=parts)).order_by())
        self.message_user(request, f"{plural(retried, 'upload')} tried again now.", messages.SUCCESS)

    def _decide(
        self, request: StaffRequest, chosen: Chosen, decision: Decision, *, assignee: User | None = None
    ) -> None:
        decided = sum(
            Review.objects.decide(ids, request.user, decision, assignee=assignee) for ids in batches(ids_of(chosen))
        )
        self.message_user(request, f"Written down for {plural(decided, 'conversation')}.", messages.SUCCESS)

    def _ask(self, request: StaffRequest, title: str, chosen: Chosen, form: forms.Form) -> HttpResponse:
        """A page with a form, which sends the same action with what is filled in."""
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": title,
            "count": chosen.order_by().count(),
            "form": form,
            "action": request.POST.get("action", ""),
            "select_across": request.POST.get("select_across", "0"),
            "chosen": request.POST.getlist(ACTION_CHECKBOX_NAME),
            "action_name": ACTION_CHECKBOX_NAME,
        }
        return TemplateResponse(request, "admin/chat/conversation/bulk.html", context)


def ids_of(chosen: Chosen) -> list[uuid.UUID]:
    """In the list's order."""
    return list(chosen.select_related(None).values_list("pk", flat=True))


def batches(ids: list[uuid.UUID]) -> Iterator[list[uuid.UUID]]:
    """A few at a time."""
    return (ids[start : start + BATCH] for start in range(0, len(ids), BATCH))


def noted(request: HttpRequest, ids: list[uuid.UUID], reason: str) -> Iterator[Conversation]:
    """Conversations to be exported, each written down in the access log before the first byte of it is made.

    Those without a message are left out, and one that is deleted meanwhile.
    """
    for pk in ids:
        said = Message.objects.filter(conversation=OuterRef("pk"))
        conversation = Conversation.objects.filter(Exists(said), pk=pk).first()
        if conversation is not None:
            guard.note(request, [conversation], AccessEntry.Action.EXPORTED, reason=reason)
            yield conversation


def plural(count: int, noun: str) -> str:
    """Such as `3 uploads`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
