"""How much of earlier answers is sent back to the model. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Replay:
    """How much of earlier answers a request holds. A provider that refuses it is asked again with less."""

    graphs: int
    """Number of the newest graphs whose bytes go back."""
    images: int
    """Number of the newest images of image models whose bytes go back, because users ask for changes of them."""
    has_signatures: bool = True
    context_share: float = 1.0
    """The share of the model's context window that is used."""
