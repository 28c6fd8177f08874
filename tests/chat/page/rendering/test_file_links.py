"""Links to files that code wrote lead to their downloads; other links without a web address are text."""

from __future__ import annotations

import pytest

from chat.page.rendering.documents import MarkdownOptions
from chat.page.rendering.file_links import FileLinks
from chat.page.rendering.markdown import render_markdown

BASE = "/api/v1/conversations/00000000-0000-4000-8000-000000000000/session/files/"
PATHS = (
    "result.csv",
    "out/sums.csv",
    "out/plots/line.png",
    "chart.png",
    "Größe & 1.csv",
    "a/same.csv",
    "b/same.csv",
    "my table (1).csv",
)
OWNER = MarkdownOptions(file_links=FileLinks(PATHS, BASE))
GUEST = MarkdownOptions(file_links=FileLinks(PATHS))


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("sandbox:/mnt/data/result.csv", "result.csv"),
        ("result.csv", "result.csv"),
        ("./result.csv", "result.csv"),
        ("/mnt/data/result.csv", "result.csv"),
        ("out/sums.csv", "out/sums.csv"),
        ("sandbox:/mnt/data/out/sums.csv", "out/sums.csv"),
        ("sums.csv", "out/sums.csv"),
        ("chart.png", "chart.png"),
        ("<Größe & 1.csv>", "Gr%C3%B6%C3%9Fe%20%26%201.csv"),
        ("Gr%C3%B6%C3%9Fe%20&%201.csv", "Gr%C3%B6%C3%9Fe%20%26%201.csv"),
        ("my table (1).csv", "my%20table%20%281%29.csv"),
        ("sandbox:/mnt/data/my table (1).csv", "my%20table%20%281%29.csv"),
        ("attachment:result.csv", "result.csv"),
        ("same.csv", "b/same.csv"),
        ("a/same.csv", "a/same.csv"),
    ],
)
def test_link_to_a_written_file_leads_to_its_download(address: str, path: str) -> None:
    assert f'<a href="{BASE}{path}" title="' in render_markdown(f"[x]({address})", OWNER)
    assert "href" not in render_markdown(f"[x]({address})", GUEST)


@pytest.mark.parametrize(
    "address",
    [
        "other.csv",
        "sandbox:/mnt/data/other.csv",
        "./out/report.pdf",
        "/mnt/data/",
        "../result.csv/x",
        "result.csv?x=1",
        "javascript:result.csv",
        "data:text/csv,result.csv",
        f"{BASE}secret.csv",
        f"{BASE}../../close/",
    ],
)
def test_link_to_a_file_that_code_did_not_write_is_shown_as_text(address: str) -> None:
    html = render_markdown(f"[words]({address}) and <{address}>", OWNER)
    assert "href" not in html
    assert "words" in html


def test_words_in_parentheses_after_brackets_are_no_link() -> None:
    for text in ("[1](see the report)", "`[x](my table (1).csv)`"):
        assert f">{text.strip('`')}<" in render_markdown(text, OWNER)


def test_link_to_a_web_address_is_kept() -> None:
    for options in (OWNER, GUEST):
        html = render_markdown("[x](https://e.example/result.csv)", options)
        assert '<a href="https://e.example/result.csv" title="https://e.example/result.csv" target="_blank"' in html


@pytest.mark.parametrize("options", [OWNER, GUEST])
def test_markdown_image_of_a_graph_that_is_shown_anyway_is_removed_from_the_text(options: MarkdownOptions) -> None:
    text = "Here:\n\n![chart](chart.png)\n\n![line](sandbox:/mnt/data/out/plots/line.png) below ![other](other.png)"
    assert render_markdown(text, options) == "<p>Here:</p>\n<p> below ![other](other.png)</p>\n"
