"""Reads the numbers of an answer, with their written precision and unit. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Final

from chat.messages.numbers.measures import measure_after
from chat.messages.numbers.numerals import RUN, Numeral, read_run, sure_decimal_mark, with_ascii_digits
from chat.messages.numbers.skipped import skipped_ranges
from chat.messages.numbers.words_around_numbers import (
    AFTER,
    APPROXIMATE,
    CURRENCIES,
    CURRENCY_SIGNS,
    FACTOR,
    PERCENTS,
    POWER,
    TIMES,
    power_of,
    scale_power,
    unit_name,
)

NUMBERS_LIMIT: Final = 2_000
"""Maximum number of numbers that are read in one answer."""
RUN_LIMIT_CHARS: Final = 40
"""Maximum length of a number. A longer row of digits is a key or a digest."""
_NUMBER: Final = re.compile(
    rf"(?=[-+±–.\d{CURRENCY_SIGNS}])(?<!\d)(?<!\d[.,])(?:(?<![\w)\]])(?P<sign>[-+±–])?)?(?P<before>[{CURRENCY_SIGNS}]\s?)?(?P<inner>[-+–](?=\d))?"
    rf"(?P<run>{RUN}|(?<!\d)[.]\d+)"
)
_ZEROS: Final = 3
_NAME_GOES_ON: Final = re.compile(r"(?!x\b)[A-Za-z_]")
"""Letters that make the digits before them a part of a name. `x` does not, because a factor is written as `1.5x`."""
_RANGE: Final = re.compile(r"(?P<sign>\s?[-–—~～至]\s?)|\s(?:to|bis|à|a|से|到)\s|(?P<and>\s(?:and|und|et|y|और)\s|和)")
_COMMA_WORDS: Final = re.compile(r"\b(?:der|die|das|und|ist|le|les|des|est|et|el|los|las|es|que|una|der|im|em|os)\b")
_POINT_WORDS: Final = re.compile(r"\b(?:the|and|is|of|in|was|are)\b")


@dataclass(frozen=True, slots=True)
class Amount:
    """One possible reading of a number."""

    value: Decimal
    step: Decimal
    """The written precision: the value of its last digit, which is 0.1 million for `1.2 million`."""


@dataclass(frozen=True)
class WrittenNumber:
    """A number as an answer writes it."""

    start: int
    end: int
    amounts: tuple[Amount, ...]
    """All readings, the most likely first."""
    unit: str = ""
    is_approximate: bool = False
    sign: str = ""
    """`+` or `-` if the number is written with a sign."""
    scale: int = 0
    """The power of ten of the scale word after the number, such as 6 for `million`."""
    is_ratio: bool = False
    """True if a word such as `times` follows the number."""
    is_limit: bool = False
    """True if a sign such as `<` stands before the number."""
    may_be_negative: bool = False
    """True if the number is subtracted in a formula, as in `8 - 0.5 × width`. Its source may have the sign."""
    measure: str = ""
    """The unit of measure or currency, in the spelling of `measures`."""

    @property
    def amount(self) -> Amount:
        """The most likely reading."""
        return self.amounts[0]

    @cached_property
    def step(self) -> float:
        """The written precision: the value of the last digit."""
        return float(self.amount.step)

    @cached_property
    def is_whole(self) -> bool:
        """Return whether the number has no fraction, or only zeros in it."""
        # `value % 1` raises an error for values of more than 28 digits, which is the precision of decimals.
        return self.amount.value == self.amount.value.to_integral_value()

    @cached_property
    def digits(self) -> int:
        """Number of significant digits. Zeros at the end of a rounded number count at most as one."""
        digits = str(abs(int(self.amount.value / self.amount.step)))
        if self.is_rounded and self.amount.step >= 1:
            # One zero counts, because the zeros of a number without a word such as `about` may be exact.
            return max(len(digits.rstrip("0")), 1) + (not self.is_approximate)
        return max(len(digits), 1)

    @cached_property
    def is_rounded(self) -> bool:
        """Return whether the number is probably rounded, so that its source may have other digits than `195,000`."""
        return self.is_approximate or (self.amount.step == 1 and _zeros(abs(self.amount.value)) >= _ZEROS)

    @property
    def least_ratio(self) -> float:
        """The least ratio that is written with this scale word, such as 100,000 for `million`; 0 without a word."""
        return 10**self.scale / 10 if self.scale else 0

    def may_have_unit(self, unit: str) -> bool:
        """Return whether the number may come from a source with this unit. A percentage may come from any unit."""
        return not unit or not self.unit or unit == self.unit or self.unit in PERCENTS

    @cached_property
    def bounds(self) -> tuple[tuple[float, float], ...]:
        """Return for each reading the least and the greatest absolute value that would be rounded to it."""
        return tuple(map(self._bounds, self.amounts))

    def _bounds(self, amount: Amount) -> tuple[float, float]:
        value, half = abs(amount.value), amount.step / 2
        if self.is_approximate:
            digits = str(int(value / amount.step))
            half = amount.step.scaleb(min(len(digits) - len(digits.rstrip("0")), max(len(digits) - 1, 0)))
        elif self.is_rounded:
            half = amount.step.scaleb(_zeros(value / amount.step)) / 2
        # The range is made a little wider, because sources are floats, which are not exact.
        return float(max(value - half, Decimal(0))) * (1 - 1e-13), float(value + half) * (1 + 1e-13)


def read_numbers(text: str) -> list[WrittenNumber]:
    """Return the numbers of a Markdown text that may be claims, in order, at most `NUMBERS_LIMIT` of them."""
    ascii_text = with_ascii_digits(text)
    mask = skipped_ranges(ascii_text)
    matches = [match for match in _NUMBER.finditer(ascii_text) if not mask[match.start("run")]][:NUMBERS_LIMIT]
    mark = _decimal_mark(ascii_text, matches)
    numbers: list[WrittenNumber] = []
    for match in matches:
        # The ten of a power such as `3 × 10^5` is part of the number before it.
        if not numbers or match.start("run") >= numbers[-1].end:
            numbers += _read(ascii_text, match, mark)
    return list(_with_shared_units(ascii_text, numbers))


def _zeros(whole: Decimal) -> int:
    """Return the number of zeros at the end of a whole number that is not zero."""
    digits = str(int(whole))
    return len(digits) - len(digits.rstrip("0")) if whole else 0


def _decimal_mark(text: str, matches: list[re.Match[str]]) -> str:
    """Return the decimal mark of a text, by its other numbers or else by its language; empty if it is unknown."""
    marks = Counter(mark for match in matches if (mark := sure_decimal_mark(match["run"])) in (".", ","))
    if marks[","] != marks["."]:
        return max(marks, key=lambda mark: marks[mark])
    commas, points = len(_COMMA_WORDS.findall(text)), len(_POINT_WORDS.findall(text))
    if commas == points:
        return "." if not text.isascii() and not commas else ""
    return "," if commas > points else "."


def _read(text: str, match: re.Match[str], mark: str) -> Iterator[WrittenNumber]:
    run = match["run"]
    if len(run) > RUN_LIMIT_CHARS:
        return
    readings = read_run(run, mark) if run[0] != "." else (Numeral(Decimal(f"0{run}"), len(run) - 1),)
    if not readings:
        return
    end, power = match.end(), 0
    if exponent := POWER.match(text, end):
        power, end = power_of(exponent), exponent.end()
    scale = unit = ""
    if after := AFTER.match(text, end):
        scale, unit, end = after["scale"] or "", after["unit"] or "", after.end()
    if not (scale or unit) and _is_part_of_name(text, end):
        return
    before = (match["before"] or "").strip()
    if unit == "$" and _is_in_formula(text, match.start("run")):
        unit, before, end = "", "", end - 1
    marks = {match["sign"], match["inner"]}
    has_minus = not marks.isdisjoint("-–")
    factor = Decimal(-1 if has_minus else 1).scaleb(power + scale_power(scale))
    amounts = tuple(Amount(one.value * factor, abs(factor).scaleb(-one.decimals)) for one in readings)
    start = min(match.start(group) for group in ("run", "inner", "before", "sign") if match[group] not in (None, "±"))
    name = unit_name(unit) or unit_name(before)
    is_factor = FACTOR.match(text, end) is not None
    yield WrittenNumber(
        start,
        end,
        amounts,
        unit=name,
        is_approximate=APPROXIMATE.search(text[max(0, start - 24) : start]) is not None,
        sign="-" if has_minus else "+" if "+" in marks else "",
        scale=scale_power(scale),
        is_ratio=not is_factor and TIMES.match(text, end) is not None,
        is_limit=text[max(0, start - 6) : start].rstrip(" *_$")[-1:] in ("<", "≤", "＜"),
        may_be_negative=is_factor and text[max(0, start - 3) : start].strip() in ("-", "–"),
        measure=name if name in CURRENCIES else measure_after(text, end) or measure_after(text, end - len(unit)),
    )


def _is_part_of_name(text: str, end: int) -> bool:
    """Return whether letters follow a number that are neither a unit, as in `30ms`, nor the end of `1990s`."""
    is_unit = measure_after(text, end) and not text.startswith("0s", end - 1)
    return _NAME_GOES_ON.match(text, end) is not None and not is_unit


def _is_in_formula(text: str, position: int) -> bool:
    """Return whether a position is inside a formula: an odd number of dollar signs is before it in its line."""
    return text.count("$", text.rfind("\n", 0, position) + 1, position) % 2 == 1


def _with_shared_units(text: str, numbers: list[WrittenNumber]) -> Iterator[WrittenNumber]:
    """Yield the numbers; if the first number of a range has no unit, it gets the unit of the second."""
    for before, number, following in zip([None, *numbers], numbers, [*numbers[1:], None], strict=False):
        if before and before.is_approximate and _RANGE.fullmatch(text, before.end, number.start):
            number = replace(number, is_approximate=True)
        is_range = following and following.unit and not number.unit and bool(number.scale) <= bool(following.scale)
        link = _RANGE.fullmatch(text, number.end, following.start) if following and is_range else None
        # A dash between a greater and a lesser number joins two clauses, as in `7,095 – 43 % less`.
        is_falling = following and link and link["sign"] and number.amount.value > following.amount.value
        if following and link and not link["and"] and not is_falling:
            yield replace(number, unit=following.unit)
        else:
            yield number
