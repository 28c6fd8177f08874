"""Notebooks as conversations: exported ones are restored, others become one answer."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from django.test import Client

from attachments.models import Attachment
from chat.library.imports.importer import import_file
from chat.library.imports.refusal import RefusedImport
from chat.models import Conversation, Message, Turn
from chat.vocabulary.markdown_source import unescape_text
from chat.vocabulary.parts import OUTCOME_FAILED, CodeExecutionResult, Display, Part, PartKind, Text
from tests.chat.library.exports.samples import (
    add_parts,
    exported_bytes,
    exported_json,
    graph_in,
    png,
    rich_conversation,
    session_conversation,
)
from tests.factories import attach, make_attachment, make_conversation, make_model_message, make_user, make_user_message

pytestmark = pytest.mark.django_db


def import_notebook(data: bytes, name: str = "analysis.ipynb") -> Conversation:
    result = import_file(data, owner_id=make_user().pk, name=name)
    return Conversation.objects.get(pk=result.created[0])


def parts_of(message: Message) -> list[tuple[str, str | None]]:
    return [(part.kind, part.text) for part in message.parts.all()]


def notebook(*cells: dict[str, Any]) -> bytes:
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": list(cells)}).encode()


def code(source: object, *outputs: dict[str, Any], count: int | None = 1) -> dict[str, Any]:
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": list(outputs), "execution_count": count}


def test_notebook_of_another_tool_becomes_one_answer() -> None:
    image = base64.b64encode(png()).decode()
    error = {"output_type": "error", "ename": "E", "evalue": "", "traceback": ["\x1b[31mTraceback\x1b[0m", "E: no"]}
    conversation = import_notebook(
        notebook(
            {"cell_type": "markdown", "metadata": {}, "source": ["# Title\n", "Words"]},
            code(
                ["print(1)\n", "2"],
                {"output_type": "stream", "name": "stdout", "text": ["1\n"]},
                {"output_type": "execute_result", "data": {"text/plain": "2", "text/html": "<script>"}, "metadata": {}},
            ),
            code("plot()", {"output_type": "display_data", "metadata": {}, "data": {"image/png": image + "\n"}}),
            code("fail()", error),
            code("never()", count=None),
            code(""),
        )
    )
    assert conversation.title == "analysis"
    question, answer = conversation.messages.order_by("index")
    assert question.text == "Notebook: analysis"
    assert parts_of(answer) == [
        ("text", "# Title\nWords"),
        ("executable_code", "print(1)\n2"),
        ("code_execution_result", "1\n2"),
        ("executable_code", "plot()"),
        ("code_execution_result", None),
        ("executable_code", "fail()"),
        ("code_execution_result", "Traceback\nE: no"),
        ("text", "```python\nnever()\n```"),
    ]
    assert answer.parts.get(index=6).value == CodeExecutionResult("Traceback\nE: no", outcome=OUTCOME_FAILED)
    link = answer.message_attachments.get()
    assert (link.part_index, link.attachment.is_graph, link.attachment.width) == (4, True, 64)
    assert answer.text == "# Title\nWords\n[GRAPH:0]\n```python\nnever()\n```"


def test_successive_markdown_cells_become_separate_paragraphs() -> None:
    cells: list[dict[str, Any]] = [
        {"cell_type": "markdown", "metadata": {}, "source": source} for source in ("one", "# Two", "three")
    ]
    answer = import_notebook(notebook(*cells)).messages.get(role="model")
    assert answer.text == "one\n\n# Two\n\nthree"


def test_exported_notebook_is_imported_as_its_messages() -> None:
    original = rich_conversation()
    copy = import_notebook(exported_bytes(original, "ipynb"), "Sales-by-month-notebook.zip")
    assert copy.title == original.title
    messages = list(copy.messages.order_by("index"))
    assert [message.role for message in messages] == ["user", "model", "user", "model"]
    assert messages[0].text == "Plot *this*:\n  1. <b>bold</b>\n# not a heading"
    assert [kind for kind, _ in parts_of(messages[1])] == [
        "thought",
        "text",
        "executable_code",
        "code_execution_result",
        "executable_code",
        "code_execution_result",
        "text",
    ]
    assert parts_of(messages[1])[1] == ("text", "I will read the file.")
    assert messages[1].turn.model == "plotline-demo"
    assert Attachment.objects.filter(owner=copy.owner, is_graph=True).count() == 1
    assert parts_of(messages[3]) == [("text", "Half an ans")]


def test_headings_in_an_answer_are_kept_when_its_exported_notebook_is_imported() -> None:
    conversation = make_conversation()
    answer = make_model_message(conversation, parts=[(PartKind.TEXT, "### First"), (PartKind.EXECUTABLE_CODE, "1")])
    add_parts(answer, CodeExecutionResult("1"), Text("### Findings\n\n*Model: mine*"))
    copy = import_notebook(exported_bytes(conversation, "ipynb"))
    texts = [text for kind, text in parts_of(copy.messages.get(role="model")) if kind == "text"]
    assert texts == ["### First", "### Findings\n\n*Model: mine*"]


def test_text_of_a_question_with_a_file_and_an_image_is_imported_unchanged() -> None:
    conversation = make_conversation()
    question = make_user_message(conversation, "How to write &nbsp; here?\n  &nbsp;")
    attach(question, make_attachment(conversation.owner, name="data.csv"))
    graph_in(question, None, name="photo.png")
    copy = import_notebook(exported_bytes(conversation, "ipynb"))
    assert copy.messages.get(role="user").text == question.text


def test_model_label_with_line_breaks_and_markdown_is_cleaned_on_import_and_export() -> None:
    turn = {"parameters": {"label": "<b>\n\n### x\u202e\x1b[2J"}, "model": "a\nb\u200b"}
    document = exported_json(session_conversation())
    document["messages"][1]["turn"] |= turn
    file = json.dumps(document).encode()
    original = Conversation.objects.get(pk=import_file(file, owner_id=make_user().pk).created[0])
    stored = Turn.objects.get(conversation=original)
    assert (stored.parameters["label"], stored.model) == ("<b> ### x[2J", "a b")
    copy = import_notebook(exported_bytes(original, "ipynb"))
    assert "###" not in copy.messages.get(role="model").text


def test_notebook_of_a_session_is_imported_with_its_outputs() -> None:
    copy = import_notebook(exported_bytes(session_conversation(), "ipynb"))
    answer = copy.messages.get(role="model")
    assert parts_of(answer)[1:3] == [
        ("executable_code", "plot()"),
        ("code_execution_result", "   a\n0  1done\n"),
    ]
    assert answer.message_attachments.get().attachment.is_graph
    assert answer.text.endswith("Here it is.")


def test_same_notebook_is_imported_once() -> None:
    owner = make_user()
    file = notebook(code("1", {"output_type": "stream", "name": "stdout", "text": "1"}))
    first = import_file(file, owner_id=owner.pk, name="a.ipynb")
    assert import_file(file, owner_id=owner.pk, name="b.ipynb").existing == first.created


def display(**bundle: object) -> dict[str, Any]:
    data = {name.replace("_", "/"): value for name, value in bundle.items()}
    return {"output_type": "display_data", "metadata": {}, "data": data}


def values_of(conversation: Conversation) -> list[Part]:
    return [part.value for part in conversation.messages.get(role="model").parts.all()]


def test_nan_and_infinity_in_a_notebook_become_null() -> None:
    chart = (
        b'{"application/vnd.plotly.v1+json": {"data": [{"y": [1.5, NaN, Infinity, 1e999]}]}, "text/plain": "Figure()"}'
    )
    outputs = b'[{"output_type": "display_data", "data": %s}]' % chart
    cell = b'{"cell_type": "code", "metadata": {"x": -Infinity}, "source": "fig", "outputs": %s}' % outputs
    file = b'{"nbformat": 4, "metadata": {"threshold": NaN}, "cells": [%s]}' % cell
    *_, shown = values_of(import_notebook(file))
    assert isinstance(shown, Display)
    assert shown.bundle["application/vnd.plotly.v1+json"] == {"data": [{"y": [1.5, None, None, None]}]}


def test_output_of_an_error_without_traceback_is_its_name_and_value() -> None:
    values = values_of(
        import_notebook(
            notebook(
                code("a", {"output_type": "error", "ename": "KeyboardInterrupt", "evalue": ""}),
                code("b", {"output_type": "error", "ename": "ValueError", "evalue": "\x1b[1mno", "traceback": []}),
                code("c", {"output_type": "stream", "text": "1"}, {"output_type": "error", "traceback": None}),
            )
        )
    )
    results = [value for value in values if isinstance(value, CodeExecutionResult)]
    assert [result.output for result in results] == ["KeyboardInterrupt", "ValueError: no", "1\nError"]
    assert {result.outcome for result in results} == {OUTCOME_FAILED}


@pytest.mark.formulas
def test_markdown_latex_svg_html_and_json_outputs_without_plain_text_are_imported() -> None:
    svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect width="9" height="9"/></svg>'
    conversation = import_notebook(
        notebook(
            code("m", display(text_markdown=["*Mean:", " 3.5*"])),
            code("l", display(text_latex="$x^2$"), display(**{"image_svg+xml": svg})),
            code("t", display(text_html="<b>Total</b>", text_plain="<IPython.core.display.HTML object>")),
            code("j", display(application_json=["a", "b"])),
        )
    )
    bundles = [dict(value.bundle) for value in values_of(conversation) if isinstance(value, Display)]
    assert bundles[:3] == [{"text/markdown": "*Mean: 3.5*"}, {"text/latex": "$x^2$"}, {"image/svg+xml": svg}]
    assert bundles[4] == {"application/json": ["a", "b"]}
    client = Client()
    client.force_login(conversation.owner)
    page = client.get(f"/c/{conversation.pk}/").content.decode()
    assert "<em>Mean: 3.5</em>" in page
    assert "<math" in page
    assert "Total" in page
    assert "could not be read" not in page


def test_images_embedded_in_texts_become_attachments() -> None:
    uri = f"data:image/png;base64,{base64.b64encode(png()).decode()}"
    answer = import_notebook(
        notebook(
            {
                "cell_type": "markdown",
                "metadata": {},
                "source": f"One\n\n![image.png]({uri})\n\n<img src='{uri}'/>\n\ntwo",
            },
            code("report()", {"output_type": "display_data", "data": {"text/html": f"<h3>R</h3><img src='{uri}'>"}}),
        )
    ).messages.get(role="model")
    assert parts_of(answer)[0] == ("text", "One\n\ntwo")
    assert answer.parts.get(kind=PartKind.DISPLAY).value == Display({"text/html": "<h3>R</h3><img src='attachment:'>"})
    links = answer.message_attachments.order_by("index")
    assert [(link.part_index, link.attachment.is_graph) for link in links] == [(0, False), (0, False), (3, True)]


def test_unreadable_cells_and_outputs_are_left_out_and_listed_at_the_end() -> None:
    answer = import_notebook(
        notebook(
            code("empty()", display(image_png="", text_plain="<Figure size 640x480 with 1 Axes>")),
            code("broken()", display(image_png="AAAA"), display(image_png="?"), {"output_type": "hologram"}, {}),
            {"cell_type": "sql", "metadata": None, "source": ["SELECT 1"]},
            code({"a": 1}),
            {"cell_type": "markdown", "source": "Kept.", "attachments": {"a.png": {"image/png": "AAAA"}}},
            code("", {"output_type": "stream", "text": "Output alone."}),
        )
    ).messages.get(role="model")
    assert parts_of(answer)[:-1] == [
        ("executable_code", "empty()"),
        ("code_execution_result", "<Figure size 640x480 with 1 Axes>"),
        ("executable_code", "broken()"),
        ("code_execution_result", None),
        ("text", "```\nSELECT 1\n```"),
        ("text", "\n\nKept."),
        ("executable_code", "# This cell has no code."),
        ("code_execution_result", "Output alone."),
    ]
    heading, *notes = unescape_text([*answer.parts.all()][-1].text or "").split("\n- ")
    assert heading.strip() == "These pieces of the notebook could not be read, and were left out:"
    beginnings = [
        "Cell 1: $.cells[0].outputs[0].data.image/png: the image is empty",
        "Cell 2: $.cells[1].outputs[0].data.image/png: ",
        "Cell 2: $.cells[1].outputs[1].data.image/png: there must be base64",
        "Cell 2: $.cells[1].outputs[2].output_type: “hologram” is no kind",
        "Cell 2: $.cells[1].outputs[3].output_type: ",
        "Cell 3: $.cells[2].cell_type: “sql” is an unknown kind of cell",
        "Cell 4: $.cells[3].source: there must be a text",
        "Cell 5: $.cells[4].attachments.a.png.image/png: ",
    ]
    assert [note[: len(start)] for note, start in zip(notes, beginnings, strict=True)] == beginnings


def test_values_in_an_unusual_form_are_read() -> None:
    image = base64.b64encode(png()).decode()
    error = {"output_type": "error", "ename": "KeyError", "evalue": 3, "traceback": [None]}
    answer = import_notebook(
        notebook(
            code(["a", None, 1], error, display(text_plain=5)),
            code("b", display(image_png=f"data:image/png;base64,{image.rstrip('=')}")),
            code("c", display(image_png="", image_jpeg=image)),
            {"cell_type": "code", "input": "d", "prompt_number": 1, "outputs": [{"output_type": "pyout", "text": "6"}]},
            {
                "cell_type": "markdown",
                "source": "![a](attachment:a.svg) Kept.",
                "attachments": {"a.svg": {"x/svg": ""}},
            },
        )
    ).messages.get(role="model")
    assert parts_of(answer)[:2] == [("executable_code", "a1"), ("code_execution_result", "KeyError: 3" + "5")]
    assert answer.message_attachments.count() == 2
    assert ("code_execution_result", "6") in parts_of(answer)
    assert "attachment:a.svg" not in answer.text
    assert "“a.svg” is not a PNG, JPEG, GIF or WebP image." in unescape_text(answer.text)


def test_list_of_left_out_cells_and_outputs_has_at_most_50_entries() -> None:
    answer = import_notebook(notebook(*[{"cell_type": "x"}] * 70)).messages.get(role="model")
    assert answer.text.count("\n- Cell") == 50
    assert answer.text.endswith("\n- and 20 more")


@pytest.mark.parametrize("version", [2, 3])
def test_notebook_of_an_older_format_is_imported(version: int) -> None:
    image = base64.b64encode(png()).decode()
    cells = [
        {"cell_type": "heading", "level": 2, "source": "Old"},
        {
            "cell_type": "code",
            "input": ["print 1 + 1"],
            "prompt_number": 2,
            "outputs": [
                {"output_type": "stream", "stream": "stdout", "text": "2\n"},
                {"output_type": "pyout", "prompt_number": 2, "text": ["4"], "latex": "$4$"},
                {"output_type": "display_data", "png": image, "metadata": {}},
                {"output_type": "pyerr", "ename": "E", "evalue": "no", "traceback": []},
            ],
        },
    ]
    sheets = [{"cells": cells}, {"cells": [{"cell_type": "markdown", "source": "Second sheet"}, None]}]
    document = {"nbformat": version, "metadata": {"name": "My analysis"}, "worksheets": sheets}
    conversation = import_notebook(json.dumps(document).encode())
    assert conversation.title == "My analysis"
    answer = conversation.messages.get(role="model")
    assert parts_of(answer)[:4] == [
        ("text", "## Old"),
        ("executable_code", "print 1 + 1"),
        ("code_execution_result", "2\n4\nE: no"),
        ("text", "Second sheet"),
    ]
    assert answer.message_attachments.get().attachment.is_graph
    assert "worksheets" in answer.text


@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        (b'{"nbformat": 1, "cells": []}', "$.nbformat: only notebooks of formats 2 to 4"),
        (b'{"nbformat": 5, "cells": []}', "Open this one in Jupyter, save it again"),
        (b'{"nbformat": 4, "cells": {}}', "$.cells: there must be a list"),
    ],
)
def test_invalid_notebook_is_refused(file: bytes, sentence: str) -> None:
    with pytest.raises(RefusedImport) as caught:
        import_file(file, owner_id=make_user().pk)
    assert sentence in str(caught.value)
    assert not Conversation.objects.exists()
