"""Decide from a person's words whether code execution would help the answer: the mode "auto".

People ask for a result and seldom name the act, so verbs such as "calculate" are only some of the signals. Most
weight lies on what a calculation is made of: quantities with units, a question for one more, rates, dates, formulas,
number lists, tables, chance, attached data. Against it stands what the tool can hurt: writing, translation, role
play, opinion, explanation, and code that is wanted as text. English, German and Chinese words are known; numbers,
formulas, tables and data speak in every language.

The rule: `RULES` is a table of points, and the points of all rules that hold are summed. From `SURE_POINTS` on, code
execution is wanted. Within `UNSURE_POINTS` below that the text alone does not tell; then it is wanted only where there
is something to compute on (two quantities, a formula, attached data, or an earlier turn's code) and nothing speaks
against it: a wrong number costs more than an idle tool, and a story has neither. Below, it is not wanted.

Pure and deterministic. A new signal is a row of `RULES`, and where need be a group of `chat.intent.words.WORDS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from chat.intent.facts import Facts, facts_of

SURE_POINTS: Final = 4
UNSURE_POINTS: Final = 1


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether code execution is wanted, and why."""

    wanted: bool
    score: float
    """0..1; 0.5 and more where the points alone are enough. Only in the unsure band may `wanted` differ from that."""
    reasons: tuple[str, ...]
    """Phrases for a person to read, the weightiest first; those that speak against begin with "but "."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Points for or against, where `holds`; `reason` is what a person reads."""

    reason: str
    points: int
    holds: Callable[[Facts], bool]


