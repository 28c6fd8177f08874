"""Runs all code of the pinned conversations that were chosen for this again at night, each in a new kernel.

The conversations run one after the other. `manage.py run_pinned_again` calls this. Each block gets a verdict, as if its
owner had run everything again.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from channels.db import database_sync_to_async
from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Now

from chat.models import Conversation, ConversationQuerySet, Turn
from chat.python.kernels.errors import KernelGone
from chat.python.kernels.outputs import Execution
from chat.python.reruns import rows
from chat.python.reruns.earlier_blocks import BlockVerdict, compare_with_answer, summary
from chat.python.reruns.new_kernel import run_in_new_kernel, took_too_long
from chat.python.reruns.recorded_outputs import output_of
from chat.python.reruns.rerun import NOTHING_RAN
from chat.python.sessions.branch import CodeBlock, replay_codes
from chat.python.sessions.errors import SessionUnavailable
from chat.python.sessions.files import SessionFile, session_files
from chat.python.sessions.places import close_client

INTERVAL = timedelta(hours=12)
"""Minimum time between two runs of a conversation, so that the command may be repeated in a night."""
LEASE_KEY = "run_pinned_again"
LEASE_MARGIN_S = 120
"""Seconds for the start of a kernel and for storing results, in addition to the limit of the code."""


class RunsElsewhere(Exception):
    """Another process runs the code of pinned conversations."""


class _Left(Exception):
    """The conversation was deleted or unpinned, or an answer is being written in it."""


@dataclass(slots=True)
class _Run:
    conversation_id: uuid.UUID
    owner_id: int
    blocks: list[CodeBlock]
    files: list[SessionFile]
    verdicts: list[BlockVerdict] = field(default_factory=list)

    async def compare(self, block: CodeBlock, execution: Execution) -> None:
        """Store the verdict of a block that has ended.

        Raises _Left if the conversation was deleted or unpinned, or an answer is being written in it.
        """
        # On another thread than live turns, because storage may be slow.
        await database_sync_to_async(self._store_verdict, thread_sensitive=False)(block, execution)

    def _store_verdict(self, block: CodeBlock, execution: Execution) -> None:
        if not _fitting().filter(pk=self.conversation_id).exists():
            raise _Left
        comparison = compare_with_answer(block, output_of(execution))
        if comparison and rows.store_verdict(block.message_id, block.part_index, comparison):
            self.verdicts.append(BlockVerdict(block.message_id, block.part_index, comparison))


async def run_pinned() -> AsyncIterator[str]:
    """Run the code of each conversation that is due, and yield its worst verdict; an empty text if it has none.

    Raises RunsElsewhere if another process does this now, and KernelsUnavailable if a kernel cannot be started.
    """
    in_thread = database_sync_to_async
    if not await in_thread(cache.add)(LEASE_KEY, True, _lease_s()):
        raise RunsElsewhere
    try:
        for conversation_id in await in_thread(_due)():
            await in_thread(cache.touch)(LEASE_KEY, _lease_s())
            run = await in_thread(_begin)(conversation_id)
            if run is not None and (result := await _run(run)) is not None:
                yield result["verdict"]
    finally:
        await close_client()
        await in_thread(cache.delete)(LEASE_KEY)


async def _run(run: _Run) -> Mapping[str, str] | None:
    """Run the code and store the result; return `None` if the run was given up (`_Left`)."""
    # If the run ends in another way, the result stays `None`, and the next command repeats the run.
    result: Mapping[str, str] | None = None
    limit = asyncio.timeout(settings.TURN_LIMIT_S)
    try:
        async with limit:
            await run_in_new_kernel(run.owner_id, run.blocks, run.files, run.compare)
        result = _result(run)
    except (KernelGone, SessionUnavailable) as refusal:
        result = _result(run, str(refusal))
    except TimeoutError:
        if not limit.expired():
            raise
        result = _result(run, took_too_long())
    except _Left:
        pass
    finally:
        await database_sync_to_async(_end, thread_sensitive=False)(run.conversation_id, result)
    return result


def _result(run: _Run, error: str = "") -> Mapping[str, str]:
    counted = summary(run.verdicts) if run.verdicts else None
    return {
        "verdict": counted.verdict.value if counted else "",
        "detail": error or (counted.detail if counted else NOTHING_RAN),
    }


def _fitting() -> ConversationQuerySet:
    """Return the conversations that may run now: pinned, chosen for the night, owner active, and no live answer."""
    pinned = Conversation.objects.kept().in_use().filter(nightly=True, pinned_at__isnull=False, owner__is_active=True)
    return pinned.exclude(Exists(Turn.objects.filter(conversation=OuterRef("pk"), status__in=Turn.LIVE)))


def _due() -> list[uuid.UUID]:
    """Return the ids of the conversations that did not run last night, with the longest waiting one first."""
    due = _fitting().filter(Q(nightly_at__isnull=True) | Q(nightly_at__lt=Now() - INTERVAL))
    return list(due.order_by(F("nightly_at").asc(nulls_first=True), "pk").values_list("pk", flat=True))


def _begin(conversation_id: uuid.UUID) -> _Run | None:
    """Store that the run begins, and return it; `None` if the code may no longer run."""
    if not _fitting().filter(pk=conversation_id).update(nightly_at=Now(), nightly_result=None):
        return None
    owner_id = Conversation.with_deleted.values_list("owner", flat=True).get(pk=conversation_id)
    return _Run(conversation_id, owner_id, replay_codes(conversation_id), session_files(conversation_id))


def _end(conversation_id: uuid.UUID, result: Mapping[str, str] | None) -> None:
    with transaction.atomic():
        # Open pages reload when the revision changes. It must not change while an answer is live.
        conversation = Conversation.with_deleted.select_for_update().filter(pk=conversation_id).first()
        if conversation is None:
            return
        conversation.nightly_result = result
        conversation.nightly_at = conversation.nightly_at if result else None
        conversation.revision += not rows.has_live_turn(conversation_id)
        conversation.save(update_fields=["nightly_result", "nightly_at", "revision"])


def _lease_s() -> float:
    return settings.TURN_LIMIT_S + LEASE_MARGIN_S
