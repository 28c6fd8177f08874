"""Review results as CSV: a line for each conversation, safe to open in a spreadsheet, made while it is sent."""

from __future__ import annotations

import csv
import io
import uuid
from collections.abc import Iterator
from datetime import datetime

from django.http import HttpRequest

from chat.admin import guard
from chat.admin.queue import UNKNOWN, in_queue
from chat.exports.download import Download
from chat.models import Conversation, Verdict

BATCH = 200
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

#: What a spreadsheet takes for the beginning of a formula, or strips and then does.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\x00", "＝", "＋", "－", "＠")


def safe_cell(value: object) -> str:
    """Text that no spreadsheet runs: preceded by an apostrophe where it would. Numbers of ours are never below zero."""
    text = str(value)
    return f"'{text}" if text.lstrip(" ").startswith(FORMULA) else text


def export(request: HttpRequest, ids: list[uuid.UUID], exported_at: datetime) -> Download:
    """Of these, in this order; without titles and notes that the reader needs a reason for."""
    return Download(f"reviews-{exported_at:%Y-%m-%d}.csv", "text/csv; charset=utf-8", _chunks(request, ids))


def _chunks(request: HttpRequest, ids: list[uuid.UUID]) -> Iterator[bytes]:
    yield _lines([COLUMNS])
    for start in range(0, len(ids), BATCH):
        yield _lines(_rows(request, ids[start : start + BATCH]))


def _lines(rows: Iterator[tuple[object, ...]] | list[tuple[str, ...]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_MINIMAL).writerows([safe_cell(value) for value in row] for row in rows)
    return text.getvalue().replace("\x00", "").encode(errors="replace")


def _rows(request: HttpRequest, ids: list[uuid.UUID]) -> Iterator[tuple[object, ...]]:
    found = Conversation.objects.select_related("owner").in_bulk(ids)
    known = in_queue(ids)
    last = {verdict.conversation_id: verdict for verdict in Verdict.objects.filter(conversation__in=ids).order_by("pk")}
    for pk in ids:
        conversation, verdict = found.get(pk), last.get(pk)
        if conversation is None:
            continue
        shown = known.get(pk, UNKNOWN)
        # A note may quote what it is about.
        is_open = guard.held_reason(request, pk) is not None
        yield (
            pk,
            guard.shown_title(request, conversation),
            conversation.owner.get_username(),
            conversation.created_at.isoformat(timespec="seconds"),
            conversation.updated_at.isoformat(timespec="seconds"),
            shown.state,
            shown.assignee,
            ", ".join(shown.labels),
            shown.messages,
            shown.tokens,
            shown.last_status,
            shown.good,
            shown.bad,
            verdict.decision if verdict else "",
            verdict.reviewer_name if verdict else "",
            verdict.created_at.isoformat(timespec="seconds") if verdict else "",
            verdict.note if verdict and is_open else "",
        )
