"""Formatting of numbers, amounts, durations and sizes for people."""

from __future__ import annotations

from decimal import Decimal

import pytest

from chat.people.account.number_format import format_bytes, format_count, format_dollars, format_seconds, format_short


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (7, "7"),
        (999, "999"),
        (1000, "1 k"),
        (12_345, "12.3 k"),
        (999_600, "1 M"),
        (1_250_000, "1.25 M"),
        (3e9, "3 G"),
        (0.25, "0.25"),
    ],
)
def test_short_numbers_have_three_significant_digits(number: float, text: str) -> None:
    assert format_short(number) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0, "$0"),
        (0.00001, "<$0.0001"),
        (0.012, "$0.012"),
        (Decimal("1.5"), "$1.50"),
        (15.0, "$15"),
        (1234.5, "$1,234.50"),
    ],
)
def test_small_amounts_of_dollars_keep_two_significant_digits(amount: float | Decimal, text: str) -> None:
    assert format_dollars(amount) == text


@pytest.mark.parametrize(
    ("amount", "text"), [(0.0, "0 s"), (0.5, "0.50 s"), (2.0, "2 s"), (9.876, "9.88 s"), (1234.4, "1,234 s")]
)
def test_durations_below_ten_seconds_have_two_decimal_places(amount: float, text: str) -> None:
    assert format_seconds(amount) == text


@pytest.mark.parametrize(("number", "text"), [(0, "0 B"), (999, "999 B"), (60_000, "60 kB"), (2_500_000, "2.5 MB")])
def test_sizes_have_decimal_prefixes(number: int, text: str) -> None:
    assert format_bytes(number) == text


@pytest.mark.parametrize(("count", "text"), [(0, "0 files"), (1, "1 file"), (1000, "1,000 files")])
def test_counted_nouns_are_singular_only_for_one(count: int, text: str) -> None:
    assert format_count(count, "file") == text
