"""A number of an answer with where it comes from. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from chat.messages.numbers.blocks import Place
from chat.messages.numbers.sources import Hit, Verdict


@dataclass(frozen=True, slots=True)
class TracedNumber:
    """A number of an answer, with where it comes from."""

    start: int
    end: int
    value: Decimal
    unit: str
    verdict: Verdict
    hit: Hit | None = None
    """Its source. If the verdict is `nowhere`, the same value in another row or column than the sentence names."""
    place: Place | None = None
    note: str = ""
    """How a derived number was computed, such as `12 - 5`."""
