"""Predict from the words of a question whether code execution would improve the answer (the mode "auto").

Two judges work together. `rules` is a table of points for signals: quantities with units, rates, dates, formulas,
tables, and words in English, German and Chinese. `classifier` is a logistic regression over the sum of these points,
the signals that do not depend on a language, the groups of words, and the n-grams of the text. It is trained on
labelled prompts in six languages, and it gives the result: code execution is wanted from `WANTED_LOG_ODDS` on.

The package is pure and deterministic. To improve a language or to add one, add labelled prompts to `prompts` and run
`make setup`. No word list is needed for this.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from chat.answering.prompt.intent.classifier import Features, extract_features, find_weightiest_word, score
from chat.answering.prompt.intent.facts import Facts, extract_facts
from chat.answering.prompt.intent.rules import RULES

WANTED_LOG_ODDS: Final = 0.3
"""Log-odds from which code execution is wanted. They are above even odds, because precision matters a little more than
recall.
"""
QUANTITY_LOG_ODDS: Final = 2.5
"""Log-odds that are added if the text names a quantity and the data to compute it from. Without code, the answer would
be a guess.
"""
TABLE_LOG_ODDS: Final = 2.2
"""Log-odds that are added if a table is attached. Then only texts that clearly ask for something else get no code."""
NO_SIGNAL: Final = "nothing to calculate"
"""The only reason if no rule applied and no word of the text supports the prediction."""
SHOWN_WORD_CHARS: Final = 24


@dataclass(frozen=True, slots=True)
class CodePrediction:
    """Whether code execution is wanted, and why."""

    is_wanted: bool
    reasons: tuple[str, ...]
    """Phrases, the most important first; reasons against code execution begin with "but "."""

    @property
    def explanation(self) -> str:
        """One sentence for the user."""
        counter_reasons = [reason.removeprefix("but ") for reason in self.reasons if reason.startswith("but ")]
        reasons = [reason for reason in self.reasons if not reason.startswith(("but ", NO_SIGNAL))]
        if self.is_wanted:
            return f"The question {' and '.join(reasons[:2])}."
        if counter_reasons:
            return f"It {counter_reasons[0]}, so running code would not help."
        if reasons:
            return f"It {reasons[0]}, but that alone calls for no calculation."
        return "Nothing here is to be calculated."


def predict_code(
    text: str, *, has_data: bool = False, has_table: bool = False, ran_code_before: bool = False
) -> CodePrediction:
    """Predict whether the answer to `text` is better with code execution; the module's docstring describes how.

    `has_data`: whether a table or image file is attached now or was attached earlier in the conversation. `has_table`:
    whether a table is among these. `ran_code_before`: whether an earlier turn of the conversation ran code.
    """
    facts = extract_facts(text, has_data=has_data or has_table, ran_code_before=ran_code_before)
    rules = [rule for rule in RULES if rule.condition(facts)]
    features = extract_features(facts, sum(rule.points for rule in rules))
    log_odds = score(features) + TABLE_LOG_ODDS * has_table + QUANTITY_LOG_ODDS * facts.names_quantity_of_data
    is_wanted = log_odds >= WANTED_LOG_ODDS
    reasons = list(dict.fromkeys(rule.reason for rule in sorted(rules, key=lambda rule: -abs(rule.points))))
    if not any(reason.startswith("but ") != is_wanted for reason in reasons):
        reasons = [*_reasons_from_words(facts, features, is_wanted=is_wanted), *reasons]
    return CodePrediction(is_wanted, tuple(reasons) or (NO_SIGNAL,))


def _reasons_from_words(facts: Facts, features: Features, *, is_wanted: bool) -> list[str]:
    """Return a reason from the words of the text, for a prediction that no rule explains."""
    word = find_weightiest_word(facts.prose, features, is_wanted=is_wanted)
    if word is None:
        return ["looks like a task for code"] if is_wanted else []
    return [f"{'' if is_wanted else 'but '}says “{word[:SHOWN_WORD_CHARS]}”"]
