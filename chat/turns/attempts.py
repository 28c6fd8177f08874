"""How often and when a provider is asked again for one answer, and what is changed for it. Pure.

Before the first byte a passing failure is waited out; after it, nothing is ever asked twice, but for an answer in which
there was nothing to see: that is asked for once more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from chat.providers.base import (
    ContextTooLong,
    FileGone,
    InvalidRequest,
    Overloaded,
    ProviderError,
    RateLimited,
    SignatureRefused,
    Unreachable,
)

PASSING = (RateLimited, Overloaded, Unreachable)

LEAST_SHARE = 1 / 16
"""Of a conversation that is called too long: then the last question alone is too long."""

AGAIN = frozenset(
    {
        "STOP",
        "MALFORMED_FUNCTION_CALL",
        "UNEXPECTED_TOOL_CALL",
        "MALFORMED_RESPONSE",
        "MISSING_THOUGHT_SIGNATURE",
    }
)
"""Finish reasons after which an answer without anything to see is asked for once more."""


@dataclass(frozen=True, slots=True)
class Replay:
    """What of the history goes back to the model."""

    graphs: int
    """How many of the newest; those that code drew."""
    images: int
    """How many of the newest; those that an image model made, which it is asked to change."""
    signatures: bool = True
    share: float = 1.0
    """Of what the model can read, how much is used."""


@dataclass(frozen=True, slots=True)
class Again:
    """Ask once more, after a pause."""

    pause_s: float = 0.0
    sentence: str = ""
    """What the reader is told meanwhile."""
    forget_files: bool = False


@dataclass(slots=True)
class Attempts:
    """The attempts at one answer."""

    replay: Replay
    limit: int
    """Most attempts at waiting out a failure."""
    first_pause_s: float
    longest_pause_s: float
    jitter: Callable[[], float]
    """0..1, chance."""
    _failures: int = 0
    _mended: set[str] = field(default_factory=set)

    def after_failure(self, error: ProviderError, *, sent_graphs: bool) -> Again | None:
        """What to do about a failure before the first byte; None: it is the end."""
        if isinstance(error, PASSING):
            return self._wait(error)
        if isinstance(error, FileGone):
            return self._once("files", Again(forget_files=True))
        if isinstance(error, ContextTooLong):
            share = self.replay.share / 2
            return self._change(f"length {share}", replace(self.replay, share=share)) if share >= LEAST_SHARE else None
        if isinstance(error, SignatureRefused):
            return self._change("signatures", replace(self.replay, signatures=False))
        if isinstance(error, InvalidRequest) and sent_graphs:
            return self._change("graphs", replace(self.replay, graphs=0, images=0))
        return None

    def after_blank(self, finish_reason: str) -> Again | None:
        """What to do about an answer without anything to see; None: that is the answer."""
        if finish_reason == "MISSING_THOUGHT_SIGNATURE":
            return self._change("signatures", replace(self.replay, signatures=False))
        return self._once("blank", Again()) if finish_reason in AGAIN else None

    def _wait(self, error: ProviderError) -> Again | None:
        self._failures += 1
        if self._failures >= self.limit:
            return None
        pause_s = error.retry_after_s
        if pause_s is None:
            pause_s = self.first_pause_s * 2 ** (self._failures - 1)
        # Many turns that were refused together must not come back together.
        pause_s *= 1 + self.jitter() / 4
        if pause_s > self.longest_pause_s:
            return None
        seconds = max(1, round(pause_s))
        return Again(pause_s, f"The model's service is busy or out of reach. Asking again in {seconds} s…")

    def _change(self, what: str, replay: Replay) -> Again | None:
        again = self._once(what, Again())
        if again:
            self.replay = replay
        return again

    def _once(self, what: str, again: Again) -> Again | None:
        if what in self._mended:
            return None
        self._mended.add(what)
        return again
