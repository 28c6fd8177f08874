"""Notebooks as conversations: exported ones are restored, others become one answer."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from attachments.models import Attachment
from chat.library.imports.importer import import_file
from chat.library.imports.refusal import RefusedImport
from chat.models import Conversation, Message, Turn
from chat.vocabulary.parts import OUTCOME_FAILED, CodeExecutionResult, PartKind, Text
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


def test_adjoining_text_cells_stay_paragraphs_of_their_own() -> None:
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


def test_headings_of_a_model_stay_in_an_exported_notebook() -> None:
    conversation = make_conversation()
    answer = make_model_message(conversation, parts=[(PartKind.TEXT, "### First"), (PartKind.EXECUTABLE_CODE, "1")])
    add_parts(answer, CodeExecutionResult("1"), Text("### Findings\n\n*Model: mine*"))
    copy = import_notebook(exported_bytes(conversation, "ipynb"))
    texts = [text for kind, text in parts_of(copy.messages.get(role="model")) if kind == "text"]
    assert texts == ["### First", "### Findings\n\n*Model: mine*"]


def test_question_with_a_file_and_an_image_keeps_its_text() -> None:
    conversation = make_conversation()
    question = make_user_message(conversation, "How to write &nbsp; here?\n  &nbsp;")
    attach(question, make_attachment(conversation.owner, name="data.csv"))
    graph_in(question, None, name="photo.png")
    copy = import_notebook(exported_bytes(conversation, "ipynb"))
    assert copy.messages.get(role="user").text == question.text


def test_label_of_a_model_is_stored_on_one_line_and_adds_no_markdown_to_an_exported_notebook() -> None:
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


@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        (b'{"nbformat": 3, "cells": []}', "$.nbformat: only notebooks of format 4"),
        (notebook({"cell_type": "video", "source": ""}), "$.cells[0].cell_type: “video” is none of"),
        (notebook(code({"a": 1})), "$.cells[0].source: there must be a text"),
        (notebook(code("x", {"output_type": "display_data", "data": {"image/png": "AAAA"}})), "is not a PNG"),
        (notebook(code("x", {"output_type": "display_data", "data": {"image/png": "?"}})), "there must be base64"),
    ],
)
def test_invalid_notebook_is_refused(file: bytes, sentence: str) -> None:
    with pytest.raises(RefusedImport) as caught:
        import_file(file, owner_id=make_user().pk)
    assert sentence in str(caught.value)
    assert not Conversation.objects.exists()