RULES: Final = (
    # An act is named.
    Rule("asks to run code", 9, lambda f: f.says("run") and (f.is_code or f.is_mathematical or f.is_short)),
    Rule("asks for a graph", 4, lambda f: f.says("graph") and not f.says("plot of a story")),
    Rule("asks for a graph", 4, lambda f: f.says("draw") and f.is_formula and not f.says("graph")),
    Rule("asks for a simulation", 4, lambda f: f.says("simulate")),
    Rule("asks for a calculation", 3, lambda f: f.says("calculate") and not f.is_code),
    Rule("something to calculate on", 1, lambda f: f.says("calculate") and f.is_mathematical and not f.is_code),
    Rule("asks for a checksum or encoding", 4, lambda f: f.says("hash") and not f.says("explains")),
    Rule("asks to count", 2, lambda f: f.says("count")),
    # What a calculation is made of.
    Rule("an equation or formula", 4, lambda f: f.is_formula and not f.is_code),
    Rule("an arithmetic expression", 4, lambda f: f.is_expression and not f.is_code),
    Rule("a share in percent", 4, lambda f: f.is_percent_of),
    Rule("a mathematical or statistical term", 1, lambda f: f.says("term")),
    Rule("a term with numbers", 3, lambda f: f.says("term") and f.is_mathematical and not f.is_code),
    Rule("a table of numbers", 4, lambda f: f.is_table and not f.is_code),
    Rule("a list of numbers", 2, lambda f: f.is_list and not f.is_code),
    Rule("asks about a list of numbers", 2, lambda f: f.is_list and f.says("asks", "term", "data") and not f.is_code),
    Rule("several numbers", 1, lambda f: f.quantities >= 2),
    Rule("numbers with units", 1, lambda f: f.measured >= 2),
    Rule("asks for a quantity", 2, lambda f: f.says("asks") and f.quantities >= 2),
    Rule("asks for a quantity", 1, lambda f: f.says("asks") and f.quantities == 1),
    Rule("asks what something is", 1, lambda f: f.says("wonders") and f.quantities >= 2),
    Rule("several quantities are compared", 3, lambda f: f.says("compares") and f.quantities >= 2),
    Rule("quantities are compared", 1, lambda f: f.says("compares loosely") and f.quantities >= 3),
    Rule("asks how many of one unit make another", 4, lambda f: f.says("counts units")),
    Rule("money over time or in percent", 2, lambda f: f.says("finance") and f.quantities >= 2),
    Rule("a rate", 1, lambda f: f.says("rate") and f.quantities >= 2),
    Rule("percentages", 1, lambda f: f.percents >= 1 and f.quantities >= 2),
    Rule("a condition", 1, lambda f: f.says("condition") and f.quantities >= 2 and f.is_question),
    Rule("many quantities in a question", 1, lambda f: f.quantities >= 3 and f.is_question),
    Rule("asks for one quantity from many", 2, lambda f: f.says("asks") and f.quantities >= 4 and f.is_question),
    Rule("geometry, physics or mixtures", 2, lambda f: f.says("science") and f.quantities >= 2),
    Rule("a chance or a count of ways", 1, lambda f: f.says("chance")),
    Rule("a chance with numbers", 2, lambda f: f.says("chance") and f.quantities >= 1),
    Rule("counts days or times", 4, lambda f: f.says("calendar") and f.dates + f.clocks >= 1),
    Rule("a date or time and a duration", 2, lambda f: f.dates + f.clocks >= 1 and f.measured >= 1 and f.says("asks")),
    Rule("converts units", 3, lambda f: (f.says("convert") and f.measured >= 1) or f.is_unit_to_unit),
    # What the conversation holds.
    Rule("data is attached", 2, lambda f: f.has_data),
    Rule("asks about the attached data", 3, lambda f: f.has_data and f.says("data", "asks", "term", "compares")),
    Rule(
        "goes on from an answer that ran code",
        4,
        lambda f: f.ran_code_before and f.is_short and f.says("again", "graph"),
    ),
    Rule(
        "new numbers for an answer that ran code", 2, lambda f: f.ran_code_before and f.is_short and f.quantities >= 1
    ),
    # What the tool can hurt.
    Rule("but asks for a piece of writing", -7, lambda f: f.says("writes")),
    Rule("but names a kind of writing", -4, lambda f: f.says("genres")),
    Rule("but asks for a translation", -7, lambda f: f.says("translates")),
    Rule("but asks for better wording", -7, lambda f: f.says("rewords")),
    Rule("but asks for a summary", -7, lambda f: f.says("shortens") and not f.has_data),
    Rule("but is role play", -7, lambda f: f.says("plays")),
    Rule("but asks for an opinion", -4, lambda f: f.says("opines")),
    Rule("but asks for advice or ideas", -4, lambda f: f.says("advises")),
    Rule("but asks how something is done", -3, lambda f: f.says("instructs")),
    Rule("but asks for an explanation", -4, lambda f: f.says("explains")),
    Rule("but is about code as text", -5, lambda f: (f.is_code or f.says("programs")) and not f.says("run")),
    Rule("but asks for a known fact", -4, lambda f: f.says("remembers") and f.measured == 0),
    Rule("but is small talk", -4, lambda f: f.says("chats") and f.quantities == 0),
    Rule("but holds a phone number", -3, lambda f: f.is_phone or f.says("phones")),
    Rule(
        "but is about a picture", -5, lambda f: f.has_data and f.says("pictures") and not f.says("graph", "calculate")
    ),
)


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
        wanted = _has_material(facts) and all(rule.points > 0 for rule in held)
        reasons.append("unsure, there is something to compute on" if wanted else "unsure, so better without")
    score = 1 / (1 + math.exp(SURE_POINTS - 0.5 - max(-30, min(30, points))))
    return Decision(wanted=wanted, score=round(score, 3), reasons=tuple(reasons) or ("nothing to calculate",))


def _has_material(facts: Facts) -> bool:
    """Whether a text that may or may not ask for a calculation could be answered by one."""
    if facts.has_data or facts.ran_code_before or facts.is_formula or facts.is_expression:
        return True
    return facts.quantities >= 2 and (facts.is_question or facts.says("asks", "calculate", "compares"))
