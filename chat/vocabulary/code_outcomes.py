"""The words for how code ended: one table for pages, the API, exports and requests to models. Pure.

A provider may use a word for an outcome that Plotline does not know. Such code has ended, but it is not known whether
it failed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from chat.vocabulary.parts import (
    OUTCOME_ABORTED,
    OUTCOME_DEADLINE_EXCEEDED,
    OUTCOME_FAILED,
    OUTCOME_LOST,
    OUTCOME_OK,
    CodeExecutionResult,
)

SUCCESS, ERROR, TIMEOUT, ABORTED, LOST, UNKNOWN = "success", "error", "timeout", "aborted", "lost", "unknown"
RUNNING = ""
NO_RESULT = "none"
"""The outcome of code that has no result and will get none."""


class OutcomeWords(NamedTuple):
    """The words for one outcome. `predicate` and `for_model` follow the words "The code" in a sentence."""

    word: str
    """The word that pages and the API use."""
    predicate: str
    """The predicate that people read."""
    for_model: str


OUTCOMES: Mapping[str, OutcomeWords] = {
    OUTCOME_OK: OutcomeWords(SUCCESS, "ran", "ran"),
    OUTCOME_FAILED: OutcomeWords(ERROR, "failed", "failed"),
    OUTCOME_DEADLINE_EXCEEDED: OutcomeWords(TIMEOUT, "ran out of time", "took too long and was ended"),
    OUTCOME_ABORTED: OutcomeWords(ABORTED, "was stopped", "was stopped before its end"),
    OUTCOME_LOST: OutcomeWords(LOST, "was cut off; its result is lost", "was cut off; its result is lost"),
}
"""The known values of `CodeExecutionResult.outcome`. For any other value, `_UNKNOWN` is used."""

UNFINISHED = frozenset({OUTCOME_ABORTED, OUTCOME_LOST})
"""Outcomes of code that did not reach its end, so that its output may be incomplete."""

_UNKNOWN = OutcomeWords(UNKNOWN, "ended; its service does not say how", "ended")
_RUNNING = OutcomeWords(RUNNING, "", "has not ended")

PREDICATES: Mapping[str, str] = {words.word: words.predicate for words in (*OUTCOMES.values(), _UNKNOWN, _RUNNING)} | {
    NO_RESULT: "no result"
}
"""`OutcomeWords.word` -> the predicate that people read."""


def outcome_words(result: CodeExecutionResult) -> OutcomeWords:
    """Return the words for how the code of a result ended. While it runs, `word` and `predicate` are empty."""
    return _RUNNING if result.is_running else OUTCOMES.get(result.outcome, _UNKNOWN)


def outcome_word(result: CodeExecutionResult) -> str:
    """Return the word for how the code ended, or `unknown`. Empty while it runs."""
    return outcome_words(result).word


def outcome_sentence(word: str) -> str:
    """Return a sentence without its full stop. `word`: as `outcome_word` returns it. Empty while the code runs."""
    return f"The code {PREDICATES[word]}" if word else ""
