"""Helpers that apply streamed updates as a page does."""

from __future__ import annotations

from collections.abc import Sequence

from chat.page.rendering.stream import MarkdownStream, TextUpdate, split_markdown

GROUP = '<div class="blocks">'


def assert_streams_like_whole(text: str, cuts: Sequence[int]) -> None:
    """Stream the text in pieces that end at `cuts`; after each piece, the page must equal the text rendered at once."""
    stream = MarkdownStream()
    closed_html = ""
    start = 0
    for cut in [*sorted(cuts), len(text)]:
        stream.append(text[start:cut])
        start = cut
        update = stream.update()
        closed_html = apply_update(closed_html, update)
        assert (closed_html, update.tail_html) == split_markdown(text[:cut])


def apply_update(closed_html: str, update: TextUpdate) -> str:
    """Return a page's closed HTML after an update."""
    if update.is_reset:
        return update.closed_html
    if update.group:
        # The last group is at the end, and it holds no other one.
        before = closed_html[: closed_html.rindex(GROUP) + len(GROUP)]
        grown = before if update.group.is_reset else closed_html.removesuffix("</div>")
        closed_html = grown + update.group.html + "</div>"
    return closed_html + update.closed_html
