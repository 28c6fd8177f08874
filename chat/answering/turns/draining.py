"""Stores whether this process is about to end. Then other processes, or its successor, start all turns."""

from __future__ import annotations

RESTART = "restart"
"""The error code of a turn that its process had to end before the answer was complete."""
SENTENCE = "The server is being restarted. Try again in a moment."

_is_draining = False


class Draining(Exception):
    """This process starts no turns any more. The text is a sentence for the user."""


def begin() -> None:
    """Refuse to start turns in this process from now on."""
    global _is_draining
    _is_draining = True


def is_draining() -> bool:
    """Return whether this process is about to end. May be called from any thread."""
    return _is_draining


def check_not_draining() -> None:
    """Raise Draining if this process is about to end."""
    if _is_draining:
        raise Draining(SENTENCE)
