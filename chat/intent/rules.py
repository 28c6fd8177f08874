"""The table of points that a decision sums up.

Every reason completes "The question ..." (or "It ..."), so that a person can read it; those that speak against begin
with "but ".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from chat.intent.facts import Facts


@dataclass(frozen=True, slots=True)
class Rule:
    """Points for or against, where `holds`; `reason` is what a person reads."""

    reason: str
    points: int
    holds: Callable[[Facts], bool]


def _goes_on(facts: Facts) -> bool:
    """Whether a text leans on an answer that ran code."""
    return facts.ran_code_before and facts.is_short and not facts.says("explains", "rewords", "remembers")


def _is_about_data(facts: Facts) -> bool:
    return facts.has_data and facts.says("data")


def _asks_for_a_meaning(facts: Facts) -> bool:
    """Whether "what is ..." has nothing that could be computed."""
    around = (
        facts.has_data
        or facts.ran_code_before
        or facts.says("day", "calendar", "weekday", "explains", "term", "calculate", "hash", "chance", "games")
    )
    return facts.opens("wonders") and not facts.is_mathematical and not around


RESULTS: Final = ("graph", "draw", "calculate", "simulate", "run")
"""Words for acts whose result, not whose code, is wanted."""

ACTS: Final = (
    Rule("asks to run code", 9, lambda f: f.is_to_run and (f.is_code or f.is_mathematical or f.is_short)),
    Rule("asks to run code", 4, lambda f: f.opens("runs") and f.says("programs to run") and not f.is_code),
    Rule("asks for a graph", 4, lambda f: f.says("graph") and not f.says("plot of a story")),
    Rule(
        "asks for a graph",
        4,
        lambda f: (
            not f.says("graph")
            and f.says("draw", "looks")
            and (f.is_formula or f.says("figure", "loose figure", "term", "process"))
        ),
    ),
    Rule("asks to show a result", 4, lambda f: f.opens("shows") and f.says("figure", "computed", "process")),
    Rule("asks for a simulation", 4, lambda f: f.says("simulate") or (f.opens("throws") and f.quantities >= 1)),
    Rule("asks for a calculation", 3, lambda f: f.says("calculate") and not f.is_code),
    Rule(
        "asks for a calculation",
        1,
        lambda f: (
            f.says("calculate")
            and (f.is_mathematical or f.says("computed", "process", "asks", "day"))
            and not f.is_code
        ),
    ),
    Rule("asks for a checksum or encoding", 4, lambda f: f.says("hash")),
    Rule("asks for another base", 4, lambda f: f.says("bases") and (f.is_mathematical or f.is_phone)),
    Rule("asks to count", 2, lambda f: f.says("count")),
    Rule("asks to count letters", 4, lambda f: f.says("count", "asks") and (f.says("letters") or f.is_letter_count)),
    Rule("asks to count words", 3, lambda f: f.says("count", "asks") and f.says("countable")),
    Rule(
        "asks to work on a text that it quotes",
        4,
        lambda f: f.says("transforms", "countable") and (f.is_quoting or f.says("strings")),
    ),
)
"""An act is named."""

MATERIAL: Final = (
    Rule("has an equation or formula", 4, lambda f: f.is_formula and not f.is_code),
    Rule("has an arithmetic expression", 4, lambda f: f.is_expression and not f.is_code),
    Rule("asks for a share in percent", 4, lambda f: f.is_percent_of),
    Rule("has a mathematical or statistical term", 1, lambda f: f.says("term")),
    Rule("has a mathematical or statistical term", 3, lambda f: f.says("term") and f.is_mathematical and not f.is_code),
    Rule("names a known process", 4, lambda f: f.says("process") and (f.quantities >= 1 or f.says("asks"))),
    Rule("names a mathematical figure", 4, lambda f: f.says("figure") and f.quantities >= 1 and f.is_short),
    Rule(
        "asks for a measure of a figure",
        4,
        lambda f: f.says("measure of a figure") and f.says("figure", "loose figure") and f.quantities >= 1,
    ),
    Rule("has a table of numbers", 4, lambda f: f.is_table and not f.is_code),
    Rule("has a list of numbers", 2, lambda f: f.is_list and not f.is_code),
    Rule("asks about the numbers", 2, lambda f: f.is_list and f.says("asks", "term", "data") and not f.is_code),
    Rule("has several numbers", 1, lambda f: f.quantities >= 2),
    Rule("has several numbers", 1, lambda f: f.quantities >= 3 and f.is_short),
    Rule("has numbers with units", 1, lambda f: f.measured >= 2),
    Rule("asks for a quantity", 2, lambda f: f.says("asks") and f.quantities >= 2),
    Rule("asks for a quantity", 1, lambda f: f.says("asks") and f.quantities == 1),
    Rule("asks what something is", 1, lambda f: f.says("wonders") and f.quantities >= 2),
    Rule("compares several quantities", 3, lambda f: f.says("compares") and f.quantities >= 2),
    Rule("compares quantities", 1, lambda f: f.says("compares loosely") and f.quantities >= 3),
    Rule("asks how many of one unit make another", 4, lambda f: f.says("counts units")),
    Rule("has money over time or in percent", 2, lambda f: f.says("finance") and f.quantities >= 2),
    Rule("has a rate", 1, lambda f: f.says("rate") and f.quantities >= 2),
    Rule("has percentages", 1, lambda f: f.percents >= 1 and f.quantities >= 2),
    Rule("sets a condition", 1, lambda f: f.says("condition") and f.quantities >= 2 and f.is_question),
    Rule("has several numbers", 1, lambda f: f.quantities >= 3 and f.is_question),
    Rule("asks for a quantity", 2, lambda f: f.says("asks") and f.quantities >= 4 and f.is_question),
    Rule("is about geometry, physics or mixtures", 2, lambda f: f.says("science") and f.quantities >= 2),
    Rule(
        "asks for the best measures",
        4,
        lambda f: f.says("optimum") and f.said.get("science", 0) >= 2 and f.quantities >= 1,
    ),
    Rule("is about a chance or a count of ways", 1, lambda f: f.says("chance", "games")),
    Rule("is about a chance or a count of ways", 3, lambda f: f.says("chance") and f.says("games")),
    Rule("is about a chance or a count of ways", 2, lambda f: f.says("chance", "games") and f.quantities >= 1),
    Rule("asks for random numbers", 4, lambda f: f.says("random numbers") and f.quantities >= 1 and f.is_short),
    Rule("is a puzzle with numbers", 3, lambda f: f.says("puzzle") and f.quantities >= 2),
    Rule("has a physical measure", 3, lambda f: f.says("physics") and f.measured + f.clocks >= 1),
    Rule("counts days or times", 4, lambda f: f.says("calendar") and f.dates + f.clocks >= 1),
    Rule("asks for a day of a year", 4, lambda f: f.says("weekday") and f.dates + f.years >= 1),
    Rule("asks for a day of a year", 4, lambda f: f.says("day") and f.years >= 1 and f.says("asks")),
    Rule("asks for the time between two", 4, lambda f: f.clocks >= 2 and (f.is_question or f.says("asks"))),
    Rule("has a date and a duration", 2, lambda f: f.dates + f.clocks >= 1 and f.measured >= 1 and f.says("asks")),
    Rule("converts units", 4, lambda f: (f.says("convert") and f.measured >= 1) or f.is_unit_to_unit),
    Rule("converts units", 3, lambda f: f.asks_for_unit and f.measured >= 1),
)
"""What a calculation is made of."""

AROUND: Final = (
    Rule("comes with data", 3, lambda f: f.has_data),
    Rule("asks about the data", 3, lambda f: f.has_data and f.says("data", "asks", "term", "compares")),
    Rule(
        "goes on from an answer that ran code",
        4,
        lambda f: _goes_on(f) and (f.says("again", "graph", "term") or f.opens("continues")),
    ),
    Rule("has new numbers for an answer that ran code", 3, lambda f: _goes_on(f) and f.quantities + f.years >= 1),
)
"""What the conversation holds."""

AGAINST: Final = (
    Rule(
        "but asks for a piece of writing",
        -7,
        lambda f: f.says("writes") and not (f.says("bases") and f.is_mathematical),
    ),
    Rule("but names a kind of writing", -4, lambda f: f.says("genres")),
    Rule("but asks for a translation", -7, lambda f: f.says("translates")),
    Rule("but asks for better wording", -7, lambda f: f.says("rewords")),
    Rule("but asks for a summary", -7, lambda f: f.says("shortens") and not f.has_data),
    Rule("but is role play", -7, lambda f: f.says("plays") or f.opens("acts a part")),
    Rule("but asks for an opinion", -4, lambda f: f.says("opines")),
    Rule("but asks for advice or ideas", -4, lambda f: f.says("advises")),
    Rule("but asks how something is done", -3, lambda f: f.says("instructs")),
    Rule("but asks for an explanation", -4, lambda f: f.says("explains") and not _is_about_data(f)),
    Rule(
        "but asks for an explanation",
        -4,
        lambda f: (
            f.says("explains loosely")
            and not f.says("explains")
            and not _is_about_data(f)
            and not (f.says("term") and f.is_mathematical)
        ),
    ),
    Rule("but asks what something is", -4, _asks_for_a_meaning),
    Rule(
        "but is about code as text",
        -5,
        lambda f: (f.is_code or (f.says("programs") and not f.has_data)) and not f.is_to_run,
    ),
    Rule(
        "but is about code as text",
        -5,
        lambda f: f.says("python") and not f.is_code and not f.says("with python", *RESULTS),
    ),
    Rule(
        "but asks for a known fact",
        -4,
        lambda f: f.says("remembers") and f.measured == 0 and not _is_about_data(f),
    ),
    Rule(
        "but is about health or a repair",
        -3,
        lambda f: f.says("troubles") and not f.has_data and not f.says("calendar") and f.clocks < 2,
    ),
    Rule(
        "but is small talk", -4, lambda f: f.opens("greets") and not f.says("again", *RESULTS) and not _is_about_data(f)
    ),
    Rule("but is small talk", -4, lambda f: f.says("chats") and f.quantities == 0 and not f.says("again", *RESULTS)),
    Rule("but wants that later or not at all", -7, lambda f: f.says("later", "runs not")),
    Rule("but holds a phone number", -3, lambda f: (f.is_phone and not f.says("bases")) or f.says("phones")),
    Rule(
        "but is about a picture", -6, lambda f: f.has_data and f.says("pictures") and not f.says("graph", "calculate")
    ),
)
"""What the tool can hurt."""

RULES: Final = ACTS + MATERIAL + AROUND + AGAINST
