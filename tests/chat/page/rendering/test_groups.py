"""Groups of blocks: the later documents of a long text, and the placeholders of those that a page does not hold."""

from __future__ import annotations

import re

import pytest
from django.utils.safestring import SafeString

from chat.page.rendering.documents import DOCUMENT_LIMIT_CHARS, LATER_LIMIT_CHARS, MarkdownOptions
from chat.page.rendering.groups import HELD_AT_END, HeldGroups
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
def test_page_whose_placeholders_are_all_loaded_equals_the_text_rendered_as_a_whole(near: int | None) -> None:
    count = len(split_documents(TEXT))
    closed, tail = split_markdown(TEXT, OPTIONS, HeldGroups(link, near))
    absent = {int(number) for number in PLACEHOLDER.findall(closed)}
    assert count > 14
    if near is None:
        assert absent == set(range(1, count - HELD_AT_END))
    else:
        assert absent == set(range(1, count - 1)) - set(range(near - 2, near + 3))
    assert (PLACEHOLDER.sub(replaced, closed), tail) == split_markdown(TEXT, OPTIONS)


@pytest.mark.parametrize("number", [0, 1000])
def test_first_last_and_unknown_document_are_not_rendered_as_groups(number: int) -> None:
    assert render_group(TEXT, number, OPTIONS) is None
    assert render_group(TEXT, len(split_documents(TEXT)) - 1, OPTIONS) is None


def test_link_definition_replaces_only_the_group_of_blocks_that_it_belongs_to() -> None:
    stream = MarkdownStream(OPTIONS)
    stream.append(TEXT[: DOCUMENT_LIMIT_CHARS + 2 * LATER_LIMIT_CHARS] + "\n\nsee [x]\n\nand\n\nmore\n")
    stream.update()
    stream.append("\n[x]: https://e.example\n")
    update = stream.update()
    assert update.group
    assert (update.is_reset, update.closed_html, update.group.is_reset) == (False, "", True)
    assert 'href="https://e.example"' in update.group.html
    assert len(update.group.html) < 4 * LATER_LIMIT_CHARS


def test_long_text_that_arrives_at_once_is_sent_as_placeholders_except_for_its_end() -> None:
    stream, whole = MarkdownStream(OPTIONS, HeldGroups(link)), split_markdown(TEXT, OPTIONS, HeldGroups(link))
    start = len("## 0\n\nText of 0, and *more*.\n\n")
    stream.append(TEXT[:start])
    stream.update()
    size_bytes = renderings.size_bytes
    stream.append(TEXT[start:])
    update = stream.update()
    count = len(split_documents(TEXT))
    assert [int(number) for number in PLACEHOLDER.findall(update.closed_html)] == [*range(1, count - 2)]
    # Groups that no page holds are not rendered.
    assert renderings.size_bytes - size_bytes < 12 * DOCUMENT_LIMIT_CHARS
    assert (stream.closed_and_tail, update.tail_html) == (whole, whole[1])


@pytest.mark.parametrize(
    "block",
    [
        "```python\nx = 1\n\ny = 2\n```\n\n",
        "- one\n\n  two\n\n- three\n\n",
        "<details><summary>More</summary>\n\nHidden.\n\nIt ends.\n</details>\n\n",
        "\\[\n\\begin{aligned}\n\nx &= 1\n\\end{aligned}\n\\]\n\n",
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n",
        "> One.\n>\n> Two.\n\n",
        "[^1]: One.\n\n    Two.\n\n",
        "1. one\n\n   ```\n   x\n    ```\n\n```\ny\n\nz\n```\n\n",
        "- one\n\n  ```\n  x\n\n```\ny\n\nz\n```\n\n",
        "<table>\n```\n</table>\n\n```\ny\n\nz\n```\n\n",
    ],
)
def test_no_short_block_is_split(block: str) -> None:
    text = "".join(f"{block}Text {number}.\n\n" for number in range(5000))
    starts = [start for _, start in split_documents(text)][1:]
    assert len(starts) > 2
    assert all(text[start:].startswith((block, "Text ", "```\ny\n\nz\n```\n\nText")) for start in starts)
    assert all(text[:start].endswith("\n\n") for start in starts)


@pytest.mark.parametrize("line", ["x = 1  # `a` | $b$\n", "def f(): pass\n\n"])
def test_long_code_that_is_split_into_groups_is_a_code_block_in_each_group(line: str) -> None:
    text = f"```python\n{line * 20_000}```\n"[: DOCUMENT_LIMIT_CHARS + 2 * LATER_LIMIT_CHARS]
    closed, tail = split_markdown(text)
    groups = closed.split('<div class="blocks">')[1:]
    assert len(groups) > 1
    # The code of the last one is in the tail.
    assert all(group.startswith('<div class="code-block">') for group in groups[:-1])
    assert tail.startswith('<div class="code-block">')


def test_text_that_was_rendered_while_it_was_received_is_not_rendered_again() -> None:
    stream = MarkdownStream(OPTIONS)
    stream.append(TEXT)
    stream.update()
    size_bytes = renderings.size_bytes
    split_markdown(TEXT[:-1], OPTIONS)
    # Only the end of the text is new.
    assert 0 < renderings.size_bytes - size_bytes < 4 * LATER_LIMIT_CHARS


def test_least_recently_used_renderings_are_dropped_from_the_cache() -> None:
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
