"""Runs a block of code again in this process.

Until the run ends, its output is stored with the message and shown on open pages. Then the verdict replaces it: the
result is the same, differs, or the code failed. No log is kept. A page that misses a frame gets the output with the
next frame, and the verdict when it reads the conversation again.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Coroutine
from contextlib import aclosing

from django.utils import translation

from chat.answering.turns.turn_threads import turn_store
from chat.messages.code_results import shown_text
from chat.models import Message
from chat.page.fragments import rerun_element_id, rerun_swap, socket_message
from chat.page.message_views import RerunView
from chat.page.relay import broadcast
from chat.page.relay.frames import Announcement, UnorderedUpdate
from chat.python.kernels.outputs import Execution
from chat.python.reruns import rows
from chat.python.reruns.verdicts import Comparison
from chat.python.tool_set.code_run import CodeRun
from chat.vocabulary.sanitize import sanitize_text
from chat.vocabulary.stream_events import OutputsRedrawn

logger = logging.getLogger(__name__)

SHOWN_CHARS = 20_000
"""Maximum length of the output that is shown while code runs. Of a longer output, the end is shown."""
FRAME_S = 0.25
FRAMES_PER_RENEWAL = 8
"""If there is no new output, only every eighth frame is stored, to renew the lease of the block."""

_running: dict[tuple[uuid.UUID, int], LiveRerun] = {}
"""Blocks that this process runs again now, by the message and the index of the part."""


async def stop_rerun(message: Message, index: int) -> bool:
    """Stop a block that runs again, in this process or another one; return False if it does not run."""
    if not await turn_store.run(rows.request_stop, message.pk, index):
        # Update pages that still show the block as running: the process that ran it has died.
        broadcast.publish(Announcement(str(message.conversation_id), None, is_whole=True))
        return False
    if live := _running.get((message.pk, index)):
        live.stop()
    return True


class LiveRerun:
    """The output of one block that runs again."""

    def __init__(self, message: Message, index: int, language: str) -> None:
        """Prepare to run a block. `language`: language of the owner's pages."""
        self.message = message
        self._index = index
        self._key = message.pk, index
        self._language = language
        self._output = ""
        self._task: asyncio.Task[Comparison] | None = None
        """The task that runs the block."""
        self._can_be_stopped = True
        """False once the block is being stopped, or its end is being stored."""

    async def begin(self) -> bool:
        """Store and show that the block runs; return False if it may not run now: see `rows.begin`."""
        has_begun = await turn_store.run(rows.begin, self.message.pk, self._index)
        if has_begun:
            _running[self._key] = self
            self._publish()
        return has_begun

    def launch(self, run: Coroutine[None, None, Comparison]) -> asyncio.Task[Comparison]:
        """Start the task that runs the block, and return it."""
        self._task = asyncio.get_running_loop().create_task(run)
        self._task.add_done_callback(self._forget)
        return self._task

    def _forget(self, task: asyncio.Task[Comparison]) -> None:
        if _running.get(self._key) is self:
            del _running[self._key]
        # Read the exception, because the caller may be gone. Otherwise asyncio would log it.
        if not task.cancelled() and (error := task.exception()):
            logger.info("code of message %s was not run again: %r", self.message.pk, error)

    def stop(self) -> None:
        """Cancel the task, which interrupts the code."""
        if self._task and self._can_be_stopped:
            self._can_be_stopped = False
            self._task.cancel()

    async def show(self, run: CodeRun[Execution]) -> Execution:
        """Run the block, and store and show its output. Raises the error of the run if it fails."""
        frames = asyncio.create_task(self._show_repeatedly())
        try:
            async with aclosing(run.parts()) as lists:
                async for parts in lists:
                    for part in parts:
                        # Earlier outputs have changed, so this part holds all of them.
                        if isinstance(part, OutputsRedrawn):
                            self._output = sanitize_text(shown_text(part.parts))[-SHOWN_CHARS:]
                        else:
                            self._output = (self._output + sanitize_text(shown_text([part])))[-SHOWN_CHARS:]
        finally:
            frames.cancel()
            await asyncio.wait({frames})
        return run.result

    async def _show_repeatedly(self) -> None:
        stored, left_out = "", 0
        while True:
            await asyncio.sleep(FRAME_S)
            left_out += 1
            output = self._output
            if output == stored and left_out < FRAMES_PER_RENEWAL:
                continue
            try:
                goes_on = await turn_store.run(rows.note_output, self.message.pk, self._index, output)
            except Exception:
                # The next frame tries again. The code itself does not need the database.
                logger.warning("output of code that runs again could not be stored", exc_info=True)
                continue
            if not goes_on:
                self.stop()
                return
            if output != stored:
                self._publish()
            stored, left_out = output, 0

    async def end(self, comparison: Comparison | None, *, from_start: bool) -> bool:
        """Store and show the verdict; `None` keeps an earlier one. Return False if the message was deleted."""
        self._can_be_stopped = False
        is_stored = await turn_store.run(rows.end, self.message.pk, self._index, comparison, from_start=from_start)
        broadcast.publish(Announcement(str(self.message.conversation_id), None, is_whole=True))
        return is_stored

    def _publish(self) -> None:
        element_id = rerun_element_id(self.message.pk, self._index)
        view = RerunView(element_id, self._index, output=self._output, is_running=True)
        show_on_pages(self.message.conversation_id, view, self._language)


def show_on_pages(conversation_id: uuid.UUID, view: RerunView, language: str) -> None:
    """Show the state of a block on open pages. A page that misses this gets the state at the end of the run."""
    with translation.override(language):
        text = socket_message(rerun_swap(view))
    broadcast.publish(UnorderedUpdate(str(conversation_id), text))
