"""One turn, from its request to its end: the page to read first.

    prepare    rows -> request                               history, on a thread of its own
    stream     request -> events                             provider
    collect    events -> changes                             LiveTurn, pure assembler inside
    store      changes -> log, then frames                   group commit
    end        done | stopped | failed | interrupted         the log folded into rows

Whatever happens, what came is kept and the turn ends. Cancelling the task that runs this closes the upstream
request; the end is stored all the same.
"""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing

from channels.db import database_sync_to_async
from django.conf import settings

from attachments.store import BytesUnavailable
from chat.models import Turn
from chat.providers import get_provider
from chat.providers.base import ProviderError
from chat.turns import history
from chat.turns.group_commit import GroupCommit
from chat.turns.live_turn import LiveTurn

logger = logging.getLogger(__name__)

_readers = ThreadPoolExecutor(max_workers=16, thread_name_prefix="history")


class AnswerTooLong(Exception):
    """An answer passed the size that one message may have."""


async def run_turn(turn: LiveTurn, commits: GroupCommit) -> None:
    """Generate one answer; returns once its end is stored."""
    try:
        async with asyncio.timeout(settings.TURN_LIMIT_S):
            await _collect(turn, commits)
    except asyncio.CancelledError:
        turn.end(Turn.Status.STOPPED if turn.is_stopping else Turn.Status.INTERRUPTED)
    except ProviderError as error:
        logger.warning("turn %s: %s: %s", turn.turn.pk, error.code, error.detail)
        turn.end(Turn.Status.FAILED, error_code=error.code, error_detail=error.detail)
    except history.FilesTooLarge as error:
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
    commits.touch()
    await turn.settled.wait()


async def _collect(turn: LiveTurn, commits: GroupCommit) -> None:
    # Not on the store's thread: old graphs may be read from a storage that is slow.
    prepare = database_sync_to_async(history.prepare, thread_sensitive=False, executor=_readers)
    prepared = await prepare(turn.turn.pk)
    async with aclosing(get_provider(prepared.provider).stream(prepared.request)) as events:
        async for event in events:
            turn.add(event)
            commits.touch()
            if turn.text_chars > settings.ANSWER_LIMIT_CHARS or turn.data_bytes > settings.ANSWER_DATA_LIMIT_BYTES:
                raise AnswerTooLong
