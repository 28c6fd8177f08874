"""The table of rules whose points a prediction sums up.

A reason completes the sentence "The question ..." or "It ...", because it is shown to the user. The reasons of rules
with negative points begin with "but ".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from chat.answering.prompt.intent.facts import Facts


@dataclass(frozen=True, slots=True)
class Rule:
    """Points for (positive) or against (negative) code execution if `condition` is true of the facts."""

    reason: str
    points: int
    condition: Callable[[Facts], bool]


def _is_follow_up(facts: Facts) -> bool:
    """Return whether the text follows up on an answer that ran code."""
    return facts.ran_code_before and facts.is_short and not facts.has_words("explain", "reword", "known fact")


def _is_about_data(facts: Facts) -> bool:
    return facts.has_data and facts.has_words("data")


def _asks_for_definition(facts: Facts) -> bool:
    """Return whether the text asks "what is ..." about something that cannot be computed."""
    has_other_signals = (
        facts.has_data
        or facts.ran_code_before
        or facts.has_words(
            "named day", "calendar", "weekday", "explain", "term", "calculate", "hash", "chance", "game of chance"
        )
    )
    return facts.starts_with("what is") and not facts.has_math and not has_other_signals


RESULT_ACTS: Final = ("graph", "draw", "calculate", "simulate", "run this code")
"""Groups of words for acts whose result is wanted rather than their code."""

ACT_RULES: Final = (
    Rule("asks to run code", 9, lambda f: f.asks_to_run_code and (f.has_code or f.has_math or f.is_short)),
    Rule("asks to run code", 4, lambda f: f.starts_with("run") and f.has_words("runnable program") and not f.has_code),
    Rule("asks for a graph", 4, lambda f: f.has_words("graph") and not f.has_words("figurative graph")),
    Rule(
        "asks for a graph",
        4,
        lambda f: (
            not f.has_words("graph")
            and f.has_words("draw", "appearance")
            and (f.has_formula or f.has_words("figure", "possible figure", "term", "process"))
        ),
    ),
    Rule(
        "asks to show a result", 4, lambda f: f.starts_with("show") and f.has_words("figure", "computable", "process")
    ),
    Rule(
        "asks for a simulation", 4, lambda f: f.has_words("simulate") or (f.starts_with("throw") and f.quantities >= 1)
    ),
    Rule("asks for a calculation", 3, lambda f: f.has_words("calculate") and not f.has_code),
    Rule(
        "asks for a calculation",
        1,
        lambda f: (
            f.has_words("calculate")
            and (f.has_math or f.has_words("computable", "process", "quantity question", "named day"))
            and not f.has_code
        ),
    ),
    Rule("asks for a checksum or encoding", 4, lambda f: f.has_words("hash")),
    Rule("asks for another base", 4, lambda f: f.has_words("number base") and (f.has_math or f.has_phone_number)),
    Rule("asks to count", 2, lambda f: f.has_words("count")),
    Rule(
        "asks to count letters",
        4,
        lambda f: f.has_words("count", "quantity question") and (f.has_words("letter") or f.asks_to_count_letters),
    ),
    Rule("asks to count words", 3, lambda f: f.has_words("count", "quantity question") and f.has_words("text unit")),
    Rule(
        "asks to work on a text that it quotes",
        4,
        lambda f: f.has_words("transform text", "text unit") and (f.has_quoted_text or f.has_words("string")),
    ),
)
"""Rules for texts that name an act that code can perform."""

MATERIAL_RULES: Final = (
    Rule("has an equation or formula", 4, lambda f: f.has_formula and not f.has_code),
    Rule("has an arithmetic expression", 4, lambda f: f.has_expression and not f.has_code),
    Rule("asks for a share in percent", 4, lambda f: f.has_percent_of),
    Rule("has a mathematical or statistical term", 1, lambda f: f.has_words("term")),
    Rule("has a mathematical or statistical term", 3, lambda f: f.has_words("term") and f.has_math and not f.has_code),
    Rule(
        "names a known process",
        4,
        lambda f: f.has_words("process") and (f.quantities >= 1 or f.has_words("quantity question")),
    ),
    Rule("names a mathematical figure", 4, lambda f: f.has_words("figure") and f.quantities >= 1 and f.is_short),
    Rule(
        "asks for a measure of a figure",
        4,
        lambda f: f.has_words("figure measure") and f.has_words("figure", "possible figure") and f.quantities >= 1,
    ),
    Rule("has a table of numbers", 4, lambda f: f.has_table and not f.has_code),
    Rule("has a list of numbers", 2, lambda f: f.has_number_list and not f.has_code),
    Rule(
        "asks about the numbers",
        2,
        lambda f: f.has_number_list and f.has_words("quantity question", "term", "data") and not f.has_code,
    ),
    Rule("has several numbers", 1, lambda f: f.quantities >= 2),
    Rule("has several numbers", 1, lambda f: f.quantities >= 3 and f.is_short),
    Rule("has numbers with units", 1, lambda f: f.measured_quantities >= 2),
    Rule("asks for a quantity", 2, lambda f: f.has_words("quantity question") and f.quantities >= 2),
    Rule("asks for a quantity", 1, lambda f: f.has_words("quantity question") and f.quantities == 1),
    Rule("asks what something is", 1, lambda f: f.has_words("what is") and f.quantities >= 2),
    Rule("compares several quantities", 3, lambda f: f.has_words("price comparison") and f.quantities >= 2),
    Rule("compares quantities", 1, lambda f: f.has_words("comparison") and f.quantities >= 3),
    Rule("asks how many of one unit make another", 4, lambda f: f.has_words("unit count")),
    Rule("has money over time or in percent", 2, lambda f: f.has_words("finance") and f.quantities >= 2),
    Rule("has a rate", 1, lambda f: f.has_words("rate") and f.quantities >= 2),
    Rule("has percentages", 1, lambda f: f.percentages >= 1 and f.quantities >= 2),
    Rule("sets a condition", 1, lambda f: f.has_words("condition") and f.quantities >= 2 and f.is_question),
    Rule("has several numbers", 1, lambda f: f.quantities >= 3 and f.is_question),
    Rule("asks for a quantity", 2, lambda f: f.has_words("quantity question") and f.quantities >= 4 and f.is_question),
    Rule("is about geometry, physics or mixtures", 2, lambda f: f.has_words("science") and f.quantities >= 2),
    Rule(
        "asks for the best measures",
        4,
        lambda f: f.has_words("optimum") and f.word_counts.get("science", 0) >= 2 and f.quantities >= 1,
    ),
    Rule("is about a chance or a count of ways", 1, lambda f: f.has_words("chance", "game of chance")),
    Rule("is about a chance or a count of ways", 3, lambda f: f.has_words("chance") and f.has_words("game of chance")),
    Rule(
        "is about a chance or a count of ways",
        2,
        lambda f: f.has_words("chance", "game of chance") and f.quantities >= 1,
    ),
    Rule("asks for random numbers", 4, lambda f: f.has_words("random numbers") and f.quantities >= 1 and f.is_short),
    Rule("is a puzzle with numbers", 3, lambda f: f.has_words("puzzle") and f.quantities >= 2),
    Rule("has a physical measure", 3, lambda f: f.has_words("physics") and f.measured_quantities + f.clock_times >= 1),
    Rule("counts days or times", 4, lambda f: f.has_words("calendar") and f.dates + f.clock_times >= 1),
    Rule("asks for a day of a year", 4, lambda f: f.has_words("weekday") and f.dates + f.years >= 1),
    Rule(
        "asks for a day of a year",
        4,
        lambda f: f.has_words("named day") and f.years >= 1 and f.has_words("quantity question"),
    ),
    Rule(
        "asks for the time between two",
        4,
        lambda f: f.clock_times >= 2 and (f.is_question or f.has_words("quantity question")),
    ),
    Rule(
        "has a date and a duration",
        2,
        lambda f: f.dates + f.clock_times >= 1 and f.measured_quantities >= 1 and f.has_words("quantity question"),
    ),
    Rule(
        "converts units", 4, lambda f: (f.has_words("convert") and f.measured_quantities >= 1) or f.has_unit_conversion
    ),
    Rule("converts units", 3, lambda f: f.asks_for_unit and f.measured_quantities >= 1),
)
"""Rules for texts with the material of a calculation, such as quantities, formulas or dates."""

CONTEXT_RULES: Final = (
    Rule("comes with data", 3, lambda f: f.has_data),
    Rule("names a data file", 3, lambda f: f.names_data_file),
    Rule("asks for a quantity", 4, lambda f: f.names_quantity_of_data),
    Rule(
        "asks about the data",
        3,
        lambda f: f.has_data and f.has_words("data", "quantity question", "term", "price comparison"),
    ),
    Rule(
        "goes on from an answer that ran code",
        4,
        lambda f: _is_follow_up(f) and (f.has_words("follow-up", "graph", "term") or f.starts_with("follow-up start")),
    ),
    Rule("has new numbers for an answer that ran code", 3, lambda f: _is_follow_up(f) and f.quantities + f.years >= 1),
)
"""Rules for conversations that contain data, or an answer that ran code."""

COUNTER_RULES: Final = (
    Rule(
        "but asks for a piece of writing",
        -7,
        lambda f: f.has_words("write") and not (f.has_words("number base") and f.has_math),
    ),
    Rule("but names a kind of writing", -4, lambda f: f.has_words("genre")),
    Rule("but asks for a translation", -7, lambda f: f.has_words("translate")),
    Rule("but asks for better wording", -7, lambda f: f.has_words("reword")),
    Rule("but asks for a summary", -7, lambda f: f.has_words("summarize") and not f.has_data),
    Rule("but is role play", -7, lambda f: f.has_words("role play") or f.starts_with("role play start")),
    Rule("but asks for an opinion", -4, lambda f: f.has_words("opinion")),
    Rule("but asks for advice or ideas", -4, lambda f: f.has_words("advice")),
    Rule("but asks how something is done", -3, lambda f: f.has_words("instructions")),
    Rule("but asks for an explanation", -4, lambda f: f.has_words("explain") and not _is_about_data(f)),
    Rule(
        "but asks for an explanation",
        -4,
        lambda f: (
            f.has_words("possible explanation")
            and not f.has_words("explain")
            and not _is_about_data(f)
            and not (f.has_words("term") and f.has_math)
        ),
    ),
    Rule("but asks what something is", -4, _asks_for_definition),
    Rule(
        "but is about code as text",
        -5,
        lambda f: (f.has_code or (f.has_words("programming") and not f.has_data)) and not f.asks_to_run_code,
    ),
    Rule(
        "but is about code as text",
        -5,
        lambda f: f.has_words("python") and not f.has_code and not f.has_words("with python", *RESULT_ACTS),
    ),
    Rule(
        "but asks for a known fact",
        -4,
        lambda f: f.has_words("known fact") and f.measured_quantities == 0 and not _is_about_data(f),
    ),
    Rule(
        "but is about health or a repair",
        -3,
        lambda f: (
            f.has_words("health or repair") and not f.has_data and not f.has_words("calendar") and f.clock_times < 2
        ),
    ),
    Rule(
        "but is small talk",
        -4,
        lambda f: f.starts_with("greeting") and not f.has_words("follow-up", *RESULT_ACTS) and not _is_about_data(f),
    ),
    Rule(
        "but is small talk",
        -4,
        lambda f: f.has_words("small talk") and f.quantities == 0 and not f.has_words("follow-up", *RESULT_ACTS),
    ),
    Rule("but wants that later or not at all", -7, lambda f: f.has_words("later", "do not run")),
    Rule(
        "but holds a phone number",
        -3,
        lambda f: (f.has_phone_number and not f.has_words("number base")) or f.has_words("phone"),
    ),
    Rule(
        "but is about a picture",
        -6,
        lambda f: f.has_data and f.has_words("picture content") and not f.has_words("graph", "calculate"),
    ),
)
"""Rules for texts that ask for something that code execution cannot improve or would make worse."""

RULES: Final = ACT_RULES + MATERIAL_RULES + CONTEXT_RULES + COUNTER_RULES


def sum_points(facts: Facts) -> int:
    """Return the sum of the points of all rules that apply."""
    return sum(rule.points for rule in RULES if rule.condition(facts))
