"""Renders the elements of long texts: *groups* of blocks, one for each document after the first, and their
placeholders.

A page holds the beginning of a long text, its end, and the groups that its reader has scrolled to. Each other group is
a placeholder with a link. Scripts replace a placeholder by its group when it comes near the view.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from chat.page.rendering.documents import MarkdownOptions

HELD_AT_END = 2
"""Number of documents at the end of a text that a page holds, besides the first document."""


@dataclass(frozen=True, slots=True)
class HeldGroups:
    """Which groups of a text a page holds when it opens."""

    url: Callable[[int], str]
    """Returns the URL of the group with this number."""
    near: int | None = None
    """The group that the page was opened for. `None`: the page is read at the end."""

    def holds(self, number: int, count: int) -> bool:
        """Return whether the page holds document `number` of a text with `count` documents."""
        if self.near is not None and abs(number - self.near) <= 2:
            return True
        return number == 0 or number >= count - (HELD_AT_END if self.near is None else 1)


def new_groups_html(
    options: MarkdownOptions, first: int, documents: Sequence[SafeString], held: HeldGroups | None
) -> SafeString:
    """Return the elements of groups that one update adds to a page. `first`: the number of the first of them.

    With `held`, only the last two have their content, so that much text at once does not block the browser.
    """
    last = first + len(documents) - 1
    elements = (
        group_html(options, number, html) if held is None or number > last - 2 else _placeholder(options, number, held)
        for number, html in enumerate(documents, start=first)
    )
    return SafeString("".join(elements))


def group_html(options: MarkdownOptions, number: int, html: SafeString) -> SafeString:
    """Return the element of a group. Groups count from 1: the first document of a text (number 0) is no group."""
    return format_html('<div class="blocks"{}>{}</div>', _id(options, number), html)


def join_documents(
    documents: Sequence[SafeString | None], options: MarkdownOptions, held: HeldGroups | None
) -> SafeString:
    """Return the closed HTML of a text. `documents`: the HTML of each document; `None`: it is not rendered."""
    first, *others = documents
    count = len(documents)
    groups = [
        group_html(options, number, html)
        if html is not None and (held is None or held.holds(number, count))
        else _placeholder(options, number, held)
        for number, html in enumerate(others, start=1)
    ]
    return SafeString("".join([first or "", *groups]))


def _placeholder(options: MarkdownOptions, number: int, held: HeldGroups | None) -> SafeString:
    assert held is not None
    link = format_html('<a class="button quiet" href="{}">{}</a>', held.url(number), _("Show this part of the text"))
    return format_html('<div class="blocks" data-absent{}>{}</div>', _id(options, number), link)


def _id(options: MarkdownOptions, number: int) -> SafeString:
    return format_html(' id="{}-b{}"', options.id_prefix, number) if options.id_prefix else SafeString("")
