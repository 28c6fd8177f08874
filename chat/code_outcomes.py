"""How code ended, as one word for pages and the API, and in sentences for people. Pure.

A provider may use a word for an outcome that Plotline does not know. Such code has ended, but nobody can say that it
failed.
"""

from __future__ import annotations

from collections.abc import Mapping

from chat.parts import OUTCOME_DEADLINE_EXCEEDED, OUTCOME_FAILED, OUTCOME_OK

SUCCESS, ERROR, TIMEOUT, UNKNOWN = "success", "error", "timeout", "unknown"
NO_RESULT = "none"
"""The outcome of code that has no result and will get none."""

WORDS: Mapping[str, str] = {
    "": "",
    OUTCOME_OK: SUCCESS,
    OUTCOME_FAILED: ERROR,
    OUTCOME_DEADLINE_EXCEEDED: TIMEOUT,
}

PREDICATES: Mapping[str, str] = {
    "": "",
    SUCCESS: "ran",
    ERROR: "failed",
    TIMEOUT: "ran out of time",
    UNKNOWN: "ended; its service does not say how",
    NO_RESULT: "no result",
}
"""The sentence about how the code ended."""


def outcome_word(outcome: str) -> str:
    """Return the word for a part's `outcome`: `success`, `error`, `timeout` or `unknown`. Empty while code runs."""
    return WORDS.get(outcome, UNKNOWN)


def outcome_sentence(word: str) -> str:
    """Return a sentence without its full stop. `word`: as `outcome_word` returns it."""
    return f"The code {PREDICATES[word or SUCCESS]}"
