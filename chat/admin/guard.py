"""The guard before everything that people said: who may read it, whether a reason is asked for, and the access log.

A reading is written down before anything is shown. With REVIEW_NEEDS_REASON a reason is asked for first; it holds for
that conversation in that session of the reader, for an hour, and its owner sees it.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.conf import settings
from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.contrib.auth.models import User
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone

from chat.admin.read_only import ModelAdmin, ReadOnly
from chat.forms import PlainTextField, SentencesForm
from chat.models import AccessEntry, Conversation
from chat.models.reviews import REASON_LIMIT

REASON_HOLDS_S = 3600
HELD_AT_ONCE = 200
"""Of one session; the oldest are forgotten first."""

SHORT_ID_DIGITS = 8
_KEPT = "review_reasons"


class StaffRequest(HttpRequest):
    """A request behind the admin's login."""

    user: User


class ReasonForm(SentencesForm):
    """Why somebody wants to read."""

    reason = PlainTextField(
        max_length=REASON_LIMIT,
        widget=forms.Textarea(attrs={"rows": 2, "autofocus": True}),
        error_messages={
            "required": "Say why you need to read it.",
            "max_length": f"A reason can have at most {REASON_LIMIT} characters.",
        },
    )


def may_read(request: HttpRequest) -> bool:
    """Whether they review at all."""
    return bool(request.user.has_perm("chat.view_conversation"))


def held_reason(request: HttpRequest, conversation_id: uuid.UUID) -> str | None:
    """What they gave; empty where none is needed, None where it must be asked for."""
    if not settings.REVIEW_NEEDS_REASON:
        return ""
    return _held(request).get(conversation_id.hex)


def hold_reason(request: HttpRequest, conversation_id: uuid.UUID, reason: str) -> None:
    """From now on, for an hour."""
    kept = request.session.get(_KEPT, {})
    kept[conversation_id.hex] = [reason, timezone.now().timestamp() + REASON_HOLDS_S]
    newest = sorted(kept.items(), key=lambda item: item[1][1])[-HELD_AT_ONCE:]
    request.session[_KEPT] = dict(newest)


def opened_ids(request: HttpRequest) -> list[uuid.UUID]:
    """The conversations that a reason holds for."""
    return [uuid.UUID(hex=known) for known in _held(request)]


def _held(request: HttpRequest) -> dict[str, str]:
    now = timezone.now().timestamp()
    return {known: reason for known, (reason, until) in request.session.get(_KEPT, {}).items() if until > now}


def note(
    request: HttpRequest, conversations: Iterable[Conversation], action: str, *, reason: str = "", detail: str = ""
) -> None:
    """Write it into the access log."""
    assert isinstance(request.user, User)
    AccessEntry.objects.note(request.user, conversations, action, reason=reason, detail=detail)


def opened(request: HttpRequest, conversation: Conversation, detail: str = "") -> HttpResponse | None:
    """Write a reading down, None then; or the way to the page that asks for the reason."""
    reason = held_reason(request, conversation.pk)
    if reason is None:
        asked = reverse("admin:chat_conversation_reason", args=[conversation.pk])
        return redirect(f"{asked}?{urlencode({'next': request.get_full_path()})}")
    note(request, [conversation], AccessEntry.Action.READ, reason=reason, detail=detail)
    return None


def short_id(pk: uuid.UUID) -> str:
    """How rows are told apart where nothing of them may be shown."""
    return pk.hex[:SHORT_ID_DIGITS]


def shown_title(request: HttpRequest, conversation: Conversation) -> str:
    """Its title, which is made of what was said: without the reason that is asked for, its id."""
    if held_reason(request, conversation.pk) is None:
        return f"Conversation {short_id(conversation.pk)}"
    return str(conversation)


class DeclaredLookups:
    """Lists are filtered by what they declare and by nothing else: any other column would answer questions about it."""

    show_facets = admin.ShowFacets.NEVER
    show_full_result_count = False

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Django's own would allow every column of the model."""
        names: set[str] = set()
        for declared in self.get_list_filter(request):  # type: ignore[attr-defined]
            if isinstance(declared, type) and issubclass(declared, admin.ListFilter):
                names.update(getattr(declared, "parameter_names", ()) or [getattr(declared, "parameter_name", "")])
            else:
                names.add(declared[0] if isinstance(declared, tuple) else declared)
        return any(lookup == name or lookup.startswith(f"{name}__") for name in names)


class ContentAdmin(DeclaredLookups, ReadOnly, ModelAdmin):
    """Rows that hold what people said. Lists show none of it; a row's page is a reading of its conversation."""

    def conversation_of(self, row: Any) -> Conversation:  # noqa: ANN401 - whichever model it is
        """Where it was said."""
        raise NotImplementedError

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """The model's own permission, and that to review."""
        return super().has_view_permission(request, obj) and may_read(request)

    def _opened(self, request: HttpRequest, object_id: str) -> HttpResponse | None:
        row = self.get_object(request, unquote(object_id))
        if row is None or not self.has_view_permission(request, row):
            return None  # Django's own view says so
        return opened(request, self.conversation_of(row), detail=str(self.opts.verbose_name))

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Its page."""
        if request.method == "POST":
            return super().change_view(request, object_id, form_url, extra_context)
        return self._opened(request, object_id) or super().change_view(request, object_id, form_url, extra_context)

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """What the admin did with it."""
        return self._opened(request, object_id) or super().history_view(request, object_id, extra_context)
