"""The ledger over labelled answers: altered figures have no source, true ones have one."""

from __future__ import annotations

import time
from random import Random

import pytest

from chat.messages.numbers.ledger import trace_numbers
from chat.messages.numbers.sources import SourceText
from tests.numbers.measure import measure, measure_labelled, read_tables


@pytest.mark.parametrize(("name", "true", "altered"), [("fresh", 0.02, 0.94), ("independent", 0.042, 0.79)])
def test_ledger_meets_its_accuracy_limits_on_answers_that_were_written_independently(
    name: str, true: float, altered: float
) -> None:
    """Checks the shares of figures: true ones that are flagged or not read, altered ones that are flagged, and digits
    that are no claims but are flagged. The goal is to flag 95 % of altered figures and at most 2 % of true ones.
    """
    counts = measure_labelled(name)
    assert counts.share(counts.flagged, "true") <= true
    assert counts.share(counts.unread, "true") <= 0.03
    assert counts.share(counts.flagged, "altered") >= altered
    assert counts.share(counts.flagged, "no claim") <= 0.02


@pytest.mark.drill
def test_ledger_flags_95_percent_of_altered_figures_and_at_most_2_percent_of_true_ones() -> None:
    counts = measure(read_tables())
    assert counts.share(counts.flagged, "altered") >= 0.95
    assert counts.share(counts.flagged, "true") <= 0.02
    assert counts.share(counts.unread, "true") <= 0.03


@pytest.mark.drill
def test_numbers_of_a_long_answer_with_a_megabyte_of_outputs_are_traced_in_half_a_second() -> None:
    """Prints the milliseconds for an answer of 20 KB that has a figure every 75 characters, and for a usual one."""
    chance = Random(1)
    rows = [(f"City{n:05}", chance.uniform(1, 999_999), chance.randint(1, 99_999)) for n in range(27_000)]
    header = "          city  revenue_eur  orders\n"
    lines = [f"{n:<6} {name} {revenue:12.2f} {orders:8}\n" for n, (name, revenue, orders) in enumerate(rows)]
    sources = [SourceText("output", header + "".join(lines[n : n + 2_700])) for n in range(0, len(lines), 2_700)]
    for share in (1.0, 0.2):
        sentences: list[str] = []
        while sum(map(len, sentences)) < 20_000:
            name, revenue, orders = chance.choice(rows)
            with_figures = (
                f"In {name}, the revenue was {revenue:,.2f} € with {orders} orders, well above expectations. "
            )
            without = "The reasons for this are not in the data, and more of them would be needed to say anything. "
            sentences.append(with_figures if chance.random() < share else without)
        text = "".join(sentences)
        times = []
        for _ in range(5):
            began = time.perf_counter()
            numbers = trace_numbers(text, sources)
            times.append(time.perf_counter() - began)
        chars = sum(len(one.text) for one in sources)
        print(f"{len(text):,} characters, {len(numbers)} numbers, {chars:,} of outputs: {min(times) * 1000:.0f} ms")
        assert all(one.verdict == "output" for one in numbers)
        assert min(times) < 0.5
