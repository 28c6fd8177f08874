"""The templates of parts and attachments: each kind has one, with one root element and exact bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
from django.conf import settings
from django.utils.html import escape

from chat.library.exports.sentences import function_sentence
from chat.page.attachment_views import AttachmentView
from chat.page.fragments import part_html, part_view
from chat.page.message_views import CodeContext
from chat.page.readers import OWNER, guest_reader
from chat.page.rendering.compact_json import SHOWN_CHARS
from chat.page.rendering.jinja import render
from chat.page.rendering.plot_code import NO_CAPTION, Caption
from chat.vocabulary.parts import (
    JSON,
    OUTCOME_DEADLINE_EXCEEDED,
    OUTCOME_FAILED,
    OUTCOME_OK,
    PART_TYPES,
    CodeExecutionResult,
    Display,
    ExecutableCode,
    FileData,
    FunctionCall,
    FunctionResponse,
    InlineData,
    Part,
    Refusal,
    Text,
    Thought,
    ToolCall,
    ToolResponse,
    Unsupported,
)
from tests.chat.page.fragments.samples import ELEMENT_ID, FILE, GRAPH, IMAGE, MESSAGE_ID, text_view, view_of
from tests.parsed_html import ParsedHtml
from tests.part_examples import EXAMPLES

PART_TEMPLATES = settings.BASE_DIR / "templates" / "chat" / "parts"

TAIL = f'<span id="{ELEMENT_ID}-tail"></span>'
"""The open end of an output."""
TIMED_OUT = "ran out of time after"
MINIMAL_PARTS = (
    Text(""),
    Thought(""),
    ExecutableCode(""),
    CodeExecutionResult(),
    CodeExecutionResult(outcome=OUTCOME_FAILED),
    CodeExecutionResult(output="x\n" * 99, outcome=OUTCOME_OK),
    InlineData(),
    FileData(),
    FunctionCall(""),
    FunctionResponse(""),
    ToolCall(),
    ToolResponse(),
    Display(),
    Unsupported(),
)
"""Parts without optional values, and one with a long output."""

JSON_PARTS: Mapping[str, Callable[[dict[str, JSON]], Part]] = {
    "call": lambda value: FunctionCall("add", value),
    "response": lambda value: FunctionResponse("add", value),
    "unsupported": lambda value: Unsupported(provider_data=value),
}
"""Name -> function that makes a part from a JSON object."""


def html_of(part: Part, *attachments: AttachmentView) -> str:
    """Return the HTML of a part and its attachments."""
    return part_html(view_of(part, *attachments))


def test_every_kind_has_a_template_and_every_template_belongs_to_a_kind() -> None:
    names = {path.stem.removeprefix("_") for path in PART_TEMPLATES.glob("*.jinja")}
    assert names == {kind.value for kind in PART_TYPES}


@pytest.mark.parametrize("part", [*EXAMPLES.values(), *MINIMAL_PARTS])
def test_html_of_a_part_has_one_root_element_with_id_and_kind_and_no_whitespace_around_it(part: Part) -> None:
    parsed = ParsedHtml(html_of(part))
    assert len(parsed.root_tags) == 1
    assert parsed.root_texts == []
    assert parsed.open_elements == 0
    root = parsed.elements[0].attributes
    assert (root["id"], root["data-part-kind"]) == (ELEMENT_ID, part.kind)


# Text and thoughts


def test_html_of_a_text_part_has_the_exact_bytes_that_live_updates_rely_on() -> None:
    html = part_html(text_view(Text("a"), closed="<p>a</p>\n", tail="<p>b"))
    tail = f'<div id="{ELEMENT_ID}-tail" class="tail"><p>b</div>'
    assert html == f'<div id="{ELEMENT_ID}" data-part-kind="text" dir="auto"><p>a</p>\n{tail}</div>'


def test_thought_is_folded_and_contains_only_closed_blocks_and_tail() -> None:
    html = part_html(text_view(Thought("a"), closed="<p>a</p>\n", tail="<p>b</p>"))
    assert re.match(r"<details [^>]*>", html)
    assert " open" not in html
    assert html.endswith(f'"><p>a</p>\n<div id="{ELEMENT_ID}-tail" class="tail"><p>b</p></div></div></details>')


@pytest.mark.parametrize(("duration_ms", "words"), [(None, "Thoughts"), (4200, "Thought for 4.2 s")])
def test_line_above_a_thought_says_how_long_it_took(duration_ms: int | None, words: str) -> None:
    html = part_html(part_view(MESSAGE_ID, 0, Thought("a", duration_ms=duration_ms), reader=OWNER))
    assert f">{words}</summary>" in html


# Code and its results


@pytest.mark.parametrize(
    ("language", "label"),
    [("PYTHON", "Python"), ("r", "R"), ("", "Code"), ("LANGUAGE_UNSPECIFIED", "Code")],
)
def test_code_is_folded_below_its_language_and_number_of_lines(language: str, label: str) -> None:
    html = html_of(ExecutableCode("a = 1\nb = 2\n", language))
    assert f'<summary>{label}<span class="muted">2 lines</span><span id="{ELEMENT_ID}-end"' in html
    assert " open" not in html


@pytest.mark.parametrize(
    ("part", "outcome", "words"),
    [
        (CodeExecutionResult(output="1", outcome=OUTCOME_OK), "success", "The code ran"),
        (CodeExecutionResult(output="oh", outcome=OUTCOME_FAILED), "error", "The code failed"),
        (CodeExecutionResult(output="oh", outcome="OUTCOME_OF_TOMORROW"), "unknown", "The code ended"),
        (CodeExecutionResult(output="oh", outcome="OUTCOME_UNSPECIFIED"), "unknown", "The code ended"),
        (CodeExecutionResult(outcome=OUTCOME_DEADLINE_EXCEEDED), "timeout", "The code ran out of time"),
    ],
)
def test_outcome_of_code_is_shown_in_words(part: Part, outcome: str, words: str) -> None:
    html = html_of(part)
    assert words in html
    assert ParsedHtml(html).elements[0].attributes["data-outcome"] == outcome


def open_tail(html: str) -> str:
    """Return the element that holds the last lines of an output."""
    return TAIL.replace("></span>", f">{html}</span>")


def test_long_output_of_code_is_shown_unfolded() -> None:
    for closed, tail in (("", "1"), ("line\n" * 38, "line\n" * 2)):
        html = html_of(CodeExecutionResult(output=closed + tail, outcome=OUTCOME_OK))
        assert f">\n<span>{closed}{open_tail(tail)}</span></pre>" in html
        assert "<details" not in html


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (None, ""),
        (CodeExecutionResult(outcome=OUTCOME_OK), "ran"),
        (CodeExecutionResult(outcome=OUTCOME_OK, duration_ms=20), "ran in 0.1 s"),
        (CodeExecutionResult(outcome=OUTCOME_OK, duration_ms=9_949), "ran in 9.9 s"),
        (CodeExecutionResult(outcome=OUTCOME_FAILED, duration_ms=9_950), "failed after 10 s"),
        (
            CodeExecutionResult(outcome=OUTCOME_DEADLINE_EXCEEDED, duration_ms=119_600),
            "ran out of time after 2 min 0 s",
        ),
        (CodeExecutionResult(outcome="OUTCOME_OF_TOMORROW", duration_ms=20), "ended; its service does not say how"),
    ],
)
def test_line_above_code_says_how_the_code_ended_and_how_long_it_ran(
    result: CodeExecutionResult | None, words: str
) -> None:
    html = part_html(
        part_view(MESSAGE_ID, 0, ExecutableCode("a", "PYTHON"), reader=OWNER, context=CodeContext(result=result))
    )
    assert f">{words}</span></summary>" in html


def test_result_below_its_code_does_not_repeat_how_the_code_ended() -> None:
    result = CodeExecutionResult(output="1", outcome=OUTCOME_OK)
    assert "The code ran" not in part_html(
        part_view(MESSAGE_ID, 0, result, reader=OWNER, context=CodeContext(has_code=True))
    )


def test_output_is_shown_character_for_character() -> None:
    html = html_of(CodeExecutionResult(output="  a\n\n\tb <i> &amp; \n", outcome=OUTCOME_OK))
    # An HTML parser drops the line feed after the tag.
    assert f">\n<span>  a\n{open_tail(chr(10) + chr(9) + 'b &lt;i&gt; &amp;amp; ' + chr(10))}</span></pre>" in html


def test_output_is_shown_without_escape_codes() -> None:
    assert f">\n<span>{open_tail('red' + chr(10))}</span></pre>" in html_of(
        CodeExecutionResult(output="\x1b[31mred\x1b[0m\n", outcome=OUTCOME_OK)
    )
    assert ">red</pre>" in html_of(Display({"text/plain": "\x1b[31mred\x1b[0m"}))


def test_code_has_a_header_with_its_language_and_a_button_that_copies_it() -> None:
    html = html_of(ExecutableCode("a = 1", "PYTHON"))
    button = '<button type="button" class="quiet" data-action="copy">Copy</button>'
    assert f'<div class="code-block"><div class="code-head"><span>Python</span>{button}</div><pre' in html


@pytest.mark.parametrize("bundle", [{"text/plain": "  <a>\n1"}, {"text/html": "<b>1</b>", "text/plain": "  <a>\n1"}])
def test_rich_output_that_is_only_formatted_text_is_shown_as_plain_text(bundle: dict[str, str]) -> None:
    html = html_of(Display(bundle))
    assert ">  &lt;a&gt;\n1</pre>" in html
    assert "<b>" not in html


@pytest.mark.parametrize(
    ("part", "types"),
    [
        (Display({"text/html": "<b></b>", "application/pdf": "JVBERi0="}), "text/html, application/pdf"),
        (Display({"text/plain": ["not", "text"]}), "text/plain"),
        (Display(), "unknown"),
    ],
)
def test_rich_output_without_plain_text_is_described_by_its_types(part: Part, types: str) -> None:
    html = html_of(part)
    assert f"Output of type {types} that cannot be shown here." in html
    assert "<pre" not in html
    assert "<b>" not in html


def test_rich_output_that_an_attached_graph_shows_gets_no_notice() -> None:
    html = html_of(Display({"image/png": "iVBORw0KGgo="}), GRAPH)
    assert "cannot be shown" not in html
    assert ParsedHtml(html).root_tags == ["div", "figure"]


# Function calls


def test_function_call_is_folded_below_its_name_and_shows_its_arguments() -> None:
    html = html_of(FunctionCall("add", {"a": [1, None], "b": "<i>"}))
    assert '<summary>Function called<span class="muted">add</span></summary>' in html
    assert "{&#34;a&#34;: [1, null], &#34;b&#34;: &#34;&lt;i&gt;&#34;}</pre>" in html
    assert " open" not in html


def test_page_says_that_a_function_call_has_no_valid_arguments() -> None:
    assert ">Arguments that are not a JSON object</pre>" in html_of(FunctionCall("add", None))
    assert ">{}</pre>" in html_of(FunctionCall("add", {}))


@pytest.mark.parametrize(("is_error", "words"), [(False, "Function returned"), (True, "Function failed")])
def test_function_response_is_folded_below_its_outcome_and_shows_its_result(is_error: bool, words: str) -> None:
    html = html_of(FunctionResponse("add", {"result": "<b>"}, is_error=is_error))
    assert f'<summary>{words}<span class="muted">add</span></summary>' in html
    assert "{&#34;result&#34;: &#34;&lt;b&gt;&#34;}</pre>" in html
    assert " open" not in html


@pytest.mark.parametrize(
    ("refusal", "words"),
    [
        (Refusal.DENIED, "Function not allowed"),
        (Refusal.WITHHELD, "Result not sent to the model"),
        (Refusal.NOT_RUN, "Function not run"),
        (Refusal.ABORTED, "Function stopped"),
        (Refusal.LOST, "Function cut off"),
    ],
)
def test_page_and_exports_say_why_a_function_call_has_no_result(refusal: Refusal, words: str) -> None:
    response = FunctionResponse("add", {"error": "No."}, is_error=True, refusal=refusal)
    html = html_of(response)
    assert f'<summary>{words}<span class="muted">add</span></summary>' in html
    assert function_sentence(response) == f"{words}: add"


@pytest.mark.parametrize("part", [FunctionCall("add", {}), FunctionResponse("add", {})])
def test_function_call_is_hidden_if_its_code_shows_the_same(part: Part) -> None:
    for is_hidden in (False, True):
        html = part_html(part_view(MESSAGE_ID, 0, part, reader=OWNER, context=CodeContext(is_hidden=is_hidden)))
        assert ("hidden" in ParsedHtml(html).elements[0].attributes) == is_hidden


@pytest.mark.parametrize("kind", JSON_PARTS)
def test_html_of_deeply_nested_json_is_less_than_twice_as_long_as_the_json(kind: str) -> None:
    value: JSON = []
    for _ in range(90):
        value = [value] * (2 if len(json.dumps(value)) < 10_000 else 1)
    stored = json.dumps(value)
    html = html_of(JSON_PARTS[kind]({"value": value}))
    assert len(html) < 2 * len(stored)


@pytest.mark.parametrize("kind", JSON_PARTS)
def test_long_json_is_cut_and_says_where_the_rest_is(kind: str) -> None:
    html = html_of(JSON_PARTS[kind]({"value": "x" * 30_000}))
    assert len(html) < SHOWN_CHARS + 1_000
    assert "x… (cut here; the JSON export has all of it)</pre>" in html


# Files


def test_inline_data_is_described_by_its_type_unless_it_is_an_image() -> None:
    assert "Data of type audio/wav that cannot be shown here." in html_of(InlineData("audio/wav"))
    assert "Data of type unknown that cannot be shown here." in html_of(InlineData())
    html = html_of(InlineData("image/png"))
    assert html == f'<div id="{ELEMENT_ID}" data-part-kind="inline_data"></div>'


def test_inline_data_that_is_stored_as_an_attachment_is_not_described() -> None:
    html = html_of(InlineData("text/csv"), FILE)
    assert "cannot be shown" not in html
    assert ParsedHtml(html).root_tags == ["div", "span"]


def test_file_of_the_provider_is_shown_by_its_type_and_uri() -> None:
    html = html_of(FileData("https://files.example/1", "text/csv"))
    assert "A file kept by the model's service (text/csv): <code>https://files.example/1</code>" in html


def test_figures_of_attachments_follow_the_html_of_their_part_without_a_wrapper_element() -> None:
    parsed = ParsedHtml(html_of(CodeExecutionResult(output="1\n", outcome=OUTCOME_OK), GRAPH, IMAGE))
    assert parsed.root_tags == ["div", "figure", "figure"]
    assert parsed.root_texts == []
    graph, image = parsed.find_all("figure")
    assert (graph["data-graph-index"], image["data-image-index"]) == ("0", "1")
    assert "data-graph-index" not in image


def test_figure_reserves_its_space_while_the_image_loads() -> None:
    image = ParsedHtml(render("chat/_attachment", {"attachment": GRAPH})).find_all("img")[0]
    assert (image["width"], image["height"]) == ("1000", "600")
    assert image["alt"]


@pytest.mark.parametrize(
    ("caption", "label", "alt", "file_name"),
    [
        (NO_CAPTION, "Graph 1", "Graph drawn by the code: graph-0.png", "graph-0.png"),
        (
            Caption("Sine <wave>", "Line chart", "x in radians", "y"),
            "Sine <wave>",
            "Line chart: Sine <wave>. x axis: x in radians, y axis: y",
            "sine-wave.png",
        ),
        (Caption("", "Histogram", "", "count"), "Graph 1", "Histogram. y axis: count", "graph-0.png"),
        (Caption("../../con: a/b " + "c" * 99), None, None, "con-a-b-" + "c" * 52 + ".png"),
    ],
)
def test_graph_has_the_caption_of_its_code(
    caption: Caption, label: str | None, alt: str | None, file_name: str
) -> None:
    html = render("chat/_attachment", {"attachment": replace(GRAPH, caption=caption)})
    parsed = ParsedHtml(html)
    download = next(link for link in parsed.find_all("a") if "download" in link)
    assert download["download"] == file_name
    if label and alt:
        assert f"<figcaption><span>{escape(label)}</span>" in html
        assert parsed.find_all("img")[0]["alt"] == alt


def test_file_that_is_not_an_image_is_a_link_and_a_table_has_a_preview() -> None:
    table = ParsedHtml(render("chat/_attachment", {"attachment": FILE}))
    assert table.root_tags == ["span"]
    assert [button["data-action"] for button in table.find_all("button")] == ["preview"]
    for file in (replace(FILE, name="notes.txt"), replace(FILE, reader=guest_reader(str))):
        assert ParsedHtml(render("chat/_attachment", {"attachment": file})).root_tags == ["a"]


def test_line_above_code_says_that_there_is_no_result() -> None:
    code = ExecutableCode("a", "PYTHON")
    html = part_html(part_view(MESSAGE_ID, 0, code, reader=OWNER, context=CodeContext(is_without_result=True)))
    assert ' data-end="none">no result</span></summary>' in html
    assert "no result" not in part_html(part_view(MESSAGE_ID, 0, code, reader=OWNER))


# Tools of the provider, and parts of unknown kinds


def test_tool_of_the_provider_is_folded_and_shown_in_words() -> None:
    signed = {"thought_signature": "c2lnbmVk"}
    call = html_of(ToolCall("GOOGLE_SEARCH_WEB", {"queries": ["rivers"]}, "s1", provider_data=signed))
    assert '<summary>Searched the web<span class="muted">rivers</span></summary>' in call
    response = html_of(ToolResponse("GOOGLE_SEARCH_WEB", {"found": "<b>a</b>"}, "s1", provider_data=signed))
    assert '<p><span class="muted">found:</span> 8 characters of HTML, not shown</p>' in response
    for html in (call, response):
        assert " open" not in html
        assert "c2lnbmVk" not in html


def test_unsupported_part_with_only_a_signature_is_hidden() -> None:
    assert " hidden>" in html_of(Unsupported(provider_data={"thought_signature": "c2lnbmVk"}))
    assert " hidden>" not in html_of(Unsupported(provider_data={"fields": {"hologram": {}}}))
