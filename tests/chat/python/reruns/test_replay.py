"""Running blocks again."""

from __future__ import annotations

import gc
import uuid
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest

from chat.models import Message
from chat.python.kernels.outputs import Execution, ExecutionStatus, Output, Redrawn, TextOutput
from chat.python.reruns import replay
from chat.python.sessions.run import CellResult


class FakeSessionKernel:
    """Holds a kernel that never ends."""

    def __init__(self, *_: object) -> None:
        """Start nothing."""

    @asynccontextmanager
    async def hold(self, **_: object) -> AsyncGenerator[SimpleNamespace, None]:
        """Yield the kernel."""
        yield SimpleNamespace(loss="")

    async def aclose(self) -> None:
        """Do nothing."""


@pytest.mark.drill
async def test_executions_of_earlier_blocks_are_not_kept_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    alive: list[int] = []
    shown: list[Output | Redrawn] = []

    async def run(held: object, code: str, *, on_output: Callable[[Output], None], **_: object) -> CellResult:
        on_output(TextOutput("stdout", code))
        alive.append(sum(type(one) is Execution for one in gc.get_objects()))
        return CellResult(Execution(ExecutionStatus.OK, (TextOutput("stdout", code),), 0.0, False), ())

    async def has_time_left(owner_id: int | None) -> None:
        pass

    monkeypatch.setattr(replay, "check_kernel_time", has_time_left)
    monkeypatch.setattr(replay, "SessionKernel", FakeSessionKernel)
    monkeypatch.setattr(replay, "run_in_held_kernel", run)
    message = Message(conversation_id=uuid.uuid4())
    codes = [str(number) for number in range(20)]

    async def forget(number: int, execution: Execution) -> None:
        pass

    last = await replay.run_blocks(
        message,
        1,
        codes,
        is_restarted=False,
        on_output=shown.append,
        on_note=lambda sentence: None,
        on_end=forget,
    )
    assert len(alive) == 20
    assert max(alive) <= alive[0] + 1
    assert last.outputs == (TextOutput("stdout", "19"),) == tuple(shown)
