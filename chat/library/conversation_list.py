"""The context of the templates that show the list of conversations, or the results of a search in it."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import date
from urllib.parse import urlencode

from django.urls import reverse
from django.utils import timezone

from chat.library.list_headings import OPEN, PINNED, ListGroup, group_by_day
from chat.models import Conversation, ConversationQuerySet, ListPosition
from chat.models.form_fields import ListPositionField
from chat.models.full_text.query import parse
from chat.models.list_queries import Group, list_page
from chat.models.ranked_search import search_page
from chat.models.search_results import load_search_results
from chat.people.access import SignedInRequest, conversations_of
from chat.people.time_zones import reader_zone

LIST_PAGE_SIZE, SEARCH_PAGE_SIZE = 40, 20


def list_context(
    request: SignedInRequest,
    *,
    q: str = "",
    group: Group | None = None,
    imported: int | None = None,
    after: ListPosition | None = None,
    day: date | None = None,
    open: uuid.UUID | None = None,
    opened: Conversation | None = None,
) -> dict[str, object]:
    """Return the context of the list's templates. The other arguments are the fields of `ListForm`.

    `opened`: the row of the conversation `open`, if the caller has read it.
    """
    conversations = conversations_of(request.user).kept()
    context: dict[str, object] = {"conversation": {"pk": open}, "searched": q, "group": group, "imported": imported}
    if q:
        return {**context, **_found_context(conversations, request.user.pk, q, after, open)}
    if imported:
        conversations = conversations.filter(imported__pk__gte=imported)
    zone = reader_zone(request)
    # All pages of the list are grouped by the day of the first page, even if one is loaded after midnight.
    today = day or timezone.localdate(timezone=zone)
    # The open conversation, if it belongs to the list, is on the first page, whatever its position is.
    rows = conversations if after is None or open is None else conversations.exclude(pk=open)
    page = list_page(rows, LIST_PAGE_SIZE, group, after)
    groups: list[ListGroup] = []
    if page.pinned:
        groups.append(ListGroup(PINNED, page.pinned, is_begun=after is not None))
    goes_on = after is not None and group is not Group.PINNED
    groups += group_by_day(page.others, today, zone, after=after.updated_at if after and goes_on else None)
    if open is not None and after is None:
        shown = {entry.pk for group_ in groups for entry in group_.entries}
        groups = [*_open_group(conversations, open, opened, group), *groups] if open not in shown else groups
    more_url = _more_url(page.end, group=page.group, imported=imported, day=today, open=open)
    return {**context, "groups": groups, "more_url": more_url}


def _found_context(
    conversations: ConversationQuerySet, owner_id: int, q: str, after: ListPosition | None, open_id: uuid.UUID | None
) -> dict[str, object]:
    """Return the context of a search: one page of its results, and the URL of the next page."""
    terms = parse(q)
    # Instructions can be long, and no result shows them.
    searched = conversations.select_related("project").defer("system_instruction", "project__instruction")
    found = search_page(searched, terms, owner_id, SEARCH_PAGE_SIZE, after)
    return {
        "has_terms": bool(terms),
        "found": load_search_results(found.conversations, terms),
        "more_url": _more_url(found.end, q=q, open=open_id),
    }


def _open_group(
    conversations: ConversationQuerySet, open_id: uuid.UUID, opened: Conversation | None, group: Group | None
) -> Iterator[ListGroup]:
    """Yield a group with the open conversation if it belongs to the list: the archive, or the conversations in use.

    Temporary conversations belong to neither.
    """
    conversation = opened or conversations.filter(pk=open_id).first()
    if conversation is None or conversation.is_temporary:
        return
    if (conversation.archived_at is not None) == (group is Group.ARCHIVED):
        yield ListGroup(OPEN, [conversation])


def _more_url(end: ListPosition | None, **fields: object) -> str:
    """Return the URL of the next page; empty if there is none."""
    if end is None:
        return ""
    query = {name: value for name, value in fields.items() if value}
    return f"{reverse('conversations')}?{urlencode({**query, 'after': ListPositionField.serialize(end)})}"
