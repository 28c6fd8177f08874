"""Cells of private files stay in the kernel, however code prints them, and results come through."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from chat.python.kernels.client import JupyterClient, KernelClient
from chat.python.kernels.outputs import DisplayOutput, ErrorOutput, TextOutput
from tests.chat.python.kernels.private_tables import ANALYSES, READ, SALES, WAYS, make_canaries, make_sales
from tests.kernel_service import shared_service

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.drill]
NUMBER = re.compile(r"\d[\d.,]*")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def kernel() -> AsyncIterator[KernelClient]:
    client = JupyterClient(shared_service())
    async with client.new_kernel() as kernel:
        yield kernel
    await client.aclose()


async def put(kernel: KernelClient, name: str, text: str) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield text.encode()

    await kernel.write_file(name, pieces())


async def show(kernel: KernelClient, code: str) -> list[str]:
    """Run a cell and return its texts."""
    texts = []
    for output in (await kernel.execute(code)).outputs:
        match output:
            case TextOutput(_, text):
                texts.append(text)
            case ErrorOutput(name, value, traceback):
                texts += [name, value, traceback]
            case DisplayOutput(bundle):
                texts += [str(value) for kind, value in bundle.items() if kind.startswith("text/")]
    return texts


async def test_no_canary_leaves_the_kernel(kernel: KernelClient) -> None:
    canaries = make_canaries(7)
    assert canaries.count >= 1_000
    await put(kernel, "c.csv", canaries.text)
    await kernel.without_cells([], {"c.csv": "1"})
    shown: set[str] = set()
    leaks = {}
    for way in WAYS:
        texts = await show(kernel, READ + way)
        shown.update(*map(canaries.leaks, texts))
        filtered = await kernel.without_cells(texts, {"c.csv": "1"}, known=READ + way)
        if found := [leak for text in filtered for leak in canaries.leaks(text)]:
            leaks[way] = found[:5], len(found), "\n".join(filtered)[:600]
    print(f"{len(WAYS)} ways showed {len(shown)} of {canaries.count} canaries; {len(leaks)} ways leaked")
    for way, leak in leaks.items():
        print(way, leak)
    assert leaks == {}
    assert len(shown) > canaries.count * 0.95


async def test_results_come_through(kernel: KernelClient) -> None:
    masked = {}
    total = lost = 0
    for seed in range(10):
        await put(kernel, "s.csv", make_sales(seed))
        labels: dict[str, str] = {}
        for code in ANALYSES:
            texts = await show(kernel, SALES + code)
            filtered = await kernel.without_cells(texts, {"s.csv": f"{seed}"}, known=SALES + code)
            raw, left = "\n".join(texts), "\n".join(filtered)
            numbers, kept = len(NUMBER.findall(raw)), len(NUMBER.findall(re.sub(r"\[text \d+\]", "", left)))
            total, lost = total + numbers, lost + numbers - kept
            if numbers != kept or "[number]" in left or "lines with rows" in left:
                masked[seed, code] = numbers - kept, raw[:1000], left[:1000]
    print(f"{lost} of {total} numbers are hidden by chance, in {len(masked)} of {10 * len(ANALYSES)} results")
    for key, value in masked.items():
        print(key, *value, sep="\n")
