"""Numbers as the language of the reader writes them."""

from __future__ import annotations

from django.utils.translation import get_language


def group_thousands(number: int) -> str:
    """Format a number with its thousands apart: 1234 becomes `1,234`, in German `1.234`."""
    return localize_number(f"{number:,}")


def localize_number(text: str) -> str:
    """Return a number in English form, such as `1,234.5`, as the active language writes it."""
    is_german = (get_language() or "").startswith("de")
    return text.translate(str.maketrans(",.", ".,")) if is_german else text
