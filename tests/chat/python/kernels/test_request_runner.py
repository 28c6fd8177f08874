"""How requests end: by their last messages, by an interrupt, or with their kernel. A fake connection is the kernel."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import pytest

from chat.python.kernels import request_runner
from chat.python.kernels.channel_messages import Message
from chat.python.kernels.kernel_api import EndReport, KernelApi
from chat.python.kernels.kernel_websocket import KernelWebSocket
from chat.python.kernels.pending_execution import PendingExecution, set_done
from chat.python.kernels.request_runner import End, RequestRunner

NEVER_S = 600.0
"""Longer than a test may take."""
TEST_LIMIT_S = 60.0


def answer(request: PendingExecution, channel: str, kind: str, **content: object) -> None:
    """Pass a message of the kernel to a request."""
    request.receive(Message(channel, kind, request.request_id, "kernel", content), is_from_server=False)


def begin(request: PendingExecution) -> None:
    """Report that the kernel works on a request."""
    answer(request, "iopub", "status", execution_state="busy")


def end(request: PendingExecution) -> None:
    """Report the end of a request: both messages arrive together."""
    answer(request, "shell", "execute_reply", status="ok")
    answer(request, "iopub", "status", execution_state="idle")


class FakeWebSocket(KernelWebSocket):
    """Passes requests to a function, which plays the kernel."""

    def __init__(self, play: Callable[[FakeWebSocket, str, PendingExecution], None]) -> None:
        """`play` gets each request with its kind."""
        self.play = play
        self.kinds: list[str] = []
        self.end = asyncio.get_running_loop().create_future()
        self.end_reason = ""
        self.cell: PendingExecution | None = None

    async def send(self, channel: str, kind: str, content: Mapping[str, object], request: PendingExecution) -> None:
        """Play the request."""
        self.kinds.append(kind)
        if kind == "execute_request":
            self.cell = request
        self.play(self, kind, request)

    def forget(self, request: PendingExecution) -> None:
        """Do nothing."""

    def abort(self) -> None:
        """End the connection."""
        set_done(self.end)


class FakeKernelApi(KernelApi):
    """A kernel that its server knows."""

    def __init__(self) -> None:
        """Count interrupts by the server."""
        self.interrupts = 0

    async def model(self) -> Mapping[str, object]:
        """Return that the kernel exists."""
        return {}

    async def interrupt(self) -> None:
        """Count."""
        self.interrupts += 1

    async def end_report(self) -> EndReport:
        """Return that it lives."""
        return EndReport("", has_ended=False)


@pytest.fixture(autouse=True)
def short_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait shortly for what never comes, and for ever for what must not be waited for."""
    monkeypatch.setattr(request_runner, "INTERRUPT_GRACE_S", 0.1)
    monkeypatch.setattr(request_runner, "_INTERRUPT_REPLY_S", 0.01)
    monkeypatch.setattr(request_runner, "_LAST_MESSAGES_S", NEVER_S)


async def run(
    play: Callable[[FakeWebSocket, str, PendingExecution], None], limit_s: float = NEVER_S
) -> tuple[End, FakeWebSocket, bool]:
    """Run one request; return why it ended, the connection, and whether the kernel was shut down."""
    is_shut_down = False

    def begin_shut_down() -> asyncio.Task[None]:
        nonlocal is_shut_down
        is_shut_down = True
        return asyncio.create_task(asyncio.sleep(0))

    connection = FakeWebSocket(play)
    runner = RequestRunner(connection, FakeKernelApi(), begin_shut_down)
    async with asyncio.timeout(TEST_LIMIT_S):
        reason = await runner.run({}, PendingExecution(), limit_s)
    assert runner.is_alive is not is_shut_down
    return reason, connection, is_shut_down


async def test_request_is_completed_when_its_last_messages_arrive_together() -> None:
    def play(connection: FakeWebSocket, kind: str, request: PendingExecution) -> None:
        begin(request)
        asyncio.get_running_loop().call_soon(end, request)

    reason, _, is_shut_down = await run(play)
    assert (reason, is_shut_down) == (End.COMPLETED, False)


async def test_request_that_exceeds_its_time_limit_is_interrupted_once() -> None:
    def play(connection: FakeWebSocket, kind: str, request: PendingExecution) -> None:
        if kind == "execute_request":
            begin(request)
        else:
            answer(request, "control", "interrupt_reply")
            assert connection.cell
            end(connection.cell)

    reason, connection, is_shut_down = await run(play, 0.01)
    assert (reason, is_shut_down) == (End.LATE, False)
    assert connection.kinds == ["execute_request", "interrupt_request"]


async def test_interrupt_that_has_no_effect_is_repeated() -> None:
    def play(connection: FakeWebSocket, kind: str, request: PendingExecution) -> None:
        if kind == "execute_request":
            begin(request)
            return
        answer(request, "control", "interrupt_reply")
        if connection.kinds.count("interrupt_request") == 2:
            assert connection.cell
            end(connection.cell)

    reason, connection, is_shut_down = await run(play, 0.01)
    assert (reason, is_shut_down) == (End.LATE, False)
    assert connection.kinds == ["execute_request", "interrupt_request", "interrupt_request"]


@pytest.mark.parametrize("has_begun", [True, False])
async def test_kernel_that_ignores_interrupts_is_ended_after_one_grace_period(has_begun: bool) -> None:
    """Code in C may take the interpreter's lock before the kernel can say that it has begun."""

    def play(connection: FakeWebSocket, kind: str, request: PendingExecution) -> None:
        if kind == "execute_request" and has_begun:
            begin(request)

    reason, connection, is_shut_down = await run(play, 0.01)
    assert (reason, is_shut_down) == (End.LATE, True)
    assert connection.kinds == ["execute_request", "interrupt_request", "interrupt_request"]


async def test_request_that_waits_for_another_cell_gets_its_own_grace_period() -> None:
    def play(connection: FakeWebSocket, kind: str, request: PendingExecution) -> None:
        if kind == "execute_request":
            return
        answer(request, "control", "interrupt_reply")
        assert connection.cell
        if connection.cell.start.done():
            end(connection.cell)
        else:
            begin(connection.cell)

    reason, connection, is_shut_down = await run(play, 0.01)
    assert (reason, is_shut_down) == (End.LATE, False)
    assert connection.kinds == ["execute_request", "interrupt_request", "interrupt_request"]


async def test_cell_with_a_flood_of_output_is_interrupted_and_its_kernel_stays() -> None:
    def play(connection: FakeWebSocket, kind: str, request: PendingExecution) -> None:
        if kind == "execute_request":
            begin(request)
            set_done(request.flood)
            return
        answer(request, "control", "interrupt_reply")
        assert connection.cell
        answer(connection.cell, "shell", "execute_reply", status="error")
        asyncio.get_running_loop().call_later(
            0.01, lambda cell: answer(cell, "iopub", "status", execution_state="idle"), connection.cell
        )

    reason, _, is_shut_down = await run(play)
    assert (reason, is_shut_down) == (End.FLOODED, False)
