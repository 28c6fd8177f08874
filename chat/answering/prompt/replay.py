"""The next attempt at a request: how much of earlier messages is sent, and which tools are offered. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Replay:
    """How much of earlier messages a request contains. If the provider refuses it, it is sent again with less."""

    has_files: bool = True
    """True if the files and images of earlier messages are sent."""
    has_signatures: bool = True
    combines_tools: bool = True
    """True if functions may be declared beside tools of the service."""
    has_tools: bool = True
    """True if the request offers tools at all."""
    has_token: bool = True
    """True if an answer that is longer than one generation is continued with the token that its service sent for the
    rest.
    """
    context_share: float = 1.0
    """The share of the model's context window that is used."""
