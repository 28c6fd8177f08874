"""Decide from a person's words whether code execution would help the answer: the mode "auto".

People ask for a result and seldom name the act, so verbs such as "calculate" are only some of the signals. Most
weight lies on what a calculation is made of: quantities with units, a question for one more, rates, dates, formulas,
number lists, tables, chance, attached data; on mathematical objects that are to be drawn or listed; and on Python that
comes alone or with the wish to run it. Against it stands what the tool can hurt: writing, translation, role play,
opinion, explanation, and code that is wanted as text. English, German and Chinese words are known; numbers, formulas,
tables and data speak in every language.

The rule: `RULES` is a table of points, and the points of all rules that hold are summed. From `SURE_POINTS` on, code
execution is wanted. Within `UNSURE_POINTS` below that the text alone does not tell; then it is wanted only where there
is something to compute on (two quantities, a formula, attached data, or an earlier turn's code) and nothing speaks
against it: a wrong number costs more than an idle tool, and a story has neither. Below, it is not wanted.

Pure and deterministic. A new signal is a row of `chat.intent.rules`, and where need be a group of `chat.intent.words`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from chat.intent.facts import Facts, facts_of
from chat.intent.rules import RULES

SURE_POINTS: Final = 4
UNSURE_POINTS: Final = 1
UNSURE: Final = "unsure, "
"""How the last reason starts where the points alone did not tell."""
NOTHING: Final = "nothing to calculate"


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether code execution is wanted, and why."""

    wanted: bool
    score: float
    """0..1; 0.5 and more where the points alone are enough. Only in the unsure band may `wanted` differ from that."""
    reasons: tuple[str, ...]
    """Phrases, the weightiest first; those that speak against begin with "but "."""

    @property
    def why(self) -> str:
        """One plain sentence for a person."""
        against = [reason.removeprefix("but ") for reason in self.reasons if reason.startswith("but ")]
        holds = [reason for reason in self.reasons if not reason.startswith(("but ", UNSURE, NOTHING))]
        if self.wanted:
            return f"The question {' and '.join(holds[:2])}."
        if against:
            return f"It {against[0]}, so running code would not help."
        if holds:
            return f"It {holds[0]}, but that alone calls for no calculation."
        return "Nothing here is to be calculated."


def decide(text: str, *, has_data: bool = False, ran_code_before: bool = False) -> Decision:
    """Decide whether the answer to `text` should have code execution.

    `has_data`: a table or image file is attached now or was earlier. `ran_code_before`: an earlier turn of the
    conversation ran code. The rule is in the module's docstring; any text gives a decision.
    """
    facts = facts_of(text, has_data=has_data, ran_code_before=ran_code_before)
    held = [rule for rule in RULES if rule.holds(facts)]
    points = sum(rule.points for rule in held)
    reasons = list(dict.fromkeys(rule.reason for rule in sorted(held, key=lambda rule: -abs(rule.points))))
    wanted = points >= SURE_POINTS
    if SURE_POINTS - UNSURE_POINTS <= points < SURE_POINTS:
        wanted = all(rule.points > 0 for rule in held) and _has_material(facts, max(rule.points for rule in held))
        reasons.append(f"{UNSURE}there is something to compute on" if wanted else f"{UNSURE}so better without")
    score = 1 / (1 + math.exp(SURE_POINTS - 0.5 - max(-30, min(30, points))))
    return Decision(wanted=wanted, score=round(score, 3), reasons=tuple(reasons) or (NOTHING,))


def _has_material(facts: Facts, weightiest: int) -> bool:
    """Whether a text that may or may not ask for a calculation could be answered by one.

    `weightiest`: the most points of one rule; numbers that are just there have one each.
    """
    if facts.has_data or facts.ran_code_before or facts.is_formula or facts.is_expression:
        return True
    if facts.is_short and facts.is_mathematical and weightiest > 1:
        return True
    return facts.quantities >= 2 and (facts.is_question or facts.says("asks", "calculate", "compares"))
