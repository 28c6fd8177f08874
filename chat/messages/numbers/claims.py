"""Reads from the words around a number that something grew or fell, or that the number is no claim. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from chat.messages.numbers.contexts import Context
from chat.messages.numbers.reading import WrittenNumber
from chat.messages.numbers.words_around_numbers import DECREASE, INCREASE

_THOUSAND: Final = 1000
_KNOWN: Final = frozenset({24, 48, 52, 60, 72, 365, 366, _THOUSAND})
"""Hours, weeks, minutes and days of usual periods, such as 24 hours, and 1000. They are no claims."""
_CONFIDENCE: Final = frozenset({90, 95, 99})
"""Percentages of usual confidence intervals."""
_RULE: Final = re.compile(
    r"recommend|should|threshold|limit|target|guideline|typical|\busual|standard(?! ?(?:dev|err|abw|feh))|norm\b|"
    r"assum|hypothe|require|"
    r"empf|sollt|grenz|\bziel|üblich|vorgab|\bgesetz|"
    r"recommand|devr|seuil|objectif|norme\b|en général|généralement|habituel|"
    r"recomend|suele|deber|umbral|límite|objetivo|norma\b|habitual|"
    r"建议|最好|应该|应当|阈值|标准(?!差|误)|目标|一般|通常|सलाह|चाहिए|सीमा|लक्ष्य|आमतौर",
    re.IGNORECASE,
)

_RESULT: Final = re.compile(r"(?<![^\W_])[prtfz][²*_]{0,3} ?= ?$")
"""The name of a result of a test before a number, as in `p = 0.04`. Such a number is no limit of a rule."""


@lru_cache(maxsize=32)
def direction(text: str) -> int:
    """Return 1 if the words say that something grew, -1 if they say that it fell, 0 if they say neither or both."""
    return bool(INCREASE.search(text)) - bool(DECREASE.search(text))


def is_hundred_percent(number: WrittenNumber) -> bool:
    """Return whether a number is 100 %. Sentences about shares contain it without a source."""
    return number.unit == "%" and number.amount.value == 100


def is_quiet(number: WrittenNumber, context: Context) -> bool:
    """Return whether a number without a source is probably no claim: a year, a usual or round one, or one in advice."""
    value, step = abs(number.amount.value), number.amount.step
    whole = int(value / step)
    if step == 1 and whole in _KNOWN and (number.measure or whole == _THOUSAND):
        return True
    if step == 1 and not number.unit and 1900 <= whole < 2100 and number.end - number.start == 4:
        return True
    if number.unit == "%" and step == 1 and whole in _CONFIDENCE:
        return True
    if number.is_limit and value == step:
        # A limit such as `p < 0.001` is a usual level of significance.
        return True
    digits = len(str(whole).rstrip("0"))
    is_rule = digits <= 2 and bool(_RULE.search(context.text))
    return (digits <= 1 and step >= 1) or (is_rule and not _RESULT.search(context.text[: context.position]))
