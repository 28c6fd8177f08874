"""Checks whether the unit and the sign of a number in an answer fit those of an equal value in a source. Pure."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from chat.messages.numbers.claims import direction
from chat.messages.numbers.contexts import Context
from chat.messages.numbers.measures import (
    PERIODS,
    KnownUnits,
    is_other_measure,
    measure_after,
    measure_in_brackets,
    measure_of_name,
    written_measures,
)
from chat.messages.numbers.numerals import read_run
from chat.messages.numbers.reading import WrittenNumber
from chat.messages.numbers.sources import Hit
from chat.messages.numbers.tables import Place
from chat.messages.numbers.wanted import Wanted
from chat.messages.numbers.words_around_numbers import (
    CURRENCIES,
    DECREASE,
    PERCENT_HINT,
    PERCENTS,
    header_unit,
    named_scales,
)

EXACT_DIGITS: Final = 12
"""Numbers with more digits are compared digit by digit, because bounds are floats with a tolerance."""
_CERTAIN: Final = CURRENCIES | {"kg", "%", "°C"}
_DIGITS: Final = re.compile(r"[\d.,]+")
_BETWEEN_WORDS: Final = re.compile(r"[\W_]+")
_PERCENTS_HINT: Final = re.compile(r"%|pct|percent|prozent|pourcent|porcent|百分|प्रतिशत", re.IGNORECASE)


def fits(
    number: WrittenNumber, hit: Hit, place: Place | None, wanted: Wanted, context: Context, known: KnownUnits
) -> bool:
    """Return whether the unit and the sign of a number fit those of an equal value in a source.

    `place`: where the value is in a table. `wanted`: what the value was found as. `known`: the units in code.
    """
    factor = wanted.factor
    if has_other_measure(number, hit, place, wanted, context, known):
        return False
    if number.digits > EXACT_DIGITS and _has_other_digits(number, hit):
        return False
    unit = place.unit if place else header_unit(hit.source.text[hit.end : hit.end + 1])
    if number.unit in PERCENTS:
        if factor == 1 and unit and unit not in PERCENTS:
            return False
        if factor != 1 and hit.value.is_integer() and hit.value != 1:
            return False
        if factor == 1 and place and not _may_be_percent(hit, place):
            return False
    elif unit and number.unit and unit not in (number.unit, wanted.unit) and {number.unit, unit} & _CERTAIN:
        return False
    statistic = place.statistic if place else ""
    is_signed = statistic == "slope" or (place and statistic != "r" and place.table.has_both_signs[place.column])
    # The difference of two rows may have either sign; a percent change or a change of two years may not. For a
    # negative percentage or slope, the words need not say that something fell (`is_change`).
    if place and statistic == "difference" and not number.sign:
        return not (number.unit == "%" or place.table.series) or direction(context.clause) * hit.value >= 0
    if hit.value < 0 or number.sign == "-":
        is_change = is_signed and not context.is_cell and (number.unit in PERCENTS or statistic == "slope")
        return _has_direction(number, hit.value, context, is_change=bool(is_change))
    return not is_signed or direction(context.clause) >= 0


def with_measure_of_header(number: WrittenNumber, context: Context) -> WrittenNumber:
    """Return a number with the unit in the header or the first cell of its table, as in `Weight (t)`."""
    if number.measure or number.unit or number.scale or not context.is_cell:
        return number
    return replace(number, measure=measure_in_brackets(context.column) or measure_in_brackets(context.text))


def has_other_measure(
    number: WrittenNumber, hit: Hit, place: Place | None, wanted: Wanted, context: Context, known: KnownUnits
) -> bool:
    """Return whether an equal value in a source surely has another unit of measure, or scale, than a number."""
    if wanted.scale not in _scales(number, place, context):
        return True
    written = measure_after(hit.source.text, hit.end)
    measures = {written} if written else _measures(place, known) if place else set()
    if number.measure and place and not written and not place.table.names[place.column]:
        measures |= written_measures([hit.line_text])
    if wanted.unit:
        return place is not None and wanted.unit not in measures
    is_count = number.measure in PERIODS and number.amount.step == 1
    return is_other_measure(number.measure, measures if measures or is_count else known.units)


def _scales(number: WrittenNumber, place: Place | None, context: Context) -> frozenset[int]:
    """Return the powers of ten that the number may be greater by than its source: those in a column's name.

    Amounts of money need a scale word if the column is in thousands. Other numbers may be written as in the column.
    """
    name = place.table.names[place.column] or place.row.label.partition(" ")[2] if place else ""
    scales = named_scales(filter(str.isalpha, _BETWEEN_WORDS.split(name)))
    is_amount = number.unit in CURRENCIES and not number.scale and not context.is_cell
    return scales if scales and is_amount else scales | {0}


def _has_other_digits(number: WrittenNumber, hit: Hit) -> bool:
    """Return whether a long number differs from the digits of its source, which a float does not hold exactly."""
    text = hit.source.text[hit.start : hit.end]
    written = [one.value for one in read_run(text, ".")] if _DIGITS.fullmatch(text) else []
    return bool(written) and all(
        abs(abs(one.value) - value) > one.step / 2 for one in number.amounts for value in written
    )


def _measures(place: Place, known: KnownUnits) -> set[str]:
    """Return the units of measure that the column or the row of a place names; one may be a price for another."""
    of_column = place.table.measures[place.column]
    of_row = "" if place.row.is_statistic else measure_of_name(place.row.label.replace(" ", "_"))
    name = place.table.names[place.column].lower()
    return {of_column or of_row or known.of_stems.get(name, ""), place.unit} - {""}


def _has_direction(number: WrittenNumber, value: float, context: Context, *, is_change: bool) -> bool:
    """Return whether the sign of a number, or the words around it, allow the sign of a value."""
    said = _direction(context)
    if not number.amount.value or (number.may_be_negative and value < 0):
        return True
    if number.sign:
        return (number.sign == "-") == (value < 0) or (number.sign == "-" and said < 0)
    if value < 0 and DECREASE.search(context.clause):
        return True
    return said < (1 if is_change else 0) if value < 0 else said >= 0


def _may_be_percent(hit: Hit, place: Place) -> bool:
    """Return whether a value in a table may be a percentage, by the words around it or by the values of its column."""
    name = place.table.names[place.column]
    if abs(hit.value) < 1 and not place.table.has_percents[place.column]:
        # A value below 1 is probably a fraction, unless a name says that it is a percentage.
        return bool(_PERCENTS_HINT.search(f"{name} {place.row.label}" if name else hit.line_text))
    if PERCENT_HINT.search(f"{name} {place.row.label}" if name else f"{place.table.title} {hit.line_text}"):
        return True
    column = place.table.columns[place.column] or (hit.value,)
    return not all(map(float.is_integer, column)) and max(map(abs, column)) <= 100


def _direction(context: Context) -> int:
    """Return the direction that the clause of a number says, or else its sentence."""
    return direction(context.clause) or direction(context.text)
