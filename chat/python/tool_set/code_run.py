"""Runs code in the Python session, and yields its output as parts while it runs.

It is used for calls of models, for code of persons, and for blocks of answers that run again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Generic, TypeVar

from chat.python.tool_set.outputs import OutputParts
from chat.vocabulary.stream_events import ToolOutput

T = TypeVar("T")

logger = logging.getLogger(__name__)


class CodeRun(Generic[T]):
    """One run of code."""

    result: T
    """The value that the run has returned. It is set when all parts have been read."""

    def __init__(self, run: Callable[[OutputParts], Coroutine[None, None, T]]) -> None:
        """Prepare a run. `run`: a function that runs the code and adds its outputs to the given `OutputParts`."""
        self._run = run
        self.outputs = OutputParts()

    async def parts(self) -> AsyncGenerator[list[ToolOutput], None]:
        """Run the code, and yield its outputs as they arrive. Raises the error of the run if it fails.

        Closing the generator, or cancelling the task that reads it, interrupts the code and waits until it has stopped.
        """
        task = asyncio.create_task(self._run(self.outputs))
        task.add_done_callback(lambda _: self.outputs.wake())
        try:
            while not task.done():
                await self.outputs.wait()
                if parts := self.outputs.take():
                    yield parts
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task})
                if not task.cancelled() and (error := task.exception()):
                    logger.warning("code that was stopped has failed: %r", error)
        self.result = task.result()
