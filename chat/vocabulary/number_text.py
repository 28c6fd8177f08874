"""Formats numbers and days in the language of the reader."""

from __future__ import annotations

from datetime import date, datetime

from django.utils.formats import date_format
from django.utils.translation import get_language


def group_thousands(number: int) -> str:
    """Format a number with a separator between thousands: 1234 becomes `1,234`, in German `1.234`."""
    return localize_number(f"{number:,}")


def localize_number(text: str) -> str:
    """Return a number in English form, such as `1,234.5`, in the form of the active language."""
    is_german = (get_language() or "").startswith("de")
    return text.translate(str.maketrans(",.", ".,")) if is_german else text


def english_date(day: date) -> str:
    """Return a day in the form of English sentences: `1 December 2026`."""
    return f"{day.day} {day:%B %Y}"


def localize_date(text: str) -> str:
    """Return a day from `english_date` in the form of the active language; any other text unchanged."""
    try:
        return date_format(datetime.strptime(text, "%d %B %Y"), "DATE_FORMAT")
    except ValueError:
        return text
