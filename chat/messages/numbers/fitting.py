"""Checks whether the unit and the sign of a number in an answer fit those of an equal value in a source. Pure."""

from __future__ import annotations

import re
from typing import Final

from chat.messages.numbers.claims import direction
from chat.messages.numbers.contexts import Context
from chat.messages.numbers.reading import WrittenNumber
from chat.messages.numbers.sources import Hit
from chat.messages.numbers.tables import Place
from chat.messages.numbers.words_around_numbers import CURRENCIES, DECREASE, PERCENT_HINT, PERCENTS, header_unit

_PERCENTS_HINT: Final = re.compile(r"%|pct|percent|prozent|pourcent|porcent|百分|प्रतिशत", re.IGNORECASE)


def fits(number: WrittenNumber, hit: Hit, place: Place | None, factor: float, context: Context) -> bool:
    """Return whether the unit and the sign of a number fit those of an equal value in a source.

    `place`: where the value is in a table. `factor`: what the value was multiplied by.
    """
    unit = place.unit if place else header_unit(hit.source.text[hit.end : hit.end + 1])
    if number.unit in PERCENTS:
        if factor == 1 and unit and unit not in PERCENTS:
            return False
        if factor != 1 and hit.value.is_integer() and hit.value != 1:
            return False
        if factor == 1 and place and not _may_be_percent(hit, place):
            return False
    elif unit and number.unit and number.unit != unit and {number.unit, unit} & (CURRENCIES | {"kg", "%", "°C"}):
        return False
    statistic = place.statistic if place else ""
    is_signed = statistic == "slope" or (place and place.table.has_both_signs[place.column])
    # The difference of two rows may have either sign. For a negative percentage or slope, the words need not say that
    # something fell (`is_change`).
    if statistic == "difference" and not number.sign:
        return True
    if hit.value < 0 or number.sign == "-":
        is_change = is_signed and not context.is_cell and (number.unit in PERCENTS or statistic == "slope")
        return _has_direction(number, hit.value, context, is_change=bool(is_change))
    return not is_signed or direction(context.clause) >= 0


def _has_direction(number: WrittenNumber, value: float, context: Context, *, is_change: bool) -> bool:
    """Return whether the sign of a number, or the words around it, allow the sign of a value."""
    said = _direction(context)
    if not number.amount.value:
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
        return bool(_PERCENTS_HINT.search(f"{name} {place.row.label}"))
    if PERCENT_HINT.search(f"{name} {place.row.label}" if name else f"{place.table.title} {hit.line_text}"):
        return True
    column = place.table.columns[place.column] or (hit.value,)
    return not all(map(float.is_integer, column)) and max(map(abs, column), default=0) <= 100


def _direction(context: Context) -> int:
    return direction(context.clause) or direction(context.text)
