"""Begins and cancels cells of a kernel, and yields the bytes of its files."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from chat.python.kernels.client import KernelClient
from chat.python.kernels.outputs import Execution

LONG_S = 120.0
"""A time limit that no cell reaches, even on a busy machine."""


async def chunks(*parts: bytes) -> AsyncIterator[bytes]:
    """Yield these bytes, for `KernelClient.write_file`."""
    for part in parts:
        yield part


async def begin_cell(kernel: KernelClient, code: str) -> asyncio.Task[Execution]:
    """Start a cell, and return it once it has written something."""
    has_begun = asyncio.Event()
    cell = asyncio.create_task(kernel.execute(code, limit_s=LONG_S, on_output=lambda _: has_begun.set()))
    await has_begun.wait()
    return cell


async def cancel_cell(cell: asyncio.Task[Execution]) -> None:
    """Cancel a running cell, and wait until the call has ended."""
    assert not cell.done()
    cell.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cell
