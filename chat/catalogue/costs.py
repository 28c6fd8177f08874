"""What a generation cost; pure."""

from __future__ import annotations

from decimal import Decimal

from chat.catalogue.setups import Prices
from chat.parts import Usage

MILLION = Decimal(1_000_000)
PLACES = Decimal("0.00000001")
UNLIKELY = Decimal(100_000)
"""No answer costs so much: the provider's counts are wrong, and so would the cost be."""


def cost_of(usage: Usage, prices: Prices) -> Decimal | None:
    """US dollars, to 8 places; None where the provider said no counts that can be, or a needed price is not known.

    Prompt and tool use are input, the prompt's cached part at its own price; candidates and thoughts are output. What
    is billed apart from tokens (searches, minutes of cache, images) is not in it.
    Source: ai.google.dev/gemini-api/docs/pricing.
    """
    if all(tokens is None for tokens in (usage.prompt, usage.tool_use, usage.thoughts, usage.candidates)):
        return None
    prompt = _count(usage.prompt)
    cached = min(_count(usage.cached), prompt)
    billed = (
        (prompt - cached + _count(usage.tool_use), prices.input),
        (cached, prices.input if prices.cached is None else prices.cached),
        (_count(usage.candidates) + _count(usage.thoughts), prices.output),
    )
    total = Decimal(0)
    for tokens, price in billed:
        if tokens and price is None:
            return None
        total += tokens * (price or Decimal(0))
    dollars = total / MILLION
    return dollars.quantize(PLACES) if dollars < UNLIKELY else None


def _count(tokens: int | None) -> int:
    """Never negative, whatever a provider says."""
    return max(tokens or 0, 0)
