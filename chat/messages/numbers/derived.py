"""Numbers that an answer computes from others: differences, ratios, percent changes, sums and counts. Pure.

So that invented numbers do not match by chance, only two rows of one column that the sentence names, two traced numbers
of the same sentence, and the sum, mean and count of a listed column are tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal, DecimalException
from itertools import islice, permutations
from typing import Final

from chat.messages.numbers.blocks import Block, SourceBlocks, normal_label
from chat.messages.numbers.context import Contexts, mentions
from chat.messages.numbers.reading import WrittenNumber
from chat.messages.numbers.sources import SourceText
from chat.messages.numbers.traced import TracedNumber
from chat.messages.numbers.units import header_unit

_NUMBERS_IN_SENTENCE: Final = 4
_SURE_DIGITS: Final = 4
"""A number with so many digits may also follow from the numbers before its sentence."""
_BLOCKS_LIMIT: Final = 40
_ROWS_LIMIT: Final = 2_000


def derive(
    text: str,
    numbers: Sequence[WrittenNumber],
    traced: Sequence[TracedNumber],
    sources: Sequence[SourceText],
    found: SourceBlocks,
) -> list[TracedNumber]:
    """Return the traced numbers; those that have no source and can be computed get the verdict `derived`."""
    if all(one.verdict != "nowhere" for one in traced):
        return list(traced)
    blocks = list(_blocks(sources, found))
    contexts = Contexts(text)
    result = []
    for number, one in zip(numbers, traced, strict=True):
        note = ""
        if one.verdict == "nowhere":
            context = contexts.at(number.start)
            start, end = contexts.sentence(number.start)
            beside = [
                other for other in traced if start <= other.start < end and other.hit and other.verdict != "nowhere"
            ][:_NUMBERS_IN_SENTENCE]
            values = {other.hit.value for other in beside if other.hit}
            if one.hit is None and number.digits > 1:
                note = _from_pairs(number, sorted(values))
                if not note and number.digits >= _SURE_DIGITS and len(values) < 2:
                    before = [other.hit.value for other in traced if other.start < start and other.hit]
                    note = _from_pairs(number, sorted({*before[-_NUMBERS_IN_SENTENCE:], *values}))
            if not context.is_cell:
                note = note or _from_blocks(number, context.text, blocks, is_elsewhere=one.hit is not None)
        result.append(replace(one, verdict="derived", note=note) if note else one)
    return result


def _blocks(sources: Sequence[SourceText], found: SourceBlocks) -> Iterator[Block]:
    """Yield the blocks of outputs that have rows, of the first `_BLOCKS_LIMIT` ones."""
    outputs = (source for source in sources if source.kind == "output")
    blocks = (block for source in outputs for block in found.all_of(source))
    return (block for block in islice(blocks, _BLOCKS_LIMIT) if 1 < len(block.rows) <= _ROWS_LIMIT)


def _from_pairs(number: WrittenNumber, values: Sequence[Decimal]) -> str:
    if number.unit == "%":
        for value in values:
            # A factor of 1.49 is an improvement of 49 %.
            if 1 < value < 10 and _is(number, (value - 1) * 100):
                return f"{value} - 1"
    return next((note for one, other in permutations(values, 2) if (note := _from_pair(number, one, other))), "")


def _from_pair(number: WrittenNumber, one: Decimal, other: Decimal) -> str:
    """Return how the number follows from two others, or an empty text."""
    if one > other and not (number.unit == "%" and abs(one) < 1) and _is(number, one - other):
        return f"{one} - {other}"
    if not other or not one:
        return ""
    if number.unit == "%":
        if _is(number, (one - other) / other * 100):
            return f"{one} / {other} - 1"
        return f"{one} / {other}" if one < other and _is(number, one / other * 100) else ""
    return f"{one} / {other}" if not number.unit and number.digits > 1 and _is(number, one / other) else ""


def _from_blocks(number: WrittenNumber, context: str, blocks: Sequence[Block], *, is_elsewhere: bool) -> str:
    """Return how the number follows from a column. `is_elsewhere`: its value is in a row that is not named."""
    for block in blocks:
        named = {one.label for one in mentions(context, block.labels)}
        rows = [(normal_label(label), figures) for label, figures in block.rows]
        if not (named or is_elsewhere) and _is(number, Decimal(len(rows))) and not number.unit:
            return f"{len(rows)} rows"
        width = max(len(figures) for _, figures in rows)
        for column in range(1, width + 1):
            unit = header_unit(block.columns[-column]) if column <= len(block.columns) else ""
            if number.unit and unit not in ("", number.unit) and number.unit != "%":
                continue
            values = [_value(figures[-column]) for _, figures in rows if len(figures) >= column]
            picked = [_value(figures[-column]) for label, figures in rows if label in named and len(figures) >= column]
            if len(picked) == len(named) == 2:
                note = _from_pairs(number, sorted(picked))
            else:
                note = "" if is_elsewhere else _from_column(number, values, picked)
            if note:
                return note
    return ""


def _from_column(number: WrittenNumber, values: Sequence[Decimal], picked: Sequence[Decimal]) -> str:
    """Return how the number follows from a column. `picked`: its values in the rows that the sentence names."""
    if number.digits < 2:
        return ""
    total = sum(values, Decimal(0))
    if not picked and len(values) > 2:
        if _is(number, total):
            return f"sum of {len(values)} numbers"
        if _is(number, total / len(values)):
            return f"mean of {len(values)} numbers"
    if len(picked) == 1 and total and number.unit == "%" and _is(number, picked[0] / total * 100):
        return f"{picked[0]} / {total}"
    return ""


def _is(number: WrittenNumber, value: Decimal) -> bool:
    """Return whether a value rounds to the number. A fall may be written without its sign, a rise not with one."""
    return any(
        abs(abs(value) - abs(amount.value)) <= amount.step / 2 and (amount.value >= 0 or value < 0)
        for amount in number.amounts
    )


def _value(figure: str) -> Decimal:
    try:
        return Decimal(figure.strip("+%$€£₹").replace(",", ""))
    except DecimalException:
        return Decimal(0)
