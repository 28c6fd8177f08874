"""Stores a run on a newer file: its lease, its results so far, and its end. All functions run on a database thread."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from attachments.models import Attachment
from chat.models import Conversation, NewerFileRun
from chat.models.plain_sql import database_time
from chat.models.user import lock_user

LEASE_S = 15.0
"""Time for which a run counts as running after its process has renewed the lease."""
RUNS_ALREADY = "Code of yours runs on a newer file already. Stop that run, or wait until it is done."
INTERRUPTED = "The server was stopped while this ran. Start it again."


class NewerFileRefused(Exception):
    """The code cannot run with this file. The text is a sentence for the person."""


def begin(conversation: Conversation, replaced: Attachment, newer: Attachment) -> NewerFileRun:
    """Store a run that begins. Raises NewerFileRefused if one of this person runs already, or a file was deleted."""
    try:
        with transaction.atomic():
            lock_user(conversation.owner_id)
            if NewerFileRun.objects.filter(conversation__owner=conversation.owner_id, until__gt=Now()).exists():
                raise NewerFileRefused(RUNS_ALREADY)
            until = database_time() + timedelta(seconds=LEASE_S)
            return NewerFileRun.objects.create(conversation=conversation, replaced=replaced, newer=newer, until=until)
    except IntegrityError:
        # A file was deleted meanwhile.
        raise NewerFileRefused("This file was deleted. Reload the page.") from None


def renew(run_id: uuid.UUID) -> bool:
    """Renew the lease; return False if the run must stop, because its row was deleted."""
    # A late renewal must not change a run that has ended.
    rows = NewerFileRun.objects.filter(pk=run_id, until__isnull=False)
    return rows.update(until=Now() + timedelta(seconds=LEASE_S)) == 1


def store_blocks(run_id: uuid.UUID, blocks: Sequence[Mapping[str, object]]) -> None:
    """Store the verdicts so far."""
    NewerFileRun.objects.filter(pk=run_id).update(blocks=list(blocks))


def end(run_id: uuid.UUID, numbers: Sequence[Mapping[str, object]], error: str) -> None:
    """Store the end of a run. `error`: why not all code ran; empty if all code ran."""
    NewerFileRun.objects.filter(pk=run_id).update(until=None, numbers=list(numbers), error=error)
