"""Footnotes: their numbers, their links, and ids that are unique on a page."""

from __future__ import annotations

import re

import pytest

from chat.page.rendering import documents, stream
from chat.page.rendering.documents import MarkdownOptions
from chat.page.rendering.markdown import render_markdown
from chat.page.rendering.stream import split_markdown
from tests.chat.page.rendering.pages import assert_streams_like_whole

TEXT = 'One[^a] two[^"b] one again[^a].\n\n[^a]: First *note*\n[^"b]: Second note\n\nThe end.\n'


def test_footnotes_and_references_link_to_each_other_with_ids_of_the_given_prefix() -> None:
    html = "".join(split_markdown(TEXT, MarkdownOptions("part-7-0")))
    ids = re.findall(r' id="([^"]*)"', html)
    assert ids == [
        *("part-7-0-fnref-1", "part-7-0-fnref-2", "part-7-0-fnref-1-2"),
        *("part-7-0-fn-1", "part-7-0-fn-2"),
    ]
    links = re.findall(r' href="#([^"]*)"', html)
    assert sorted(set(links)) == sorted(ids)
    assert '<section class="footnotes" aria-label="Footnotes">' in html
    assert 'aria-label="Back to reference 1-2"' in html
    assert "_blank" not in html


def test_footnotes_without_an_id_prefix_have_neither_ids_nor_links_and_come_after_all_blocks() -> None:
    html = render_markdown(TEXT)
    assert " id=" not in html
    assert "<a" not in html
    assert "<p>One<sup>1</sup> two<sup>2</sup> one again<sup>1</sup>.</p>" in html
    assert html.endswith("<p>Second note</p>\n</li>\n</ol>\n</section>\n")


def test_reference_without_a_footnote_is_text() -> None:
    assert render_markdown("a[^1]") == "<p>a[^1]</p>\n"


def test_footnote_is_kept_if_the_text_is_split_at_the_document_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "DOCUMENT_LIMIT_CHARS", 60)
    monkeypatch.setattr(stream, "DOCUMENT_LIMIT_CHARS", 60)
    text = "One[^1].\n\n[^1]: The note\n\nTwo\n\n" + "more\n\n" * 20
    html = render_markdown(text)
    assert html.count("The note") == 1
    assert html.count("more") == 20
    assert_streams_like_whole(text, range(len(text)))
