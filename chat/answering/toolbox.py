"""All tool sets of one turn."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from django.conf import settings
from django.utils.module_loading import import_string

from chat.messages.tool_sets import OutlivesTurns, ToolSet, ToolSetFactory, results_need_release
from chat.models import Turn
from chat.providers.requests import FunctionTool
from chat.vocabulary.parts import FunctionCall

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The functions that a turn offers, and the tool sets that run them."""

    tool_sets: tuple[ToolSet, ...] = ()
    functions: tuple[FunctionTool, ...] = ()
    with_data: bool = True
    """True if the text about the tools may contain what results contain, such as names and values."""
    _by_name: dict[str, ToolSet] = field(default_factory=dict)

    def tool_set_for(self, call: FunctionCall) -> ToolSet | None:
        """Return the tool set that has the function of a call."""
        return self._by_name.get(call.name)

    async def state(self) -> str:
        """Return the texts of the tool sets about their state, joined for the next request."""
        states = []
        for tool_set in self.tool_sets:
            try:
                states.append(await tool_set.state(with_data=self.with_data))
            except Exception:  # a tool that fails must not end the answer
                logger.exception("the state of %s could not be read", type(tool_set).__name__)
        return "\n\n".join(state for state in states if state)


@asynccontextmanager
async def open_toolbox(turn: Turn) -> AsyncGenerator[Toolbox, None]:
    """Make the tool sets of a turn, and close them after the block."""
    factories: list[ToolSetFactory] = [import_string(path) for path in settings.TOOL_SETS]
    async with AsyncExitStack() as stack:
        tool_sets = []
        for factory in factories:
            made = factory(turn)
            tool_set = await made if isinstance(made, Awaitable) else made
            if tool_set is not None:
                stack.push_async_callback(tool_set.aclose)
                tool_sets.append(tool_set)
        offered = [(function, tool_set) for tool_set in tool_sets for function in tool_set.declarations()]
        by_name = {function.name: tool_set for function, tool_set in offered}
        with_data = not (results_need_release(turn.conversation) or turn.private_data)
        yield Toolbox(tuple(tool_sets), tuple(function for function, _ in offered), with_data, by_name)


async def abandon_calls(turn: Turn) -> None:
    """End the calls that the tool sets of a turn still run, because the process of the turn has died and the turn has
    ended.

    `turn`: with its conversation and both messages. If a tool set fails, the error is logged.
    """
    async with open_toolbox(turn) as toolbox:
        for tool_set in toolbox.tool_sets:
            if isinstance(tool_set, OutlivesTurns):
                try:
                    await tool_set.abandon()
                except Exception:
                    logger.exception("%s could not end the calls of turn %s", type(tool_set).__name__, turn.pk)
