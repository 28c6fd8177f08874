"""Decides which messages of a long conversation the review page shows, and builds the links to the others."""

from __future__ import annotations

import uuid

from django.http import HttpRequest

from chat.messages.records import message_chars
from chat.models import Message
from chat.page.readers import GroupPlace
from chat.page.transcript.window import SNAPSHOT_CHARS, SNAPSHOT_MESSAGES, Window, within

FIRST = "from"
"""The URL parameter with the index of the first message."""


def page_of(
    path: list[uuid.UUID], request: HttpRequest, version_id: uuid.UUID | None, near: GroupPlace | None
) -> Window:
    """Return the range of a path that a request shows: as many messages as a snapshot may hold.

    `near`: a group of blocks of a message, from the URL. The range begins with this message, or else at the index in
    the URL. Without both, it begins with the first message, or with the version if the page would not reach it.
    """
    if near and near.message_id in path:
        return _page_from(path, path.index(near.message_id))
    digits = request.GET.get(FIRST, "")[:9]
    window = _page_from(path, min(int(digits) if digits.isdecimal() else 0, len(path)))
    if version_id in path[window.last :] and not digits:
        return _page_from(path, path.index(version_id))
    return window


def _page_from(path: list[uuid.UUID], first: int) -> Window:
    ids = path[first : first + SNAPSHOT_MESSAGES]
    chars = message_chars(Message.objects.filter(pk__in=ids))
    return within(Window(first, first + len(ids)), [chars.get(pk, 0) for pk in ids], SNAPSHOT_CHARS, near=first)


def links(window: Window, count: int, request: HttpRequest) -> dict[str, str]:
    """Return the links to the first page and to the next one; empty if not needed. `count`: messages of the path."""
    return {
        "first_url": _url(request, 0) if window.first else "",
        "later_url": _url(request, window.last) if window.last is not None and window.last < count else "",
    }


def group_url(request: HttpRequest, place: GroupPlace) -> str:
    """Return the link to the page that shows a group of blocks of a long answer."""
    query = request.GET.copy()
    query.pop(FIRST, None)
    query["at"] = place.name
    return f"?{query.urlencode()}#{place.element_id}"


def _url(request: HttpRequest, first: int) -> str:
    query = request.GET.copy()
    query[FIRST] = str(first)
    return f"?{query.urlencode()}"
