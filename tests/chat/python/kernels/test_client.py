"""Connecting to a kernel that runs already."""

from __future__ import annotations

from typing import cast

import pytest

from chat.python.kernels import client
from chat.python.kernels.client import JupyterClient
from chat.python.kernels.errors import KernelGone
from chat.python.kernels.kernel_api import EndReport
from chat.python.kernels.places import Place
from chat.python.kernels.request_runner import INTERRUPT_GRACE_S


class SilentKernel:
    """A kernel that the server calls idle, and that never answers. It is its own API."""

    kernel_id = "k"

    def __init__(self) -> None:
        """Create a kernel without events."""
        self.events: list[str] = []
        self.waited_s = 0.0

    async def model(self) -> dict[str, object] | None:
        """Return the state until the kernel is shut down."""
        return None if "shut_down" in self.events else {"execution_state": "idle"}

    async def interrupt(self) -> None:
        """Record the call."""
        self.events.append("interrupt")

    async def shut_down(self) -> None:
        """Record the call."""
        self.events.append("shut_down")

    async def end_report(self) -> EndReport:
        """Return what a server says of a kernel that runs."""
        return EndReport("It ended by itself.", has_ended=False)

    async def wait_until_ready(self, limit_s: float) -> bool:
        """Let the time pass."""
        self.waited_s += limit_s
        return False

    async def close(self) -> None:
        """Do nothing."""


async def test_connect_interrupts_a_kernel_that_does_not_answer_twice_and_then_ends_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel = SilentKernel()

    async def find(*_: object) -> SilentKernel:
        return kernel

    monkeypatch.setattr(client.JupyterClient, "_kernel_api", find)
    monkeypatch.setattr(client.JupyterClient, "_open", find)
    with pytest.raises(KernelGone):
        await JupyterClient(cast("Place", None)).connect("k")
    assert kernel.events == ["interrupt", "interrupt", "shut_down"]
    assert kernel.waited_s == 2 * INTERRUPT_GRACE_S
