"""One turn, from its request to its end: the page to read first.

    prepare    rows -> request                               history, on a thread of its own
    stream     request -> events                             provider
    collect    events -> changes                             LiveTurn, pure assembler inside
    store      changes -> log, then frames                   group commit
    again      nothing came, and it may yet                  attempts says when, and what is changed for it
    end        done | stopped | failed | interrupted         the log folded into rows

Whatever happens, what came is kept and the turn ends. Cancelling the task that runs this closes the upstream
request; the end is stored all the same.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from channels.db import database_sync_to_async
from django.conf import settings

from attachments.store import BytesUnavailable, read_bytes
from chat.catalogue.missing import mark_found, mark_missing
from chat.models import Turn
from chat.parts import StreamEvent
from chat.providers import get_provider
from chat.providers.base import ModelNotFound, ProviderError
from chat.turns import history, sent_files
from chat.turns.attempts import Again, Attempts, Replay
from chat.turns.group_commit import GroupCommit
from chat.turns.history import Prepared
from chat.turns.live_turn import LiveTurn
from chat.turns.sent_files import FilesTooLarge

P = ParamSpec("P")
T = TypeVar("T")

logger = logging.getLogger(__name__)

REPLAYED_IMAGES = 4
"""Of an image model: it is asked to change them."""

_readers = ThreadPoolExecutor(max_workers=16, thread_name_prefix="history")


class AnswerTooLong(Exception):
    """An answer passed the size that one message may have."""


async def run_turn(turn: LiveTurn, commits: GroupCommit, prepared: Prepared | None = None) -> None:
    """Generate one answer; returns once its end is stored. `prepared`: its request, where there is one already."""
    try:
        async with asyncio.timeout(settings.TURN_LIMIT_S):
            await _answer(turn, commits, prepared)
    except asyncio.CancelledError:
        turn.end(Turn.Status.STOPPED if turn.is_stopping else Turn.Status.INTERRUPTED)
    except ProviderError as error:
        logger.warning("turn %s: %s: %s", turn.turn.pk, error.code, error.detail)
        turn.fail(error)
    except FilesTooLarge as error:
        turn.end(Turn.Status.FAILED, error_code="files_too_large", error_detail=str(error))
    except BytesUnavailable as error:
        turn.end(Turn.Status.FAILED, error_code="file_unavailable", error_detail=str(error))
    except (TimeoutError, AnswerTooLong):
        turn.end(Turn.Status.FAILED, error_code="limit")
    except Exception:  # the one place where any fault of ours must still end in words
        logger.exception("turn %s failed", turn.turn.pk)
        turn.end(Turn.Status.FAILED, error_code="internal")
    else:
        # An upstream that just ends, without saying why, was cut.
        is_whole = bool(turn.answer.finish_reason or turn.answer.block_reason)
        turn.end(Turn.Status.DONE if is_whole else Turn.Status.INTERRUPTED)
    commits.touch(turn)
    await turn.settled.wait()
    await _mark_model(turn)


async def _mark_model(turn: LiveTurn) -> None:
    """Note in the catalogue whether the provider has the model."""
    row = turn.turn
    if row.error_code == ModelNotFound.code:
        await _in_thread(mark_missing, row.provider, row.model)
    elif turn.setup.is_missing and row.status == Turn.Status.DONE:
        await _in_thread(mark_found, row.provider, row.model)


async def _answer(turn: LiveTurn, commits: GroupCommit, prepared: Prepared | None) -> None:
    """Ask until there is an answer, or no hope of one. Raises what the last attempt raised."""
    attempts = Attempts(
        Replay(graphs=settings.REPLAYED_GRAPHS, images=REPLAYED_IMAGES),
        limit=settings.PROVIDER_ATTEMPTS,
        first_pause_s=settings.PROVIDER_RETRY_PAUSE_S,
        longest_pause_s=settings.PROVIDER_RETRY_LIMIT_S,
        jitter=random.random,
    )
    while True:
        sent_graphs = False
        again: Again | None
        try:
            prepared = prepared or await _prepare(turn, attempts.replay)
            sent_graphs = prepared.has_graphs
            turn.note_left_out(prepared.left_out)
            commits.touch(turn)
            await _collect(turn, commits, prepared)
        except ProviderError as error:
            again = None if turn.has_heard else attempts.after_failure(error, sent_graphs=sent_graphs)
            if again is None:
                raise
            logger.info("turn %s is asked again: %s: %s", turn.turn.pk, error.code, error.detail)
        else:
            again = attempts.after_blank(turn.answer.finish_reason) if turn.answer.is_blank else None
            if again is None:
                return
        prepared = None
        await _pause(turn, commits, again)


async def _prepare(turn: LiveTurn, replay: Replay) -> Prepared:
    # Not on the store's thread: old graphs may be read from a storage that is slow.
    prepared = await _in_thread(history.prepare, turn.turn, replay)
    if not prepared.to_keep:
        return prepared
    provider = get_provider(prepared.provider)
    for attachment in prepared.to_keep:
        accepted = provider.accepted_type(attachment.mime_type)
        data = sent_files.as_sent(await _in_thread(read_bytes, attachment), accepted)
        kept = await provider.keep_file(data, mime_type=accepted, name=attachment.name)
        await _in_thread(sent_files.remember, attachment, provider.account, kept)
    return await _in_thread(history.prepare, turn.turn, replay)


async def _collect(turn: LiveTurn, commits: GroupCommit, prepared: Prepared) -> None:
    chars_limit, bytes_limit = settings.ANSWER_LIMIT_CHARS, settings.ANSWER_DATA_LIMIT_BYTES

    def take(said: list[StreamEvent]) -> None:
        for event in said:
            turn.add(event)
        commits.touch(turn)
        if turn.text_chars > chars_limit or turn.data_bytes > bytes_limit:
            raise AnswerTooLong

    await get_provider(prepared.provider).generate(prepared.request, take, turn.rest)


async def _pause(turn: LiveTurn, commits: GroupCommit, again: Again) -> None:
    turn.restart(again.sentence)
    commits.touch(turn)
    if again.forget_files:
        account = get_provider(turn.turn.provider).account
        await _in_thread(sent_files.forget, turn.turn.conversation_id, account)
    await asyncio.sleep(again.pause_s)


async def _in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    call = database_sync_to_async(function, thread_sensitive=False, executor=_readers)
    result: T = await call(*args, **kwargs)
    return result
