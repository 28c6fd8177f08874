"""Formats numbers for people: on charts, in sentences, and in the output of management commands. Pure."""

from __future__ import annotations

from decimal import Decimal

SI_PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def format_short(number: float) -> str:
    """Return at most three significant digits with an SI prefix, such as `1.25 M`. Numbers below 1,000 have none."""
    for size, prefix in SI_PREFIXES:
        # Without the factor, 999,500 would be rounded to "1e+03 k". It gets the next prefix instead.
        if abs(number) >= size * 0.9995:
            return f"{number / size:.3g} {prefix}"
    return f"{number:.3g}"


def format_integer(number: float) -> str:
    """Return all digits, with a comma between groups of three."""
    return f"{number:,.0f}"


def format_count(count: int, noun: str) -> str:
    """Return a number and its noun in the singular or plural, such as `3 uploads`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def format_dollars(amount: float | Decimal) -> str:
    """Return an amount of US dollars. Below 10 cents, it has two significant digits, below 0.01 cents only a bound."""
    if amount == 0:
        return "$0"
    if amount >= 0.1:
        return f"${amount:,.2f}".removesuffix(".00")
    return f"${float(amount):.2g}" if amount >= 0.0001 else "<$0.0001"


def format_seconds(amount: float) -> str:
    """Return a duration in seconds: whole seconds from 10 s, below that two decimal places unless it is whole."""
    return f"{amount:,.0f} s" if amount >= 10 or amount == int(amount) else f"{amount:.2f} s"


def format_bytes(number: int) -> str:
    """Return a size with a decimal prefix, such as `60 kB`."""
    return f"{format_short(number)}B" if number >= 1000 else f"{number} B"
