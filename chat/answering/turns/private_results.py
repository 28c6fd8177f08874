"""Filters the results of calls for models in private conversations. The reader sees them unfiltered.

This holds for all tool sets. If a tool set cannot filter its results (`KeepsDataPrivate`), they are withheld.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from chat.messages.tool_sets import KeepsDataPrivate, ToolSet
from chat.models import Turn
from chat.vocabulary.parts import FunctionCall, FunctionResponse, Refusal
from chat.vocabulary.stream_events import ToolOutput

logger = logging.getLogger(__name__)

PRIVATE = "The call was run. Its result is private, so only the user sees it."


class BecamePrivate(Exception):
    """The data of the conversation became private while its answer waited for a decision."""


def check_still_allowed(turn: Turn) -> None:
    """Raise BecamePrivate if the turn's answer may contain data that its model may not get any more."""
    if turn.conversation.is_private and not turn.private_data:
        raise BecamePrivate


async def private_outputs(tool_set: ToolSet, call: FunctionCall) -> AsyncGenerator[list[ToolOutput], None]:
    """Run a call as `ToolSet.run` does. Its response contains no data of files."""
    # When this generator is closed, the inner one must be closed too, because that interrupts the call.
    async with aclosing(tool_set.run(call)) as lists:
        async for parts in lists:
            yield [
                await _private_response(tool_set, call, part) if isinstance(part, FunctionResponse) else part
                for part in parts
            ]


async def _private_response(tool_set: ToolSet, call: FunctionCall, response: FunctionResponse) -> FunctionResponse:
    if isinstance(tool_set, KeepsDataPrivate):
        try:
            return replace(await tool_set.private_response(call, response), refusal=Refusal.PRIVATE)
        except Exception:  # what cannot be filtered is withheld, and the answer goes on
            logger.exception("the result of %s could not be made private", call.name)
    return replace(response, result={"note": PRIVATE}, refusal=Refusal.PRIVATE)
