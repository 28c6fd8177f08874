"""A private table of a million cells is read in seconds."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest

from chat.python.kernels.client import JupyterClient, KernelClient
from chat.python.kernels.outputs import TextOutput
from tests.chat.python.kernels.cells import chunks
from tests.chat.python.kernels.private_tables import SYLLABLES
from tests.kernel_service import shared_service

ROWS = 100_000
LIMIT_S = 3.0
"""The limit of the kernel's processor time, of which other work on the machine needs more; 1.6 s was measured."""


def large_table() -> str:
    """Return ten columns as CSV: names, cities, codes, numbers, days and times."""
    rng = random.Random(7)
    syllables = SYLLABLES["en"] + SYLLABLES["de"]
    cities = ["".join(rng.choices(syllables, k=3)).capitalize() for _ in range(500)]
    lines = ["client,place,segment,account,balance,ratio,joined,age,visits,seen"]
    for _ in range(ROWS):
        names = ["".join(rng.choices(syllables, k=length)).capitalize() for length in (2, 3)]
        joined, seen = (datetime(1990, 1, 1, tzinfo=UTC) + timedelta(seconds=rng.randrange(10**9)) for _ in range(2))
        texts = [" ".join(names), rng.choice(cities), rng.choice(["North", "Ost", "M"])]
        numbers = [f"{rng.randrange(10**8, 10**9)}", f"{rng.lognormvariate(5, 1):.2f}", f"{rng.random():.6f}"]
        lines.append(
            ",".join(
                [*texts, *numbers, f"{joined:%F}", f"{rng.randrange(90)}", f"{rng.randrange(500)}", f"{seen:%F %T}"]
            )
        )
    return "\n".join(lines)


async def processor_s(kernel: KernelClient) -> float:
    [output] = (await kernel.execute("import time; print(time.process_time())")).outputs
    assert isinstance(output, TextOutput)
    return float(output.text)


@pytest.mark.drill
async def test_first_reading_of_a_million_cells_takes_only_seconds() -> None:
    data = large_table().encode()
    client = JupyterClient(shared_service())
    async with client.new_kernel() as kernel:
        await kernel.write_file("t.csv", chunks(data))
        before = await processor_s(kernel)
        [text] = await kernel.without_cells(["North 5"], {"t.csv": "1"})
        used_s = await processor_s(kernel) - before
    await client.aclose()
    print(f"{used_s:.2f} s of processor time for {ROWS * 10:,} cells")
    assert (text, used_s < LIMIT_S) == ("[text 1] 5", True)
