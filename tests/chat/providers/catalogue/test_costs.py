"""Costs of generations: exact sums, and no cost if a count or price is missing."""

from __future__ import annotations

from dataclasses import astuple, replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.providers.catalogue.costs import COST_STEP, calculate_cost, count_searches
from chat.providers.catalogue.setups import Prices
from chat.vocabulary.stream_events import Usage

ALL_PRICES = Prices(Decimal("0.75"), Decimal("3.75"), Decimal("0.075"))


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
def test_cost_uses_the_prices_of_input_cached_and_output_tokens(usage: Usage, cost: str) -> None:
    result = calculate_cost(usage, ALL_PRICES)
    assert result == Decimal(cost)
    assert result.as_tuple().exponent == -8


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
        (Usage(), ALL_PRICES, None),
        (Usage(total=12, cached=2), ALL_PRICES, None),
        (Usage(prompt=10, candidates=1), Prices(Decimal(0), Decimal(0)), Decimal(0)),
    ],
)
def test_cost_is_unknown_if_counts_or_a_needed_price_are_missing(
    usage: Usage, prices: Prices, cost: Decimal | None
) -> None:
    assert calculate_cost(usage, prices) == cost


@pytest.mark.parametrize(
    ("queries", "price", "cost"),
    [
        ([], None, "0.00000075"),
        (["a"], "14", "0.01400075"),
        # Gemini reports empty queries too, and bills every query that is not empty.
        (["", "a", " ", "b", "a"], "14", "0.04200075"),
        (["a"], None, None),
    ],
)
def test_each_search_costs_its_list_price(queries: list[str], price: str | None, cost: str | None) -> None:
    prices = replace(ALL_PRICES, search=None if price is None else Decimal(price))
    result = calculate_cost(Usage(prompt=1), prices, count_searches(queries))
    assert result == (None if cost is None else Decimal(cost))


tokens = st.integers(0, 10**7)
prices = st.decimals(0, 1000, places=6)
all_prices = st.builds(Prices, prices, prices, prices)


@st.composite
def usages(draw: st.DrawFn) -> Usage:
    """Generate counts in which the cached tokens are part of the prompt, as providers report them."""
    prompt = draw(tokens)
    return Usage(prompt, draw(tokens), draw(tokens), draw(tokens), cached=draw(st.integers(0, prompt)))


def require_cost(cost: Decimal | None) -> Decimal:
    assert cost is not None
    return cost


@given(usages(), all_prices, st.sampled_from(["prompt", "tool_use", "thoughts", "candidates"]), tokens)
def test_more_tokens_never_cost_less(usage: Usage, prices: Prices, name: str, more: int) -> None:
    longer = replace(usage, **{name: getattr(usage, name) + more})
    assert require_cost(calculate_cost(longer, prices)) >= require_cost(calculate_cost(usage, prices))


@given(usages(), usages(), all_prices)
def test_cost_of_the_sum_of_two_usages_is_the_sum_of_their_costs(one: Usage, other: Usage, prices: Prices) -> None:
    total = Usage(*(a + b if a is not None and b is not None else None for a, b in _pairs(one, other)))
    sum_of_costs = require_cost(calculate_cost(one, prices)) + require_cost(calculate_cost(other, prices))
    assert abs(require_cost(calculate_cost(total, prices)) - sum_of_costs) <= COST_STEP * 2  # each cost is rounded


def _pairs(one: Usage, other: Usage) -> list[tuple[int | None, int | None]]:
    return list(zip(astuple(one), astuple(other), strict=True))


@given(st.builds(Usage, *[st.none() | st.integers(-10, 10**6)] * 6), st.builds(Prices, *[st.none() | prices] * 3))
def test_missing_counts_and_prices_raise_no_error(usage: Usage, prices: Prices) -> None:
    cost = calculate_cost(usage, prices)
    assert cost is None or cost >= 0


def test_cost_is_unknown_if_a_token_count_is_impossibly_large() -> None:
    assert calculate_cost(Usage(prompt=10**30), Prices(input=Decimal(1))) is None
