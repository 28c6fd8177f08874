"""Exports review results as CSV with one row for each conversation. Rows are read while the file is sent."""

from __future__ import annotations

import csv
import io
import uuid
from collections.abc import Generator, Iterable, Iterator
from datetime import datetime

from django.http import HttpRequest
from django.utils.translation import override

from chat.admin.queue import EMPTY_ENTRY, load_entries
from chat.admin.read_access import get_reason, get_visible_title
from chat.library.exports.download import Download
from chat.models import Conversation, Verdict

BATCH_CONVERSATIONS = 200
COLUMNS = (
    "conversation",
    "title",
    "user",
    "created_at",
    "updated_at",
    "state",
    "assigned_to",
    "labels",
    "messages",
    "tokens",
    "last_turn",
    "good_answers",
    "bad_answers",
    "last_decision",
    "decided_by",
    "decided_at",
    "note",
)

FORMULA_PREFIXES = ("=", "+", "-", "@", "\t", "\r", "\n", "\x00", "＝", "＋", "－", "＠")
"""Characters with which a spreadsheet begins a formula, or which it strips before it looks for one."""


def escape_cell(value: object) -> str:
    """Return the value as text that a spreadsheet does not evaluate: an apostrophe precedes a possible formula.

    The numbers in the export are never negative, so they are not escaped.
    """
    text = str(value)
    return f"'{text}" if text.lstrip(" ").startswith(FORMULA_PREFIXES) else text


def export_results(request: HttpRequest, ids: list[uuid.UUID], exported_at: datetime) -> Download:
    """Return the results of these conversations in this order.

    Without a required reason of the user, a row has the short id in place of the title, and no note.
    """
    return Download(f"reviews-{exported_at:%Y-%m-%d}.csv", "text/csv; charset=utf-8", _generate_csv(request, ids))


def _generate_csv(request: HttpRequest, ids: list[uuid.UUID]) -> Generator[bytes]:
    yield _encode_rows([COLUMNS])
    for start in range(0, len(ids), BATCH_CONVERSATIONS):
        yield _encode_rows(_read_rows(request, ids[start : start + BATCH_CONVERSATIONS]))


def _encode_rows(rows: Iterable[tuple[object, ...]]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows([escape_cell(value) for value in row] for row in rows)
    return text.getvalue().replace("\x00", "").encode(errors="replace")


def _read_rows(request: HttpRequest, ids: list[uuid.UUID]) -> Iterator[tuple[object, ...]]:
    conversations = Conversation.objects.select_related("owner").in_bulk(ids)
    entries = load_entries(ids)
    verdicts = Verdict.objects.filter(conversation__in=ids).order_by("pk")
    last_verdicts = {verdict.conversation_id: verdict for verdict in verdicts}
    for pk in ids:
        conversation, verdict = conversations.get(pk), last_verdicts.get(pk)
        if conversation is None:
            continue
        entry = entries.get(pk, EMPTY_ENTRY)
        # A note may quote the conversation, so it needs a reason too.
        may_show_note = get_reason(request, pk) is not None
        yield (
            pk,
            _english_title(request, conversation),
            conversation.owner.get_username(),
            conversation.created_at.isoformat(timespec="seconds"),
            conversation.updated_at.isoformat(timespec="seconds"),
            entry.state,
            entry.assignee,
            ", ".join(entry.labels),
            entry.messages,
            entry.tokens,
            entry.last_turn_status,
            entry.good_answers,
            entry.bad_answers,
            verdict.decision if verdict else "",
            verdict.reviewer_name if verdict else "",
            verdict.created_at.isoformat(timespec="seconds") if verdict else "",
            verdict.note if verdict and may_show_note else "",
        )


def _english_title(request: HttpRequest, conversation: Conversation) -> str:
    """Return the title, or a replacement if this reader may not see it; in English, whatever the reader's language."""
    with override("en"):
        return get_visible_title(request, conversation)
