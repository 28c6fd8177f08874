"""Costs are exact, and unknown rather than wrong."""

from __future__ import annotations

from dataclasses import astuple, replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.catalogue.costs import PLACES, cost_of
from chat.catalogue.setups import Prices
from chat.parts import Usage

ALL = Prices(Decimal("0.75"), Decimal("3.75"), Decimal("0.075"))


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        (Usage(prompt=1_000_000), "0.75"),
        (Usage(prompt=1_000_000, cached=1_000_000), "0.075"),
        (Usage(prompt=1_000_000, cached=400_000), "0.48"),
        (Usage(tool_use=1_000_000), "0.75"),
        (Usage(thoughts=500_000, candidates=500_000), "3.75"),
        (Usage(prompt=46, tool_use=300, thoughts=200, candidates=237, total=783), "0.00189825"),
        (Usage(prompt=1), "0.00000075"),
        (Usage(prompt=0, candidates=0), "0"),
        (Usage(prompt=10, cached=99), "0.00000075"),
        (Usage(prompt=-5, candidates=-5, cached=-5), "0"),
    ],
)
def test_tokens_are_billed_as_what_they_are(usage: Usage, cost: str) -> None:
    found = cost_of(usage, ALL)
    assert found == Decimal(cost)
    assert found.as_tuple().exponent == -8


@pytest.mark.parametrize(
    ("usage", "prices", "cost"),
    [
        (Usage(prompt=10, candidates=1), Prices(), None),
        (Usage(prompt=10, candidates=1), Prices(input=Decimal(1)), None),
        (Usage(prompt=10, candidates=1), Prices(output=Decimal(1)), None),
        (Usage(prompt=10, candidates=0), Prices(input=Decimal(1)), Decimal("0.00001")),
        (Usage(prompt=10, cached=10), Prices(cached=Decimal(1)), Decimal("0.00001")),
        (Usage(prompt=10, cached=5), Prices(cached=Decimal(1)), None),
        (Usage(prompt=10, cached=5), Prices(input=Decimal(1)), Decimal("0.00001")),
        (Usage(), ALL, None),
        (Usage(total=12, cached=2), ALL, None),
        (Usage(prompt=10, candidates=1), Prices(Decimal(0), Decimal(0)), Decimal(0)),
    ],
)
def test_cost_is_unknown_without_counts_or_a_needed_price(usage: Usage, prices: Prices, cost: Decimal | None) -> None:
    assert cost_of(usage, prices) == cost


tokens = st.integers(0, 10**7)
prices = st.decimals(0, 1000, places=6)
all_prices = st.builds(Prices, prices, prices, prices)


@st.composite
def usages(draw: st.DrawFn) -> Usage:
    """Counts as a provider gives them: what is cached is part of the prompt."""
    prompt = draw(tokens)
    return Usage(prompt, draw(tokens), draw(tokens), draw(tokens), cached=draw(st.integers(0, prompt)))


def known(cost: Decimal | None) -> Decimal:
    assert cost is not None
    return cost


@given(usages(), all_prices)
def test_cost_is_never_negative(usage: Usage, prices: Prices) -> None:
    assert known(cost_of(usage, prices)) >= 0


@given(usages(), all_prices, st.sampled_from(["prompt", "tool_use", "thoughts", "candidates"]), tokens)
def test_more_tokens_never_cost_less(usage: Usage, prices: Prices, name: str, more: int) -> None:
    longer = replace(usage, **{name: getattr(usage, name) + more})
    assert known(cost_of(longer, prices)) >= known(cost_of(usage, prices))


@given(usages(), usages(), all_prices)
def test_costs_add_up(one: Usage, other: Usage, prices: Prices) -> None:
    both = Usage(*(a + b if a is not None and b is not None else None for a, b in _pairs(one, other)))
    apart = known(cost_of(one, prices)) + known(cost_of(other, prices))
    assert abs(known(cost_of(both, prices)) - apart) <= PLACES * 2  # each is rounded


def _pairs(one: Usage, other: Usage) -> list[tuple[int | None, int | None]]:
    return list(zip(astuple(one), astuple(other), strict=True))


@given(st.builds(Usage, *[st.none() | st.integers(-10, 10**6)] * 6), st.builds(Prices, *[st.none() | prices] * 3))
def test_whatever_is_missing_nothing_breaks(usage: Usage, prices: Prices) -> None:
    cost = cost_of(usage, prices)
    assert cost is None or cost >= 0


def test_counts_that_cannot_be_have_no_cost() -> None:
    assert cost_of(Usage(prompt=10**30), Prices(input=Decimal(1))) is None
