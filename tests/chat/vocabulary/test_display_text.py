"""The text of a displayed object: its best form, and bounded work for hostile ones."""

from __future__ import annotations

import time
from collections.abc import Mapping

import pytest

from chat.vocabulary.bounded_output import OUTPUT_LIMIT_CHARS
from chat.vocabulary.display_text import CELLS_LIMIT, display_text, html_text
from chat.vocabulary.html_content import read_pieces
from chat.vocabulary.parts import JSON

MEGABYTE = 1_000_000


@pytest.mark.parametrize(
    ("bundle", "text"),
    [
        ({"text/html": "<b>1</b>", "text/plain": "array([1])"}, "array([1])\n"),
        (
            {"text/markdown": "**The mean is 4.2**", "text/plain": "<IPython.core.display.Markdown object>"},
            "**The mean is 4.2**\n",
        ),
        ({"text/latex": "$y = 2.5$", "text/plain": "<IPython.core.display.Latex object>"}, "$y = 2.5$\n"),
        ({"text/html": "<p>Total: 99</p>", "text/plain": "<IPython.core.display.HTML object>"}, "Total: 99\n"),
        ({"application/json": {"a": [1, None]}, "text/plain": "<a.JSON object>"}, '{"a":[1,null]}\n'),
        ({"text/plain": "<a.B object at 0x1f>"}, "<a.B object at 0x1f>\n"),
        ({"image/bmp": "Qk0="}, "[Output of type image/bmp that has no text.]\n"),
        ({}, ""),
    ],
)
def test_display_text_is_made_of_the_first_informative_mime_type(bundle: Mapping[str, JSON], text: str) -> None:
    assert display_text(bundle) == text


def test_plain_text_of_html_has_headings_list_items_and_table_rows_on_separate_lines() -> None:
    source = (
        "<h2>Sums</h2><p>See <a href='https://e.org/x'>this\n page</a>,<br>please</p><ol><li>one<li>two"
        "<ul><li>three</ul></ol><table><caption>Costs</caption><tr><th>a<th>b<tr><td>1<td>2</table>"
        "<a href='javascript:x()'>no</a><img src='https://e.org/y.png' alt='cat'>"
    )
    assert html_text(source).splitlines() == [
        "## Sums",
        "See this page (https://e.org/x),",
        "please",
        "1. one",
        "2. two",
        "    - three",
        "Costs",
        "a | b",
        "1 | 2",
        "no",
        "[A picture at another address is not loaded here.]",
        "cat (https://e.org/y.png)",
    ]


def test_html_text_in_markdown_is_escaped() -> None:
    [text] = read_pieces("<p># *a* <i>[b](c)</i> $x$ &lt;b&gt;</p><ul><li>1. x</ul>", as_markdown=True)
    assert text == r"\# \*a\* \[b\](c) \$x\$ \<b\>" + "\n\n" + r"- 1\. x"


def test_long_text_or_table_is_cut_with_a_notice() -> None:
    text = display_text({"text/markdown": "x" * MEGABYTE})
    assert len(text) < OUTPUT_LIMIT_CHARS + 100
    assert "980,000 characters are left out here" in text
    rows = html_text("<table>" + "<tr><td>1" * (CELLS_LIMIT + 7))
    assert rows.endswith("\n[7 more rows]")


HOSTILE = {
    "elements": "<i>x</i>" * (MEGABYTE // 8),
    "nesting": "<b a=1><p>" * (MEGABYTE // 10),
    "lists": "<ul><li>" * (MEGABYTE // 8),
    "links": "<a href='https://e.org'>x" * (MEGABYTE // 25),
    "pictures": "<img src=x>" * (MEGABYTE // 11),
    "cells": "<table>" + "<td><p>1</p>" * (MEGABYTE // 12),
    "frames": 'frames[0] = "data:image/' * (MEGABYTE // 24),
    "data": '<img src="data:image/png;base64,' * (MEGABYTE // 32),
    "headings": "<h1>" * (MEGABYTE // 4),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_html_takes_little_time(name: str) -> None:
    started_at = time.thread_time()
    html_text(HOSTILE[name])
    assert time.thread_time() - started_at < 0.5


@pytest.mark.parametrize("character", ["&#1;", "\x01", "\x7f"])
def test_plain_text_of_an_image_omits_an_address_with_a_control_character(character: str) -> None:
    html = f'<img src="https://a.example/{character}b"><p>Total: 5</p>'
    text = display_text({"text/html": html})
    assert "Total: 5" in text
    assert "a.example" not in text
