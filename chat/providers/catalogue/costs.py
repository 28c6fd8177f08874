"""The cost of a generation, computed from its token counts; pure."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from chat.providers.catalogue.setups import Prices
from chat.vocabulary.stream_events import Usage

MILLION = Decimal(1_000_000)
COST_STEP = Decimal("0.00000001")
"""Costs are rounded to a multiple of this, in US dollars."""
COST_LIMIT = Decimal(100_000)
"""A higher cost, in US dollars, can only result from wrong counts of the provider and is not reported."""


def calculate_cost(usage: Usage, prices: Prices, searches: int = 0) -> Decimal | None:
    """Return the cost in US dollars, rounded to 8 decimal places. `searches`: the number of web searches.

    Prompt and tool use are billed as input, the cached part of the prompt at its own price, and candidates and thoughts
    as output. Searches cost their list price; a free allowance of the account is not known here. Other items that are
    billed separately from tokens (cache storage, images) are not included.
    Source: ai.google.dev/gemini-api/docs/pricing.

    Returns `None` if the provider reported no plausible counts or not all of them, or if a required price is unknown.
    """
    if usage.estimated or all(
        tokens is None for tokens in (usage.prompt, usage.tool_use, usage.thoughts, usage.candidates)
    ):
        return None
    prompt = _non_negative(usage.prompt)
    cached = min(_non_negative(usage.cached), prompt)
    billed_tokens = (
        (prompt - cached + _non_negative(usage.tool_use), prices.input),
        (cached, prices.input if prices.cached is None else prices.cached),
        (_non_negative(usage.candidates) + _non_negative(usage.thoughts), prices.output),
    )
    total = Decimal(0)
    for tokens, price in billed_tokens:
        if tokens and price is None:
            return None
        total += tokens * (price or Decimal(0))
    if searches and prices.search is None:
        return None
    dollars = total / MILLION + search_cost(searches, prices.search or Decimal(0))
    return dollars.quantize(COST_STEP) if dollars < COST_LIMIT else None


def count_searches(queries: Iterable[object]) -> int:
    """Return how many searches are billed. `queries`: as the provider reports them; empty ones are not counted."""
    return sum(isinstance(query, str) and bool(query.strip()) for query in queries)


def search_cost(searches: int, price: Decimal) -> Decimal:
    """Return the cost of this number of searches in US dollars. `price`: price of 1,000 searches."""
    return searches * price / 1000


def _non_negative(tokens: int | None) -> int:
    """Return the count, or 0 if the provider reported none or a negative one."""
    return max(tokens or 0, 0)
