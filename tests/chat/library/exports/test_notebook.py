"""The notebook export: valid notebooks with the recorded outputs, and the files that their code opens."""

from __future__ import annotations

import io
import json
import zipfile
from html import unescape
from typing import Any

import nbformat
import pytest
from markdown_it import MarkdownIt

from attachments.models import AttachmentPreview
from chat.library.exports.as_notebook import chunks
from chat.library.exports.sandbox_files import sandbox_files
from chat.library.exports.source import ExportSource
from chat.models import Conversation, Turn
from chat.python.table_readings.stored_readings import VERSION
from chat.vocabulary.parts import (
    OUTCOME_DEADLINE_EXCEEDED,
    OUTCOME_OK,
    CodeExecutionResult,
    Display,
    ExecutableCode,
    PartKind,
    Text,
)
from tests.chat.library.exports.samples import (
    add_parts,
    exported,
    exported_bytes,
    graph_in,
    rich_conversation,
    session_conversation,
)
from tests.factories import attach, make_attachment, make_conversation, make_model_message, make_user_message

pytestmark = pytest.mark.django_db


def notebook_of(conversation: Conversation) -> Any:  # noqa: ANN401 - nbformat has no types
    """Return the exported notebook after checking that it is valid."""
    source = ExportSource(conversation, conversation.updated_at)
    notebook = json.loads(b"".join(chunks(source, sandbox_files(source))))
    nbformat.validate(notebook)
    return nbformat.from_dict(notebook)


def test_notebook_is_valid_and_has_its_cells_in_the_order_of_the_conversation() -> None:
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


def test_notebook_of_a_conversation_with_files_is_exported_in_a_zip_archive() -> None:
    conversation = rich_conversation()
    download = exported(conversation, "ipynb")
    assert (download.name, download.content_type) == ("Sales-by-month-notebook.zip", "application/zip")
    with zipfile.ZipFile(io.BytesIO(b"".join(download.chunks))) as opened:
        assert opened.namelist() == ["Sales-by-month.ipynb", "sales.csv"]
    alone = make_model_message(make_conversation(title="Alone")).conversation
    download = exported(alone, "ipynb")
    assert (download.name, download.content_type) == ("Alone.ipynb", "application/x-ipynb+json")


def test_cell_copies_the_right_one_of_several_files_with_the_same_name_before_its_use() -> None:
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


def test_text_file_is_exported_in_utf_8_as_code_has_read_it() -> None:
    conversation = make_conversation()
    question = make_user_message(conversation)
    attach(question, make_attachment(conversation.owner, data="城市\n北京\n上海\n".encode("gb18030"), name="a.csv"))
    make_model_message(conversation)
    with zipfile.ZipFile(io.BytesIO(exported_bytes(conversation, "ipynb"))) as opened:
        assert opened.read("a.csv").decode() == "城市\n北京\n上海\n"


def test_file_is_stored_under_the_input_file_name_that_code_uses() -> None:
    conversation = make_conversation()
    question = make_user_message(conversation)
    attach(question, make_attachment(conversation.owner, data=b"a\n1\n", name="Jan & Feb.csv"))
    attach(question, make_attachment(conversation.owner, data=b"b\n2\n", name="plain.csv"))
    code = "open('input_file_0.csv'); open('input_file_1.csv'); open('input_file_7.csv')"
    make_model_message(conversation, parts=[(PartKind.EXECUTABLE_CODE, code)])
    with zipfile.ZipFile(io.BytesIO(exported_bytes(conversation, "ipynb"))) as opened:
        assert opened.namelist() == ["conversation.ipynb", "input_file_0.csv", "plain.csv", "input_file_1.csv"]


def test_code_is_searched_for_the_names_of_more_files_than_one_query_can_name() -> None:
    answer = make_model_message(make_conversation(), parts=[(PartKind.EXECUTABLE_CODE, "open('1099.png')")])
    source = ExportSource(answer.conversation, answer.created_at)
    assert source.is_in_code([f"{number}.png" for number in range(1_100)])
    assert not source.is_in_code([f"{number}.csv" for number in range(1_100)])


