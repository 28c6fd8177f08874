"""Rich outputs in exports: every form in every format, and hostile content."""

from __future__ import annotations

import base64
import json
import re

import comrak
import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.library.exports.display_markdown import ROWS_LIMIT, display_markdown
from chat.library.exports.notebook_outputs import display_output
from chat.page.rendering.svg import sanitize_svg
from chat.vocabulary.parts import JSON, Display, PartKind
from tests.cases import case
from tests.chat.library.exports.samples import add_parts, exported_bytes
from tests.chat.page.fragments.test_displays import hostile_bundles
from tests.chat.page.rendering.test_safety import EXFILTRATION, SCRIPTS
from tests.chat.page.rendering.test_svg import assert_is_safe
from tests.display_bundles import BUNDLES, wide_html
from tests.factories import make_conversation, make_model_message
from tests.parsed_html import ParsedHtml


def rendered(markdown: str) -> str:
    """Return the HTML that a reader which allows raw HTML makes of Markdown with GFM tables."""
    extensions, options = comrak.ExtensionOptions(), comrak.RenderOptions()
    extensions.table = True
    options.unsafe_ = True
    return comrak.render_markdown(markdown, extensions, comrak.ParseOptions(), options)


def markdown_of(name: str) -> str:
    """Return a bundle as Markdown."""
    return display_markdown(Display(BUNDLES[name]))


# Markdown


def test_small_table_becomes_a_markdown_table_after_a_line_with_its_size() -> None:
    assert markdown_of("small").splitlines() == [
        "*3 rows × 3 columns*",
        "",
        "|  | city | population | area |",
        "| --- | --- | ---: | ---: |",
        "| 0 | Oslo | 709037.0 | 454.12 |",
        "| 1 | Rome, Italy | 2746984.0 | 1287.36 |",
        r"| 2 | \=1+1 | NaN | -3.50 |",
    ]
    assert markdown_of("styler").startswith("*Cities. 3 rows × 3 columns*")
    assert "| group | what / unit / key | size / w | size / h | cost / eur |" in markdown_of("multi_index")


def test_long_table_is_cut_and_the_line_above_it_says_so() -> None:
    text = display_markdown(Display({"text/html": wide_html(ROWS_LIMIT + 50, 1)}))
    assert text.startswith(f"*{ROWS_LIMIT + 50} rows × 1 column; the first {ROWS_LIMIT} rows follow*")
    assert len(text.splitlines()) == ROWS_LIMIT + 4


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("latex", "```math\n\\displaystyle \\left[\\begin{matrix}"),
        ("json", '```json\n{\n  "name": "Ada"'),
        (
            "plotly",
            "*An interactive Plotly chart. Only static pictures are shown here; exports contain the output itself.*",
        ),
        ("html", "### Report\n\nAll good."),
        ("markdown", "**Total:** 3\n\n- a"),
        ("text", "```text\narray([[1, 2],"),
    ],
)
@pytest.mark.formulas
def test_latex_json_html_markdown_and_text_displays_are_exported_as_markdown(name: str, text: str) -> None:
    assert text in markdown_of(name)


def test_svg_is_embedded_as_a_sanitized_image() -> None:
    match = re.fullmatch(r"!\[Picture\]\(data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)\)", markdown_of("svg"))
    assert match
    picture = sanitize_svg(base64.b64decode(match[1]).decode())
    assert picture is not None
    assert_is_safe(picture)


@given(st.lists(st.lists(st.text(max_size=10), min_size=3, max_size=3), min_size=1, max_size=4))
def test_text_of_a_table_cell_never_adds_cells_or_other_elements(rows: list[list[str]]) -> None:
    lines = "".join(f"<tr>{''.join(f'<td>x{json_text(text)}</td>' for text in row)}</tr>" for row in rows)
    parsed = ParsedHtml(rendered(display_markdown(Display({"text/html": f"<table>{lines}</table>"}))))
    tags = [one.tag for one in parsed.elements if one.tag not in ("p", "em", "table", "thead", "tbody", "tr")]
    assert tags == ["th"] * 3 + ["td"] * 3 * len(rows)


def json_text(text: str) -> str:
    """Return the text escaped, so that it is one cell of HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;")


def test_hostile_display_adds_no_elements_that_load_or_run_something() -> None:
    for payload in SCRIPTS + EXFILTRATION:
        with case(payload):
            for bundle in hostile_bundles(payload):
                parsed = ParsedHtml(rendered(display_markdown(Display(bundle))))
                assert not [name for name in parsed.attribute_names if name.startswith(("on", "hx-", "style"))]
                for one in parsed.elements:
                    assert one.tag not in ("script", "svg", "iframe", "object", "embed", "style")
                    assert one.tag not in ("link", "form", "base", "meta")
                    source = one.attributes.get("src")
                    assert source is None or source.startswith("data:image/svg+xml;base64,")


# Notebook


def test_notebook_output_has_only_safe_mime_types() -> None:
    types = {name: set(output_data(BUNDLES[name])) for name in ("small", "svg", "plotly", "html", "latex", "json")}
    assert types == {
        "small": {"text/html", "text/plain"},
        "svg": {"image/svg+xml", "text/plain"},
        "plotly": {"application/vnd.plotly.v1+json", "text/plain"},
        "html": {"text/plain"},
        "latex": {"text/latex", "text/plain"},
        "json": {"application/json", "text/plain"},
    }
    assert output_data(BUNDLES["html"]) == {"text/plain": "### Report\nAll good."}
    assert "<caption>Cities</caption>" in str(output_data(BUNDLES["styler"])["text/html"])


def output_data(bundle: dict[str, JSON]) -> dict[str, JSON]:
    """Return the data of a bundle's output in a notebook."""
    data = display_output(Display(bundle))["data"]
    assert isinstance(data, dict)
    return data


def test_html_and_svg_in_a_notebook_are_sanitized() -> None:
    for payload in SCRIPTS + EXFILTRATION:
        with case(payload):
            for bundle in hostile_bundles(payload):
                data = output_data(bundle)
                parsed = ParsedHtml(str(data.get("text/html", "")))
                tags = {"table", "caption", "thead", "tbody", "tr", "th", "td", "p"}
                assert {element.tag for element in parsed.elements} <= tags
                assert parsed.attribute_names <= {"border", "class", "colspan", "rowspan"}
                assert parsed.classes <= {"dataframe"}
                if svg := data.get("image/svg+xml"):
                    picture = sanitize_svg(str(svg))
                    assert picture is not None
                    assert_is_safe(picture)
                assert "application/javascript" not in data


# Whole files


@pytest.mark.django_db
@pytest.mark.formulas
def test_every_kind_of_display_is_exported_in_every_format() -> None:
    answer = make_model_message(make_conversation(), parts=[(PartKind.EXECUTABLE_CODE, "show()")])
    add_parts(answer, *(Display(bundle) for bundle in BUNDLES.values()))
    notebook = json.loads(exported_bytes(answer.conversation, "ipynb"))
    nbformat.validate(notebook)
    code = next(cell for cell in notebook["cells"] if cell["cell_type"] == "code")
    assert len(code["outputs"]) == len(BUNDLES)
    document = json.loads(exported_bytes(answer.conversation, "json"))
    parts = document["messages"][-1]["parts"][1:]
    assert [part["display"] for part in parts] == list(BUNDLES.values())
    html = exported_bytes(answer.conversation, "html").decode()
    assert html.count('class="table-box" data-all') == 7
    assert "<math" in html
    assert exported_bytes(answer.conversation, "md").decode().count("| --- |") >= 7
