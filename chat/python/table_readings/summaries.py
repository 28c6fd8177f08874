"""Summarizes the values of a column in one line. Pure, except for the active language."""

from __future__ import annotations

from django.utils.translation import gettext as _

from chat.python.kernels.table_reading import TableColumn
from chat.vocabulary.number_text import group_thousands


def summarize(column: TableColumn) -> str:
    """Return the range of the column's numbers, dates or times; otherwise some values, the most frequent first."""
    if column.minimum:
        if column.minimum == column.maximum:
            return column.minimum
        return _("%(first)s to %(last)s") % {"first": column.minimum, "last": column.maximum}
    is_frequent = any(example.count > 1 for example in column.examples)
    texts = [f"{one.text} ({one.count})" if is_frequent else one.text for one in column.examples]
    rest = column.distinct - len(texts)
    listed = ", ".join(texts)
    if rest <= 0 or not texts:
        return listed
    return _("%(values)s and %(number)s more") % {"values": listed, "number": group_thousands(rest)}
