"""What the next attempt at a request holds, and how much of earlier messages is sent back to the model. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Replay:
    """How much of earlier messages a request holds. A provider that refuses it is asked again with less."""

    has_files: bool = True
    """Whether the files and images of earlier messages go back."""
    has_signatures: bool = True
    combines_tools: bool = True
    """Whether functions may be declared beside tools of the service."""
    has_tools: bool = True
    """Whether the request offers tools at all."""
    has_token: bool = True
    """Whether an answer that is longer than one generation goes on by the token that its service gave for the rest."""
    context_share: float = 1.0
    """The share of the model's context window that is used."""
