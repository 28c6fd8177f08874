"""Swaps of the elements of parts. After a part is cut, its elements show the parts that come next."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence

from django.utils.safestring import SafeString

from chat.page.fragments import delete_swap, figure_element_id, join_html, part_element_id, partial


class PartElements:
    """The elements of the parts of a live answer: one for each run of parts, and one for each attachment of a run.

    Code may remove what it has shown. The elements that showed it stay on the page until the end of the frame, so that
    new content can replace theirs without a change of height in between.
    """

    def __init__(self, message_id: uuid.UUID, figures: Iterable[tuple[int, int]]) -> None:
        """`figures`: for each run, its index and the number of attachments that it shows."""
        self._message_id = message_id
        self._figures = dict(figures)
        self._stale: dict[int, int] = {}
        """The runs that were removed, but whose elements are still on the page: index -> number of attachments."""

    def remove(self, index: int) -> None:
        """Mark the elements of a removed run, so that another run can use them."""
        self._stale[index] = self._figures.pop(index, 0)

    def add(self, index: int, pieces: Sequence[SafeString]) -> list[SafeString]:
        """Return the swaps that show a new run. `pieces`: the HTML of its element, and of each attachment."""
        self._figures[index] = len(pieces) - 1
        if index not in self._stale:
            return [partial(f"message-{self._message_id}-parts", "beforeend", join_html(pieces))]
        ids = self._ids(index, self._stale.pop(index))
        # Attachments for which there is no element are inserted after the last element.
        htmls = [*pieces[: len(ids) - 1], join_html(pieces[len(ids) - 1 :])] if len(pieces) >= len(ids) else pieces
        swaps = [partial(element_id, "outerMorph", html) for element_id, html in zip(ids, htmls, strict=False)]
        return swaps + [delete_swap(element_id) for element_id in ids[len(pieces) :]]

    def delete_stale(self) -> list[SafeString]:
        """Return the swaps that delete the elements of removed runs that no new run has used."""
        swaps = [delete_swap(one) for index, count in self._stale.items() for one in self._ids(index, count)]
        self._stale.clear()
        return swaps

    def _ids(self, index: int, figures: int) -> list[str]:
        root = part_element_id(self._message_id, index)
        return [root, *(figure_element_id(root, number) for number in range(figures))]
