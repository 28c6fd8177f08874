"""Plotline's server, with a clock at each stage of an answer's first part: `python -m bench.staged_server OPTIONS`.

It takes the options of `config.serve`. For each answer it adds a line to `stages.jsonl` in the folder of its data: a
JSON object with the milliseconds from the question's receipt to the end of each stage. One answer at a time.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from config import serve  # sets up Django, which the next imports need

# isort: split
from django.conf import settings

from bench.stages import STAGES_FILE, Stage
from chat.answering.prompt import history
from chat.answering.prompt.rows import read_rows
from chat.answering.toolbox import Toolbox
from chat.answering.turns import runner, store
from chat.answering.turns.live_turn import LiveTurn
from chat.answering.turns.start import create_turns
from chat.answering.turns.store import StoreResult, TurnWrite
from chat.consumers import ConversationConsumer
from chat.page.relay import broadcast
from chat.page.relay.follower import Follower
from chat.page.relay.frames import Frame, Step

P = ParamSpec("P")
T = TypeVar("T")


class Clock:
    """The stages of one answer."""

    def __init__(self) -> None:
        self._began_s = 0.0
        self._ends_ms: dict[Stage, float] = {}

    def begin(self) -> None:
        """Begin with a new answer."""
        self._began_s, self._ends_ms = time.perf_counter(), {}

    def mark(self, stage: Stage) -> None:
        """Note the first end of a stage. The last stage writes the line."""
        if stage in self._ends_ms:
            return
        self._ends_ms[stage] = (time.perf_counter() - self._began_s) * 1000
        if stage is Stage.SENT:
            with (settings.VAR_DIR / STAGES_FILE).open("a") as file:
                file.write(json.dumps(self._ends_ms) + "\n")

    def after(self, function: Callable[P, T], stage: Stage) -> Callable[P, T]:
        """Return the function with a mark at its end."""

        @wraps(function)
        def marked(*args: P.args, **kwargs: P.kwargs) -> T:
            try:
                return function(*args, **kwargs)
            finally:
                self.mark(stage)

        return marked

    def after_async(self, function: Callable[P, Awaitable[T]], stage: Stage) -> Callable[P, Awaitable[T]]:
        """Return the asynchronous function with a mark at its end."""

        @wraps(function)
        async def marked(*args: P.args, **kwargs: P.kwargs) -> T:
            try:
                return await function(*args, **kwargs)
            finally:
                self.mark(stage)

        return marked


def install(clock: Clock) -> None:
    """Put the clock into the functions that end a stage."""
    receive, publish, send, write = ConversationConsumer.receive, broadcast.publish, Follower._send, store.write

    async def begin(
        consumer: ConversationConsumer, text_data: str | None = None, bytes_data: bytes | None = None
    ) -> None:
        if '"send"' in (text_data or ""):
            clock.begin()
        await receive(consumer, text_data, bytes_data)

    async def write_and_mark(writes: Sequence[TurnWrite], *, lease_owner: str) -> list[StoreResult | Exception]:
        results = await write(writes, lease_owner=lease_owner)
        if any(one.has_first_part for one in writes):
            clock.mark(Stage.PART_STORED)
        return results

    def publish_and_mark(frame: Frame) -> None:
        if isinstance(frame, Step):
            clock.mark(Stage.RENDERED)
        publish(frame)

    async def send_and_mark(follower: Follower, text: str, position: Any) -> None:  # noqa: ANN401 - passed on
        await send(follower, text, position)
        if position.seq:
            clock.mark(Stage.SENT)

    names: list[tuple[object, str, object]] = [
        (ConversationConsumer, "receive", begin),
        (runner, "create_turns", clock.after(create_turns, Stage.START_STORED)),
        (runner, "read_rows", clock.after(read_rows, Stage.ROWS_READ)),
        (Toolbox, "state", clock.after_async(Toolbox.state, Stage.STATE_READ)),
        (history, "prepare", clock.after(history.prepare, Stage.REQUEST_MADE)),
        (LiveTurn, "add", clock.after(LiveTurn.add, Stage.FIRST_EVENT)),
        (store, "write", write_and_mark),
        (broadcast, "publish", publish_and_mark),
        (Follower, "_send", send_and_mark),
    ]
    for owner, name, function in names:
        setattr(owner, name, function)


if __name__ == "__main__":
    install(Clock())
    serve.main(sys.argv[1:])
