"""Notebooks: valid, and they run: what was recorded comes out again."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import nbformat
import pytest

from chat.exports.as_notebook import chunks
from chat.exports.reading import Source
from chat.exports.sandbox_files import SandboxFiles
from chat.models import Conversation, Part
from chat.parts import PartKind
from tests.chat.exports.building import add_parts, exported, exported_bytes, graph_in, rich_conversation
from tests.factories import attach, make_attachment, make_conversation, make_model_message, make_user_message

pytestmark = pytest.mark.django_db


def notebook_of(conversation: Conversation) -> Any:  # noqa: ANN401 - nbformat has no types
    """The notebook, valid."""
    source = Source(conversation, conversation.updated_at)
    notebook = json.loads(b"".join(chunks(source, SandboxFiles(source.sent_files()))))
    nbformat.validate(notebook)
    return nbformat.from_dict(notebook)  # type: ignore[no-untyped-call]


def test_notebook_is_valid_and_in_order() -> None:
    notebook = notebook_of(rich_conversation())
    assert [(cell.cell_type, cell.metadata.plotline.role) for cell in notebook.cells] == [
        ("markdown", "header"),
        ("markdown", "user"),
        ("markdown", "model"),
        ("markdown", "model"),
        ("code", "model"),
        ("code", "model"),
        ("markdown", "model"),
        ("markdown", "user"),
        ("markdown", "model"),
        ("markdown", "end"),
    ]
    ran, failed = (cell for cell in notebook.cells if cell.cell_type == "code")
    assert [output.output_type for output in ran.outputs] == ["stream", "display_data"]
    assert ran.outputs[0].text == "8\n"
    assert set(ran.outputs[1].data) == {"text/plain", "image/png"}
    assert failed.outputs[0].ename == "ZeroDivisionError"
    assert failed.outputs[0].evalue == "division by zero"
    assert failed.metadata.tags == ["raises-exception"]
    about = notebook.cells[4].metadata.plotline
    assert (about.model, about.model_version) == ("plotline-demo", "demo-1")
    assert about.created_at
    assert about.ended_at
    assert notebook.metadata.kernelspec.name == "python3"


def test_notebook_with_files_is_an_archive_with_them_beside_it() -> None:
    conversation = rich_conversation()
    found = exported(conversation, "ipynb")
    assert (found.name, found.content_type) == ("Sales-by-month-notebook.zip", "application/zip")
    with zipfile.ZipFile(io.BytesIO(b"".join(found.chunks))) as opened:
        assert opened.namelist() == ["Sales-by-month.ipynb", "sales.csv"]
    alone = make_model_message(make_conversation(title="Alone")).conversation
    found = exported(alone, "ipynb")
    assert (found.name, found.content_type) == ("Alone.ipynb", "application/x-ipynb+json")


def test_files_that_share_a_name_are_copied_when_their_time_comes() -> None:
    conversation = make_conversation()
    for data in (b"a\n1\n", b"a\n2\n", b"a\n1\n"):
        question = make_user_message(conversation)
        attach(question, make_attachment(conversation.owner, data=data, name="data.csv"))
        make_model_message(conversation)
    with zipfile.ZipFile(io.BytesIO(exported_bytes(conversation, "ipynb"))) as opened:
        files = {name: opened.read(name) for name in opened.namelist() if name.endswith("csv")}
        notebook = json.loads(opened.read("conversation.ipynb"))
    assert files == {"data-2.csv": b"a\n1\n", "data-3.csv": b"a\n2\n"}
    copies = [cell["source"].split("\n")[-1] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert copies == [
        "shutil.copyfile('data-2.csv', 'data.csv')",
        "shutil.copyfile('data-3.csv', 'data.csv')",
        "shutil.copyfile('data-2.csv', 'data.csv')",
    ]


def test_file_lies_there_under_the_number_that_code_knows_it_by() -> None:
    conversation = make_conversation()
    question = make_user_message(conversation)
    attach(question, make_attachment(conversation.owner, data=b"a\n1\n", name="Jan & Feb.csv"))
    attach(question, make_attachment(conversation.owner, data=b"b\n2\n", name="plain.csv"))
    code = "open('input_file_0.csv'); open('input_file_1.csv'); open('input_file_7.csv')"
    make_model_message(conversation, parts=[(PartKind.EXECUTABLE_CODE, code)])
    with zipfile.ZipFile(io.BytesIO(exported_bytes(conversation, "ipynb"))) as opened:
        assert opened.namelist() == ["conversation.ipynb", "input_file_0.csv", "plain.csv", "input_file_1.csv"]


def test_code_that_never_ended_is_not_run_again() -> None:
    answer = make_model_message(make_conversation(), parts=[(PartKind.EXECUTABLE_CODE, "while True: pass")])
    add_parts(
        answer,
        Part(kind=PartKind.CODE_EXECUTION_RESULT, text="12\n", outcome="OUTCOME_DEADLINE_EXCEEDED"),
        Part(kind=PartKind.EXECUTABLE_CODE, text="stopped()"),
    )
    notebook = notebook_of(answer.conversation)
    late, stopped = (cell for cell in notebook.cells if cell.cell_type == "code")
    assert late.metadata.tags == stopped.metadata.tags == ["skip-execution"]
    assert late.outputs[0].ename == "TimeoutError"
    assert stopped.outputs == []


def test_images_of_questions_stand_in_their_cell() -> None:
    conversation = make_conversation()
    question = make_user_message(conversation, "What is on it?")
    graph_in(question, None, name="photo.png")
    notebook = notebook_of(conversation)
    cell = notebook.cells[1]
    assert list(cell.attachments) == ["image-0"]
    assert "![photo.png](attachment:image-0)" in cell.source


def test_no_output_is_active() -> None:
    conversation = make_conversation()
    answer = make_model_message(conversation, parts=[(PartKind.EXECUTABLE_CODE, "show()")])
    add_parts(answer, Part(kind=PartKind.CODE_EXECUTION_RESULT, text="<script>alert(1)</script>", outcome="OUTCOME_OK"))
    graph = graph_in(answer, 1, name="</script>.svg")
    type(graph).objects.filter(pk=graph.pk).update(mime_type="image/svg+xml")
    written = exported_bytes(conversation, "ipynb")
    assert b"</script" not in written
    notebook = notebook_of(conversation)
    outputs = next(cell for cell in notebook.cells if cell.cell_type == "code").outputs
    assert [set(output.get("data", {})) for output in outputs] == [set(), {"text/plain"}]
