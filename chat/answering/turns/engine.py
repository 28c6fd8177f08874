"""One turn from its request to its end. Read this module first.

    prepare     rows -> request                                  prompt.history, on a thread
    stream      request -> events                                the provider, pulled
    collect     events -> changes                                LiveTurn, with the pure assembler inside
    commit      changes -> log, then frames                      group commit
    run tools   function calls -> results, then a new round      tool_loop
    end         the answer -> rows                               finish

A turn ends, or it waits for a decision. In both cases everything that was received is stored, unless the database fails
or another process has taken the turn. Cancelling the task closes the upstream request, and the end is still stored.
"""

from __future__ import annotations

import asyncio
import logging
import random
import uuid
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import ParamSpec, TypeVar

from channels.db import database_sync_to_async
from django.conf import settings

from attachments.code_files import name_in_code
from attachments.store import BytesUnavailable
from chat.answering.code_tools import code_tools
from chat.answering.prompt import history, provider_files
from chat.answering.prompt.file_choice import FilesTooLarge, sent_files
from chat.answering.prompt.history import PreparedRequest
from chat.answering.prompt.refused_files import save_refused
from chat.answering.prompt.replay import Replay
from chat.answering.toolbox import Toolbox, open_toolbox
from chat.answering.turns.engine_choice import may_move
from chat.answering.turns.finish import ERROR_CODES, TurnError, fail_turn
from chat.answering.turns.live_turn import AnswerTooLong, LiveTurn
from chat.answering.turns.log_writer import NotStored
from chat.answering.turns.own_code import run_own_code
from chat.answering.turns.private_results import check_still_allowed
from chat.answering.turns.read_ahead import event_size, show_stream
from chat.answering.turns.retry import Retry, RetryPolicy
from chat.answering.turns.store import TurnLost
from chat.answering.turns.tool_loop import DecisionNeeded, note_round_limit, run_calls
from chat.answering.turns.turn_threads import log_folder
from chat.messages.notices import BLOCKED
from chat.models import Turn
from chat.page.relay import broadcast
from chat.providers import get_provider
from chat.providers.catalogue.missing_models import mark_found, mark_missing
from chat.providers.catalogue.refused_tools import TOOLS_OFF, remember_refusal
from chat.providers.provider_errors import (
    EmptyResponse,
    FileRefused,
    InvalidRequest,
    ModelNotFound,
    ProviderError,
    ToolsUnsupported,
)
from chat.vocabulary.stream_events import Finish

P = ParamSpec("P")
T = TypeVar("T")
logger = logging.getLogger(__name__)

_history_threads = ThreadPoolExecutor(max_workers=16, thread_name_prefix="history")


async def run_turn(turn: LiveTurn) -> None:
    """Generate one answer. Returns when its end is stored or cannot be stored, or when it waits for a decision."""
    try:
        try:
            await _run_in_time(turn)
        except asyncio.CancelledError:
            if turn.is_stopping:
                await turn.end(Turn.Status.STOPPED)
            else:
                await turn.end(Turn.Status.INTERRUPTED, TurnError(turn.interruption))
        except DecisionNeeded:
            await turn.wait()
        except ProviderError as error:
            logger.warning("turn %s: %s", turn.turn.pk, error)
            await turn.end(Turn.Status.FAILED, TurnError.of(error, has_received=turn.has_received))
        except tuple(ERROR_CODES) as error:
            await turn.end(Turn.Status.FAILED, TurnError(ERROR_CODES[type(error)], str(error)))
        except AnswerTooLong:
            await turn.end(Turn.Status.FAILED, TurnError("limit"))
        except (TurnLost, NotStored):
            raise
        except Exception:  # any defect must end the turn with a notice for the user
            logger.exception("turn %s failed", turn.turn.pk)
            await turn.end(Turn.Status.FAILED, TurnError("internal"))
        else:
            # A response without a finish reason was cut off.
            is_complete = turn.answer.current_round.finish is not None
            await turn.end(Turn.Status.DONE if is_complete else Turn.Status.INTERRUPTED)
    except TurnLost:
        logger.warning("turn %s was taken away: its lease had expired", turn.turn.pk)
    except NotStored:
        await _give_up(turn)
    else:
        await _mark_model(turn)


