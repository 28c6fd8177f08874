"""Controls how staff read what people wrote: the permission, the reason for reading, and the access log.

A read is logged before anything is shown, unless the same one was logged within `REPEAT_INTERVAL`. With the setting
REVIEW_NEEDS_REASON, staff must enter a reason first. It is valid for one conversation and one login session, for an
hour. The owner of the conversation can see it.
"""

from __future__ import annotations

import uuid
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from chat.models import AccessEntry, Conversation, User

REASON_LIFETIME_S = 3600
REASONS_LIMIT = 200
"""Maximum number of reasons that one login session stores; the oldest ones are dropped."""

SHORT_ID_DIGITS = 8
_SESSION_KEY = "review_reasons"


def may_read_conversations(request: HttpRequest) -> bool:
    """Return whether the user has the permission to read other people's conversations."""
    return bool(request.user.has_perm("chat.view_conversation"))


def get_reason(request: HttpRequest, conversation_id: uuid.UUID) -> str | None:
    """Return the user's valid reason to read a conversation.

    The reason is empty if the settings do not require one. `None` means that the user must enter one first.
    """
    if not settings.REVIEW_NEEDS_REASON:
        return ""
    return _valid_reasons(request).get(conversation_id.hex)


def store_reason(request: HttpRequest, conversation_id: uuid.UUID, reason: str) -> None:
    """Store a reason in the login session; it expires after `REASON_LIFETIME_S`."""
    reasons = request.session.get(_SESSION_KEY, {})
    reasons[conversation_id.hex] = [reason, timezone.now().timestamp() + REASON_LIFETIME_S]
    newest = sorted(reasons.items(), key=lambda item: item[1][1])[-REASONS_LIMIT:]
    request.session[_SESSION_KEY] = dict(newest)


def list_ids_with_reason(request: HttpRequest) -> list[uuid.UUID]:
    """Return the ids of the conversations for which this login session has a valid reason."""
    return [uuid.UUID(hex=hex_id) for hex_id in _valid_reasons(request)]


def _valid_reasons(request: HttpRequest) -> dict[str, str]:
    now = timezone.now().timestamp()
    reasons = request.session.get(_SESSION_KEY, {})
    return {hex_id: reason for hex_id, (reason, expires_at) in reasons.items() if expires_at > now}


def log_access(request: HttpRequest, conversation: Conversation, action: str, *, reason: str, detail: str = "") -> None:
    """Add an entry to the access log, unless the same access was logged within `REPEAT_INTERVAL`."""
    assert isinstance(request.user, User)
    AccessEntry.objects.record(request.user, [conversation], action, reason=reason, detail=detail)


def log_read_or_redirect(request: HttpRequest, conversation: Conversation, detail: str = "") -> HttpResponse | None:
    """Log a read and return `None`, or return a redirect to the form that asks for the reason."""
    reason = get_reason(request, conversation.pk)
    if reason is None:
        form_url = reverse("admin:chat_conversation_reason", args=[conversation.pk])
        return redirect(f"{form_url}?{urlencode({'next': request.get_full_path()})}")
    log_access(request, conversation, AccessEntry.Action.READ, reason=reason, detail=detail)
    return None


def shorten_id(pk: uuid.UUID) -> str:
    """Return the first digits of an id, which identify a row on pages that must not show its content."""
    return pk.hex[:SHORT_ID_DIGITS]


def get_visible_title(request: HttpRequest, conversation: Conversation) -> str:
    """Return the title of a conversation, or its short id while the user still has to enter a reason.

    A title is content too: it is generated from what the owner wrote.
    """
    if get_reason(request, conversation.pk) is None:
        return gettext("Conversation %(id)s") % {"id": shorten_id(conversation.pk)}
    return str(conversation)
