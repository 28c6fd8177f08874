"""Cells of private files stay in the kernel, however code prints them, and results come through."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from chat.python.kernels.client import KernelClient
from chat.python.kernels.outputs import DisplayOutput, ErrorOutput, TextOutput
from tests.chat.python.kernels.cells import chunks
from tests.chat.python.kernels.private_tables import (
    ANALYSES,
    READ,
    REGIONS,
    SALES,
    SAVED,
    WAYS,
    WAYS_OF_FORMATS,
    Canaries,
    make_canaries,
    make_sales,
)

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.drill]
LABEL = re.compile(r"\[text \d+\]")
NUMBER = re.compile(r"\d[\d.,]*")


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


async def find_leaks(kernel: KernelClient, canaries: Canaries, name: str, ways: Sequence[str]) -> list[str]:
    """Print the table in these ways, filter the texts, and return what is left of canaries in them."""
    shown: set[str] = set()
    leaks = []
    for way in ways:
        texts = await show(kernel, READ + way)
        shown.update(*map(canaries.leaks, texts))
        filtered = await kernel.without_cells(texts, {name: canaries.text}, known=READ + way)
        assert "[withheld" not in "".join(filtered)
        leaks += [f"{name}, {way}: {leak}" for text in filtered for leak in canaries.leaks(text)]
    print(f"{name}: {len(shown)} of {canaries.count} canaries were shown in {len(ways)} ways; {len(leaks)} leaks")
    assert len(shown) > canaries.count * 0.9
    return leaks


@pytest.mark.parametrize("seed", range(5))
async def test_no_canary_value_of_a_private_csv_file_leaves_the_kernel(kernel: KernelClient, seed: int) -> None:
    canaries = make_canaries(seed)
    assert canaries.count >= 1_000
    await kernel.write_file("c.csv", chunks(canaries.text.encode()))
    assert await find_leaks(kernel, canaries, "c.csv", WAYS) == []


@pytest.mark.parametrize("saved", SAVED)
async def test_no_canary_value_of_a_private_file_in_another_format_leaves_the_kernel(
    kernel: KernelClient, saved: str
) -> None:
    canaries = make_canaries(100 + SAVED.index(saved))
    await kernel.write_file("c.csv", chunks(canaries.text.encode()))
    await show(kernel, READ + saved)
    name = saved[saved.index("'x.") + 1 :].partition("'")[0]
    assert await find_leaks(kernel, canaries, name, WAYS_OF_FORMATS) == []


async def test_private_filter_does_not_hide_results_of_analyses(kernel: KernelClient) -> None:
    total = lost = 0
    for seed in range(10):
        await kernel.write_file("s.csv", chunks(make_sales(seed).encode()))
        pairs: set[tuple[str, str]] = set()
        for code in ANALYSES:
            texts = await show(kernel, SALES + code)
            filtered = await kernel.without_cells(texts, {"s.csv": f"{seed}"}, known=SALES + code)
            raw, left = "\n".join(texts), "\n".join(filtered)
            numbers, kept = len(NUMBER.findall(raw)), len(NUMBER.findall(re.sub(r"\[text \d+\]", "", left)))
            total, lost = total + numbers, lost + numbers - kept
            if numbers != kept:
                print(f"table {seed}: {numbers - kept} of {numbers} numbers are hidden: {code}")
            lines = zip(raw.splitlines(), left.splitlines(), strict=False)
            pairs |= {
                (one, label[0])
                for line, filtered_line in lines
                for one in REGIONS
                if line.startswith(one) and (label := LABEL.match(filtered_line))
            }
        assert len(pairs) == len({label for _, label in pairs}) == len({region for region, _ in pairs}) > 1
    print(f"{lost} of {total} numbers of {10 * len(ANALYSES)} results are hidden by chance")
    assert lost < total / 100
