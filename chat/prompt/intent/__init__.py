"""Decide from the words of a question whether code execution would improve the answer (the mode "auto").

People ask for a result and rarely name the act, so verbs such as "calculate" are only some of the signals. Most weight
is on the material of a calculation: quantities with units, a question for a quantity, rates, dates, formulas, lists of
numbers, tables, chance and attached data. Mathematical objects that are to be drawn or listed count too, and so does
Python that comes alone or with a request to run it. Signals against code execution are requests for writing,
translation, role play, opinion or explanation, and for code as text. Words are recognized in English, German and
Chinese; numbers, formulas, tables and data in every language.

The rule: `RULES` is a table of points, and the points of all rules whose condition is true are summed. Code execution
is wanted from `WANTED_POINTS` on. Up to `UNSURE_POINTS` below that, the points alone do not decide. Code execution is
then wanted only if there is something to compute on (two quantities, a formula, attached data, or an earlier turn's
code) and no rule has negative points: a wrong number costs more than an unused tool. Below that, it is not wanted.

The package is pure and deterministic. To add a signal, add a row to `rules` and, if necessary, a group to `words`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from chat.prompt.intent.facts import Facts, extract_facts
from chat.prompt.intent.rules import RULES

WANTED_POINTS: Final = 4
UNSURE_POINTS: Final = 1
UNSURE_PREFIX: Final = "unsure, "
"""Start of the last reason if the points alone did not decide."""
NO_SIGNAL: Final = "nothing to calculate"
"""The only reason if no rule applied."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether code execution is wanted, and why."""

    is_wanted: bool
    score: float
    """From 0 to 1; at least 0.5 if the points alone suffice. `is_wanted` differs from that only in the unsure range."""
    reasons: tuple[str, ...]
    """Phrases, the one with the most points first; reasons against code execution begin with "but "."""

    @property
    def explanation(self) -> str:
        """One sentence for the user."""
        counter_reasons = [reason.removeprefix("but ") for reason in self.reasons if reason.startswith("but ")]
        reasons = [reason for reason in self.reasons if not reason.startswith(("but ", UNSURE_PREFIX, NO_SIGNAL))]
        if self.is_wanted:
            return f"The question {' and '.join(reasons[:2])}."
        if counter_reasons:
            return f"It {counter_reasons[0]}, so running code would not help."
        if reasons:
            return f"It {reasons[0]}, but that alone calls for no calculation."
        return "Nothing here is to be calculated."


def decide(text: str, *, has_data: bool = False, ran_code_before: bool = False) -> Decision:
    """Decide whether the answer to `text` should have code execution; the module's docstring describes the rule.

    `has_data`: whether a table or image file is attached now or was attached earlier in the conversation.
    `ran_code_before`: whether an earlier turn of the conversation ran code.
    """
    facts = extract_facts(text, has_data=has_data, ran_code_before=ran_code_before)
    rules = [rule for rule in RULES if rule.condition(facts)]
    points = sum(rule.points for rule in rules)
    reasons = list(dict.fromkeys(rule.reason for rule in sorted(rules, key=lambda rule: -abs(rule.points))))
    is_wanted = points >= WANTED_POINTS
    if WANTED_POINTS - UNSURE_POINTS <= points < WANTED_POINTS:
        has_only_positive_rules = all(rule.points > 0 for rule in rules)
        is_wanted = has_only_positive_rules and _is_computable(facts, max(rule.points for rule in rules))
        reasons.append(f"{UNSURE_PREFIX}{'there is something to compute on' if is_wanted else 'so better without'}")
    score = 1 / (1 + math.exp(WANTED_POINTS - 0.5 - max(-30, min(30, points))))
    return Decision(is_wanted=is_wanted, score=round(score, 3), reasons=tuple(reasons) or (NO_SIGNAL,))


def _is_computable(facts: Facts, highest_points: int) -> bool:
    """Return whether a calculation could answer a text whose points alone do not decide.

    `highest_points`: the most points of a single rule; rules about numbers that merely occur have one point each.
    """
    if facts.has_data or facts.ran_code_before or facts.has_formula or facts.has_expression:
        return True
    if facts.is_short and facts.has_math and highest_points > 1:
        return True
    asks_to_compute = facts.is_question or facts.has_words("quantity question", "calculate", "price comparison")
    return facts.quantities >= 2 and asks_to_compute
