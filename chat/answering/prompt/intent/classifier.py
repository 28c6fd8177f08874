"""A logistic regression over the points of the rules, the signals and groups of words of a text, and its n-grams.

`weights.tsv` holds the weights. `make setup` trains them from the labelled prompts; the repository does not contain
them. Without them, only the rules decide.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from chat.answering.prompt.intent.facts import Facts
from chat.answering.prompt.intent.ngrams import find_ngrams, find_words

WEIGHTS_FILE: Final = Path(__file__).parent / "weights.tsv"
BIAS: Final = "[bias]"
POINTS: Final = "[points]"
POINTS_WITHOUT_WORDS: Final = "[points without words]"
RULES_ALONE: Final = {BIAS: 0.0, POINTS: 4.0, POINTS_WITHOUT_WORDS: 4.0}
"""Weights that are used if none were trained. With them, code is wanted from 4 points on."""
SIGNAL_VALUE: Final = 0.5
NGRAMS_LENGTH: Final = 4.0
"""Length of the vector of all n-grams of a text. It is constant, so that long texts count no more than short ones."""
POINTS_VALUE: Final = 0.25
POINTS_OFFSET: Final = 3.5
POINTS_LIMIT: Final = 8.0
SHOWN_LOG_ODDS: Final = 0.4
"""Minimum change of the log-odds by a word that is shown as a reason."""


@dataclass(frozen=True, slots=True)
class Features:
    """The features of one text that the classifier weighs."""

    signals: Mapping[str, float]
    """Value by the name of the signal."""
    ngrams: frozenset[str] | set[str]
    ngram_value: float
    """The value of each n-gram."""

    def values(self) -> dict[str, float]:
        """Return the value of each feature by its name."""
        return dict.fromkeys(self.ngrams, self.ngram_value) | dict(self.signals)


def extract_features(facts: Facts, points: int) -> Features:
    """Return the features of a text. `points`: the sum of the points of its rules."""
    conditions = {
        "code": facts.has_code,
        "only python": facts.is_only_python,
        "data": facts.has_data,
        "data file": facts.names_data_file,
        "quantity of data": facts.names_quantity_of_data,
        "before": facts.ran_code_before,
        "short": facts.is_short,
        "short data": facts.has_data and facts.is_short,
        "short before": facts.ran_code_before and facts.is_short,
        "number list": facts.has_number_list,
        "table": facts.has_table,
        "formula": facts.has_formula,
        "expression": facts.has_expression,
        "phone number": facts.has_phone_number,
        "question": facts.is_question,
        "date": facts.dates > 0,
        "clock time": facts.clock_times > 0,
        "year": facts.years > 0,
        "1 number": facts.quantities >= 1,
        "2 numbers": facts.quantities >= 2,
        "3 numbers": facts.quantities >= 3,
        "5 numbers": facts.quantities >= 5,
        "question with 2 numbers": facts.is_question and facts.quantities >= 2,
        "long": len(facts.prose) > 200,
    }
    signals = {f"[{name}]": SIGNAL_VALUE for name, is_true in conditions.items() if is_true}
    signals |= {f"[word: {group}]": SIGNAL_VALUE for group in facts.word_counts}
    limited_points = max(-POINTS_LIMIT, min(POINTS_LIMIT, points - POINTS_OFFSET))
    # Rules know words of three languages. If they know no word of a text, missing points say less.
    signals[POINTS if facts.word_counts else POINTS_WITHOUT_WORDS] = limited_points * POINTS_VALUE
    contexts = [f"{min(facts.quantities, 2)} numbers"]
    contexts += [name for name in ("code", "data", "before") if conditions[name]]
    ngrams = find_ngrams(facts.prose, contexts)
    return Features(signals, ngrams, NGRAMS_LENGTH / math.sqrt(len(ngrams)))


@cache
def load_weights() -> Mapping[str, float]:
    """Return the weight of each feature."""
    if not WEIGHTS_FILE.exists():
        return RULES_ALONE
    # Weights have one decimal place, so thousands of features share the same number objects, which saves 1 MB.
    number = cache(float)
    with WEIGHTS_FILE.open(encoding="utf-8", newline="\n") as lines:
        return {name: number(weight) for weight, name in (line[:-1].split("\t") for line in lines)}


def score(features: Features) -> float:
    """Return the log-odds that code execution is wanted."""
    weights = load_weights()
    signals = sum(weights.get(name, 0.0) * value for name, value in features.signals.items())
    known = features.ngrams & weights.keys()
    return weights[BIAS] + signals + features.ngram_value * sum(map(weights.__getitem__, known))


def find_weightiest_word(prose: str, features: Features, *, is_wanted: bool) -> str | None:
    """Return the word that supports the prediction most; `None` if no word clearly supports it."""
    weights, value = load_weights(), features.ngram_value if is_wanted else -features.ngram_value
    totals = {
        word: value * sum(weights.get(ngram, 0.0) for ngram in ngrams) for word, ngrams in find_words(prose).items()
    }
    word = max(sorted(totals), key=totals.__getitem__, default=None)
    return word if word is not None and totals[word] >= SHOWN_LOG_ODDS else None