def test_code_that_was_stopped_is_tagged_to_be_skipped_when_the_notebook_runs() -> None:
    answer = make_model_message(make_conversation(), parts=[(PartKind.EXECUTABLE_CODE, "while True: pass")])
    add_parts(
        answer,
        CodeExecutionResult("12\n", outcome=OUTCOME_DEADLINE_EXCEEDED),
        ExecutableCode("stopped()"),
    )
    notebook = notebook_of(answer.conversation)
    late, stopped = (cell for cell in notebook.cells if cell.cell_type == "code")
    assert late.metadata.tags == stopped.metadata.tags == ["skip-execution"]
    assert late.outputs[0].ename == "TimeoutError"
    assert stopped.outputs == []


def test_images_of_a_question_are_embedded_in_its_cell() -> None:
    conversation = make_conversation()
    question = make_user_message(conversation, "What is on it?")
    graph_in(question, None, name="photo.png")
    notebook = notebook_of(conversation)
    cell = notebook.cells[1]
    assert list(cell.attachments) == ["image-0"]
    assert "![photo.png](attachment:image-0)" in cell.source


def test_svg_and_html_in_outputs_are_not_exported_as_active_content() -> None:
    conversation = make_conversation()
    answer = make_model_message(conversation, parts=[(PartKind.EXECUTABLE_CODE, "show()")])
    add_parts(answer, CodeExecutionResult("<script>alert(1)</script>", outcome=OUTCOME_OK))
    graph = graph_in(answer, 1, name="</script>.svg")
    type(graph).objects.filter(pk=graph.pk).update(mime_type="image/svg+xml")
    assert b"</script" not in exported_bytes(conversation, "ipynb")
    notebook = notebook_of(conversation)
    outputs = next(cell for cell in notebook.cells if cell.cell_type == "code").outputs
    assert [set(output.get("data", {})) for output in outputs] == [set(), {"text/plain"}]


def test_code_of_the_session_becomes_a_code_cell_with_its_outputs_in_order() -> None:
    notebook = notebook_of(session_conversation())
    assert [(cell.cell_type, cell.source) for cell in notebook.cells[2:]] == [
        (
            "markdown",
            "### Answer (plotline-demo)\n\n*Model: plotline-demo (gemini); no code*\n\n*Function called: run\\_python*",
        ),
        ("code", "plot()"),
        ("markdown", "*Function returned: run\\_python*"),
        ("markdown", '*Function called: list\\_files*\n\n```json\n{"below": "a*b"}\n```'),
        ("markdown", '*Function failed: list\\_files*\n\n```json\n{"error": "away"}\n```'),
        ("markdown", "Here it is."),
        ("markdown", "*The answer reached its length limit.*"),
    ]
    graph, display, printed = notebook.cells[3].outputs
    assert set(graph.data) == {"text/plain", "image/png"}
    assert display.output_type == "display_data"
    assert set(display.data) == {"text/plain", "text/html"}
    assert display.data["text/plain"] == "   a\n0  1"
    assert "<td>1</td>" in display.data["text/html"]
    assert (printed.output_type, printed.text) == ("stream", "done\n")
    assert "tags" not in notebook.cells[3].metadata


SAFE_TABLE = (
    '<table border="1" class="dataframe"><thead></thead><tbody><tr><td>1</td></tr></tbody></table>'
    "<p>1 row × 1 column</p>"
)


