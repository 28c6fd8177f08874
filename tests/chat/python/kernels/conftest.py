"""One kernel for all tests of a module, and files that are read in it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from chat.python.kernels.client import JupyterClient, KernelClient
from chat.python.kernels.in_kernel.table_source import Choices
from chat.python.kernels.table_reading import TableReading
from tests.chat.python.kernels.cells import LONG_S, chunks
from tests.kernel_service import shared_service


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kernel() -> AsyncIterator[KernelClient]:
    """Return a kernel that has pandas as `pd`. Readings of tables leave no traces in it."""
    client = JupyterClient(shared_service())
    async with client.new_kernel() as kernel:
        # The first import may print what is missing in the sandbox.
        await kernel.execute("import json, pandas as pd, pyarrow")
        yield kernel
    await client.aclose()


async def read_table(kernel: KernelClient, name: str, data: bytes, choices: Choices | None = None) -> TableReading:
    """Write a file into the kernel and read it there."""
    return await kernel.read_table(await kernel.write_file(name, chunks(data)), choices or {}, limit_s=LONG_S)
