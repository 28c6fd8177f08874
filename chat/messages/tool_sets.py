"""The protocol of tool sets: functions that the tool loop offers to a model, and runs."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Protocol, TypeAlias, runtime_checkable

from django.conf import settings

from chat.models import Conversation, Turn
from chat.providers.requests import FunctionTool
from chat.vocabulary.parts import FunctionCall, FunctionResponse
from chat.vocabulary.stream_events import ToolOutput


class ToolFailed(Exception):
    """A call could not be carried out. The text is sent to the model as the result, and shown to the reader.

    No person has to release this text, and it is also sent in private conversations. So it must contain nothing that
    the tool has read or computed.
    """


def results_need_release(conversation: Conversation) -> bool:
    """Return whether a person must release each result of a call before a model gets it. This holds for all tool sets.

    The conversation may require it, or the server for all conversations. The tool loop then holds back every
    `FunctionResponse`, and no request contains what code wrote or showed.
    """
    return settings.RESULTS_NEED_APPROVAL or conversation.release == Conversation.Release.ASK


class ToolSet(Protocol):
    """Functions of one kind, for one turn."""

    def declarations(self) -> Sequence[FunctionTool]:
        """Return the functions. Their names are unique among all tool sets."""
        ...

    def needs_approval(self, call: FunctionCall) -> bool:
        """Return whether a person must approve this call before it runs."""
        ...

    def run(self, call: FunctionCall) -> AsyncGenerator[list[ToolOutput], None]:
        """Carry out a call whose arguments are a JSON object.

        Yields parts that show the progress to the reader, and a `FunctionResponse` for the model as the last part. The
        tool loop gives them the `call_id` of the call.
        While code runs, its output is yielded as `CodeExecutionResult`s without an outcome, between graphs and rich
        outputs. Code that changes what it showed before yields `OutputsRedrawn` with all of it. The last result
        contains the outcome, and all output since the beginning or none. Raises ToolFailed if the call is impossible.
        Closing the generator, or cancelling the task that iterates over it, ends the call.
        """
        ...

    async def state(self, *, with_data: bool) -> str:
        """Return a text about what the tools hold, for the end of the next request; it may be empty.

        `with_data`: whether it may contain what results contain, such as names and values. It may not if results need a
        release, or if the data are private.
        A tool set whose state cannot be read is left out of the text.
        """
        ...

    async def aclose(self) -> None:
        """Release what the turn used."""
        ...


@runtime_checkable
class OutlivesTurns(Protocol):
    """A tool set whose calls may run on after the death of the process that began them, for example in a kernel."""

    async def abandon(self) -> None:
        """End the calls of a turn whose process has died, because nobody waits for their results.

        This is called after the turn has ended, on a new tool set, in any process. If a turn ends in its own process,
        `ToolSet.run` ends its calls.
        """
        ...


@runtime_checkable
class KeepsDataPrivate(Protocol):
    """A tool set that can remove private data from its results. From other tool sets, a model gets no results in a
    private conversation.
    """

    async def private_response(self, call: FunctionCall, response: FunctionResponse) -> FunctionResponse:
        """Return the response to a call without rows, cells and texts of files. Computed results may stay."""
        ...


ToolSetFactory: TypeAlias = Callable[[Turn], ToolSet | Awaitable[ToolSet | None] | None]
"""Makes the tool set for a turn, or returns `None` if the turn does not get it. It may be asynchronous.

`settings.TOOL_SETS` holds dotted paths to factories.
"""