def test_only_safe_types_of_a_display_are_exported() -> None:
    answer = make_model_message(make_conversation(), parts=[(PartKind.EXECUTABLE_CODE, "show()")])
    script = "<script>alert(1)</script>"
    add_parts(
        answer,
        Display({"text/html": script, "image/svg+xml": "<svg", "application/javascript": "alert(1)"}),
        Display({"text/html": f"<table onclick='x'><tr><td>1{script}</table>", "text/latex": "$x$", "text/x": "x"}),
        Display({"image/svg+xml": f"<svg onload='alert(1)'>{script}<path d='M0 0'/></svg>"}),
        Display({"application/vnd.plotly.v1+json": {"data": []}, "application/vnd.bokehjs_exec.v0+json": ""}),
        Display({"text/markdown": f"**bold** {script}", "image/png": ["no text"], "application/json": {"a": [1]}}),
        CodeExecutionResult(outcome=OUTCOME_OK),
        Text("Text"),
        Display({"text/plain": "outside of code"}),
    )
    notebook = notebook_of(answer.conversation)
    code = next(cell for cell in notebook.cells if cell.cell_type == "code")
    assert [dict(output.data) for output in code.outputs] == [
        {"text/plain": "[This output needs a script, and scripts of code are not run here.]"},
        {"text/html": SAFE_TABLE, "text/latex": "$x$"},
        {"image/svg+xml": '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"></path></svg>'},
        {"application/vnd.plotly.v1+json": {"data": []}},
        {"text/markdown": "**bold** &lt;script>alert(1)&lt;/script>", "application/json": {"a": [1]}},
    ]
    assert notebook.cells[-1].source == "```text\noutside of code\n```"


def test_cells_of_an_answer_contain_its_provider_endpoint_and_model() -> None:
    conversation = make_conversation()
    make_model_message(conversation, endpoint="local", engine="session")
    cell = notebook_of(conversation).cells[2]
    about = cell.metadata.plotline
    assert (about.provider, about.endpoint, about.model, about.engine) == (
        "gemini",
        "local",
        "plotline-demo",
        "session",
    )
    assert "*Model: plotline-demo (gemini, endpoint local); code: in the Python session*" in cell.source


def test_output_of_code_with_an_unknown_outcome_is_not_exported_as_an_error() -> None:
    answer = make_model_message(make_conversation(), parts=[(PartKind.EXECUTABLE_CODE, "print(1)")])
    add_parts(answer, CodeExecutionResult("1\n", outcome="OUTCOME_OF_TOMORROW"))
    code = next(cell for cell in notebook_of(answer.conversation).cells if cell.cell_type == "code")
    assert [(output.output_type, output.text) for output in code.outputs] == [("stream", "1\n")]
    # The code may fail when the notebook runs, and the cells after it have to run.
    assert code.metadata.tags == ["raises-exception"]


def test_label_of_a_model_is_escaped_in_markdown_cells() -> None:
    conversation = make_conversation()
    make_model_message(conversation)
    label = "<img src=x>\n\n# Not *a* heading"
    Turn.objects.update(parameters={"label": label})
    cells = [cell for cell in notebook_of(conversation).cells if cell.metadata.plotline.role == "model"]
    html = MarkdownIt("commonmark", {"html": True}).render(cells[0].source)
    assert unescape(html.splitlines()[0]) == "<h3>Answer (<img src=x> # Not *a* heading)</h3>"
    assert "<img" not in html


def test_files_with_the_same_name_are_stored_under_the_names_that_session_code_uses() -> None:
    conversation = make_conversation()
    question = make_user_message(conversation)
    files = [make_attachment(conversation.owner, name="data (1).csv", data=data) for data in (b"a\n1\n", b"b\n2\n")]
    for file in files:
        attach(question, file)
    content = {"columns": [{"name": "a", "type": "text"}], "code": "pd.read_csv('data (1).csv')"}
    AttachmentPreview.objects.create(attachment=files[1], version=VERSION, content=content)
    code = "open('data (1).csv'); open('data (1)-2.csv'); open('data _1_.csv')"
    make_model_message(conversation, parts=[(PartKind.EXECUTABLE_CODE, code)])
    with zipfile.ZipFile(io.BytesIO(exported_bytes(conversation, "ipynb"))) as opened:
        names = opened.namelist()
        assert names[1:] == ["data (1).csv", "data (1)-2.csv", "data _1_.csv"]
        assert [opened.read(name) for name in names[1:]] == [b"a\n1\n", b"b\n2\n", b"a\n1\n"]
        header, *_, run = json.loads(opened.read(names[0]))["cells"]
    # No cell copies one file to the name of another.
    assert run["source"] == code
    assert header["source"].endswith("```python\npd.read_csv('data (1)-2.csv')\n```")