async def _run_in_time(turn: LiveTurn) -> None:
    """Ask the provider, run the function calls of its answer, and ask again, until the answer ends.

    A turn that has waited for a decision continues with the calls of its current round. Raises BecamePrivate, and
    AnswerTooLong once the turn has run for `TURN_LIMIT_S`.
    """
    check_still_allowed(turn.turn)
    try:
        async with asyncio.timeout(settings.TURN_LIMIT_S - turn.turn.run_s) as limit:
            while await _run_with_engine(turn):
                # The code has moved to a tool set. Tool sets are opened again, because this one may now offer its
                # functions.
                await turn.commit()
    except TimeoutError:
        if limit.expired():
            raise AnswerTooLong from None
        raise


async def _run_with_engine(turn: LiveTurn) -> bool:
    """Run rounds until the answer ends, or its code moves to a tool set. Return whether it moved."""
    async with open_toolbox(turn.turn) as toolbox:
        if turn.turn.is_own_code:
            await run_own_code(turn, toolbox)
            return False
        while True:
            reason = ""
            if not turn.answer.calls:
                try:
                    has_functions = await _ask(turn, toolbox)
                except FilesTooLarge:
                    tools = code_tools()
                    if tools is None or not may_move(turn.turn):
                        raise
                    turn.move_code(tools.too_large)
                    return True
                finish = turn.answer.current_round.finish
                is_cut = finish is None or finish is Finish.LENGTH or finish in BLOCKED
                is_last = turn.answer.round_number + 1 >= settings.ROUNDS_LIMIT
                can_move = may_move(turn.turn) and not (is_cut or is_last)
                tools = code_tools() if can_move else None
                reason = tools.reason_to_move(turn.answer.parts_of_round) if tools else ""
                if is_cut or not (reason or (has_functions and turn.answer.unanswered_calls)):
                    return False
            await run_calls(turn, toolbox)
            if turn.answer.round_number + 1 >= settings.ROUNDS_LIMIT:
                note_round_limit(turn)
                return False
            turn.start_round()
            if reason:
                turn.move_code(reason)
                return True


async def _ask(turn: LiveTurn, toolbox: Toolbox) -> bool:
    """Send the request until there is an answer or no retry is left. Return whether functions were declared.

    Raises the error of the last attempt, and EmptyResponse if the last response contains nothing.
    """
    policy = RetryPolicy(
        Replay(),
        limit=settings.PROVIDER_ATTEMPTS,
        first_pause_s=settings.PROVIDER_RETRY_PAUSE_S,
        longest_pause_s=settings.PROVIDER_RETRY_LIMIT_S,
        jitter=random.random,
    )
    waits = not turn.answer.round_number
    retry: Retry | None
    while True:
        prepared: PreparedRequest | None = None
        try:
            prepared = await _prepare(turn, policy.replay, toolbox, waits=waits)
            waits = False
            turn.note_left_out(prepared.left_out)
            turn.note_state(prepared.request.state)
            await _collect(turn, prepared)
        except ProviderError as error:
            files = prepared.earlier_files if prepared else ()
            request = prepared.request if prepared else None
            retry = None if turn.has_received else policy.after_failure(error, sent_files=files, request=request)
            if retry is None:
                if isinstance(error, FileRefused) and prepared and not turn.has_received:
                    await _remember_refused(prepared, prepared.question_files)
                raise
            if isinstance(error, ToolsUnsupported):
                turn.turn_tools_off(TOOLS_OFF.format(label=turn.setup.label))
            logger.info("turn %s is tried again: %s", turn.turn.pk, error)
        else:
            await _remember_refused(prepared, policy.suspected_files)
            retry = _retry_if_blank(turn, policy)
            if retry is None:
                return bool(prepared.request.functions)
        await _pause(turn, retry, prepared)


def _retry_if_blank(turn: LiveTurn, policy: RetryPolicy) -> Retry | None:
    """Return the retry after a blank answer; `None` if the answer is accepted.

    Raises EmptyResponse if no retry is left and the response contained nothing.
    """
    if not turn.answer.is_blank:
        return None
    finish = turn.answer.current_round.finish
    is_empty = finish is None and not turn.answer.parts_of_round
    retry = policy.after_blank(finish, is_empty=is_empty)
    if retry is None and is_empty:
        raise EmptyResponse
    return retry


