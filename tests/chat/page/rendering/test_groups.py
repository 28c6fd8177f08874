"""Groups of blocks: the later documents of a long text, and the placeholders of those that a page does not hold."""

from __future__ import annotations

import re

import pytest
from django.utils.safestring import SafeString

from chat.page.rendering.documents import LATER_LIMIT_CHARS, MarkdownOptions
from chat.page.rendering.groups import HeldGroups
from chat.page.rendering.kept_documents import KeptValues, Rendering, renderings
from chat.page.rendering.stream import MarkdownStream, render_group, split_documents, split_markdown

TEXT = "".join(f"## {number}\n\nText of {number}, and *more*.\n\n" for number in range(8000))
OPTIONS = MarkdownOptions("part-7-0")
PLACEHOLDER = re.compile(
    r'<div class="blocks" data-absent id="part-7-0-b(\d+)"><a [^>]*href="/group/\1">[^<]*</a></div>'
)


def link(number: int) -> str:
    return f"/group/{number}"


def replaced(match: re.Match[str]) -> str:
    return render_group(TEXT, int(match[1]), OPTIONS) or ""


@pytest.mark.parametrize("near", [None, 0, 5, 11])
def test_page_with_placeholders_equals_the_whole_text_once_all_of_it_is_loaded(near: int | None) -> None:
    count = len(split_documents(TEXT))
    closed, tail = split_markdown(TEXT, OPTIONS, HeldGroups(link, near))
    absent = {int(number) for number in PLACEHOLDER.findall(closed)}
    assert count > 14
    if near is None:
        assert absent == set(range(1, count - 4))
    else:
        assert absent == set(range(1, count - 1)) - set(range(near - 2, near + 3))
    assert (PLACEHOLDER.sub(replaced, closed), tail) == split_markdown(TEXT, OPTIONS)


@pytest.mark.parametrize("number", [0, 1000])
def test_first_document_and_one_that_may_still_grow_are_no_placeholders(number: int) -> None:
    assert render_group(TEXT, number, OPTIONS) is None
    assert render_group(TEXT, len(split_documents(TEXT)) - 1, OPTIONS) is None


def test_definition_in_a_later_document_replaces_its_own_group_alone() -> None:
    stream = MarkdownStream(OPTIONS)
    stream.append(TEXT[: 5 * LATER_LIMIT_CHARS] + "\n\nsee [x]\n\nand\n\nmore\n")
    stream.update()
    stream.append("\n[x]: https://e.example\n")
    update = stream.update()
    assert update.group
    assert (update.is_reset, update.closed_html, update.group.is_reset) == (False, "", True)
    assert 'href="https://e.example"' in update.group.html
    assert len(update.group.html) < 4 * LATER_LIMIT_CHARS


def test_text_that_was_received_is_not_rendered_again() -> None:
    stream = MarkdownStream(OPTIONS)
    stream.append(TEXT)
    stream.update()
    size_bytes = renderings.size_bytes
    split_markdown(TEXT[:-1], OPTIONS, HeldGroups(link, at_end=4))
    # Only the end of the text is new.
    assert 0 < renderings.size_bytes - size_bytes < 4 * LATER_LIMIT_CHARS


def test_least_recently_used_renderings_are_dropped() -> None:
    kept = KeptValues[Rendering](10_000)
    made: list[int] = []

    def read(key: int) -> None:
        def make() -> Rendering:
            made.append(key)
            return Rendering(SafeString("x" * 4000))

        kept.get(key, make)

    for key in (1, 2, 1, 3, 1, 2):
        read(key)
    assert made == [1, 2, 3, 2]
    assert kept.size_bytes <= 10_000
