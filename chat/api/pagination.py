"""Cursor pagination: each page of a list holds the URL of the next one."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from chat.api.serializers.fields import QueryIntegerField, StrictQuerySerializer
from chat.models import ListPosition
from chat.vocabulary.parts import JSONObject

PAGE_SIZE = 50
PAGE_SIZE_LIMIT = 100

CURSOR_PATTERN = r"^[0-9]{1,16}_[0-9a-f]{32}(_[0-9])?\Z"
"""Microseconds since 1970, the id of a row, and its rank in a search. Every text that matches can be decoded."""
CURSOR_HELP = "Where the page begins. Use `next` of the page before instead of making a cursor."
NEXT_HELP = "URL of the next page, relative to the server. Null on the last page."

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def encode_cursor(position: ListPosition) -> str:
    """Return the cursor for a position in a list."""
    rank = f"_{position.rank}" if position.rank else ""
    return f"{(position.updated_at - EPOCH) // timedelta(microseconds=1)}_{position.conversation_id.hex}{rank}"


def decode_cursor(cursor: str) -> ListPosition:
    """Return the position from a cursor, which must match CURSOR_PATTERN."""
    microseconds, conversation_id, *rank = cursor.split("_")
    updated_at = EPOCH + timedelta(microseconds=int(microseconds))
    return ListPosition(updated_at, uuid.UUID(conversation_id), int(rank[0]) if rank else 0)


class PageQuerySerializer(StrictQuerySerializer):
    """The query parameters of every list."""

    limit = QueryIntegerField(
        required=False,
        min_value=1,
        max_value=PAGE_SIZE_LIMIT,
        default=PAGE_SIZE,
        help_text="The most results on one page. A page of long messages or instructions has fewer.",
    )


class ListQuerySerializer(PageQuerySerializer):
    """The query parameters of lists that are ordered by the time of the last change."""

    cursor = serializers.RegexField(
        CURSOR_PATTERN,
        required=False,
        help_text=CURSOR_HELP,
        error_messages={"invalid": "This link to the next page is not valid. Open the list from the beginning."},
    )

    def validate_cursor(self, cursor: str) -> ListPosition:
        """Return the decoded position."""
        return decode_cursor(cursor)


def page_response(request: Request, results: Sequence[JSONObject], cursor: str | None) -> Response:
    """Return the response with a page. `cursor`: where the next page begins; `None` on the last page."""
    next_url = None
    if cursor is not None:
        next_url = f"{request.path}?{urlencode({**request.query_params.dict(), 'cursor': cursor})}"
    return Response({"results": results, "next": next_url})