async def _remember_refused(prepared: PreparedRequest, files: Collection[uuid.UUID]) -> None:
    """Save that the model does not accept these files, so that later requests are not refused for them."""
    if files:
        account, model = prepared.capabilities.account, prepared.request.model
        await _in_thread(save_refused, files, account=account, model=model)


async def _prepare(turn: LiveTurn, replay: Replay, toolbox: Toolbox, *, waits: bool) -> PreparedRequest:
    """Return the request. Files that the provider must store are uploaded first.

    If a file of an earlier message cannot be stored, it is only named. `waits`: whether to wait, for a limited time,
    until attached tables are read.
    """
    state = await toolbox.state()
    rows = await turn.read_prompt_rows()
    if waits and (tools := code_tools()):
        *earlier, question = map(sent_files, rows.records)
        await tools.read_tables(question, [*chain.from_iterable(earlier), *rows.project_files])
    # This runs on a history thread, because reading graphs from storage may be slow.
    prepared = await _in_thread(history.prepare, turn.turn, rows, replay, turn.answer, toolbox.functions, state)
    if not prepared.to_upload:
        return prepared
    provider = get_provider(turn.turn.provider, turn.turn.endpoint)
    for attachment in prepared.to_upload:
        mime_type = prepared.capabilities.accepted_type(attachment.mime_type)
        try:
            data = await _in_thread(provider_files.read_for_upload, attachment, mime_type)
            name = name_in_code(attachment.name, attachment.mime_type)
            uploaded = await provider.upload_file(data, mime_type=mime_type, name=name)
        except (InvalidRequest, BytesUnavailable) as error:
            if isinstance(error, FileRefused):
                await _remember_refused(prepared, {attachment.pk})
            if attachment.pk in prepared.question_files:
                raise
            logger.warning("turn %s goes on without an earlier file: %s", turn.turn.pk, error)
            continue
        await _in_thread(provider_files.save_uploaded, attachment, prepared.capabilities.account, uploaded)
    return await _in_thread(history.prepare, turn.turn, rows, replay, turn.answer, toolbox.functions, state)


async def _collect(turn: LiveTurn, prepared: PreparedRequest) -> None:
    """Read one response, and store and show it while it arrives."""
    provider = get_provider(turn.turn.provider, turn.turn.endpoint)
    turn.request_tokens = prepared.tokens
    await show_stream(turn, provider.stream(prepared.request), event_size, turn.add)
    turn.end_response()


async def _pause(turn: LiveTurn, retry: Retry, prepared: PreparedRequest | None) -> None:
    turn.restart_attempt(retry.sentence)
    await turn.commit()
    if retry.forgets_files and prepared:
        account = prepared.capabilities.account
        await _in_thread(provider_files.forget_uploaded, turn.turn.conversation_id, account)
    await asyncio.sleep(retry.pause_s)


async def _give_up(turn: LiveTurn) -> None:
    """End a turn whose changes cannot be stored, with the answer in its log."""
    logger.exception("turn %s could not be stored", turn.turn.pk)
    try:
        await log_folder.run(fail_turn, turn.turn.pk, lease_owner=broadcast.PROCESS)
    except Exception:
        # The lease expires. When the database is available again, recovery ends the turn as interrupted, with
        # everything that was stored.
        logger.exception("turn %s could not be ended", turn.turn.pk)


async def _mark_model(turn: LiveTurn) -> None:
    """Record in the catalogue whether the provider has the model, and whether it refuses tools."""
    row = turn.turn
    if row.error_code == ModelNotFound.code:
        await _in_thread(mark_missing, row.provider, row.endpoint, row.model)
    elif turn.setup.is_missing and row.status == Turn.Status.DONE:
        await _in_thread(mark_found, row.provider, row.endpoint, row.model)
    if turn.has_refused_tools and row.status == Turn.Status.DONE:
        await _in_thread(remember_refusal, row)


async def _in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    call = database_sync_to_async(function, thread_sensitive=False, executor=_history_threads)
    result: T = await call(*args, **kwargs)
    return result
