"""The exports as PDF and for Word, made by the real programs and read by other programs."""

from __future__ import annotations

import asyncio
import io
import logging
import threading
import zipfile
from contextlib import ExitStack
from pathlib import Path
from tempfile import gettempdir

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.core.management import call_command
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.test import AsyncClient, AsyncRequestFactory, Client
from lxml import etree
from pypdf import PdfReader

from attachments.models import PendingUpload
from chat.library.exports import as_documents, document_html, document_programs
from chat.library.exports.as_documents import pdf_of_html
from chat.library.exports.document_html import PLAIN, DocumentFiles, _adapt
from chat.library.exports.document_programs import ConversionFailed, compile_typst, convert_html
from chat.library.exports.export_format import ExportTooLarge
from chat.models import Conversation, User
from chat.page.queued_views import ended_with_client
from chat.page.render_queue import DOCUMENTS, ReaderLeft
from chat.page.rendering.markdown import render_markdown
from chat.vocabulary.parts import Display, PartKind, Text
from tests.chat.library.exports.samples import add_parts, exported_bytes, graph_in, png, rich_conversation
from tests.factories import attach, make_attachment, make_conversation, make_model_message, make_user_message

FORMULAS = r"So $\frac{a}{b}$ holds, and" "\n\n" r"$$\begin{Vmatrix}1&2\\3&4\end{Vmatrix}$$"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><rect width="9" height="9"/></svg>'
HOSTILE = """![](/etc/passwd) ![x](file:///etc/passwd) ![y](http://127.0.0.1:9/a.png) \\input{/etc/passwd}

<img src="file:///etc/passwd"> <iframe src="http://127.0.0.1:9/"></iframe> <div typst:text:font="x">div</div>

src="0123456789abcdef-1.png" #read("/etc/passwd") #import "@preview/cetz:0.1.0" @label <label>

$\\text{"#read("/etc/passwd")}$ $\\includegraphics{/etc/passwd}$

```{=typst}
#read("/etc/passwd")
```

```"]); #read("/etc/passwd")
code
```

The end."""

ENDLESS = "#for a in range(9999) { for b in range(9999) { for c in range(9999) { let x = c } } }"
A4_WIDTH_PT = 595
NAMESPACES = {
    "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
    "wp": "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing",
}


def word_document(data: bytes) -> etree._Element:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return etree.fromstring(archive.read("word/document.xml"))


def word_text(node: etree._Element) -> str:
    return "".join(node.xpath(".//w:t/text() | .//m:t/text()", namespaces=NAMESPACES))


def pdf_text(data: bytes) -> str:
    return "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(data)).pages)


async def body_of(response: HttpResponseBase) -> bytes:
    assert isinstance(response, StreamingHttpResponse)
    return b"".join([chunk async for chunk in response])


def illustrated_conversation() -> Conversation:
    """Return a conversation with all content that a document shows, also words in other scripts."""
    conversation = rich_conversation()
    make_user_message(conversation, "Is $x^2$ right?\n数据 مرحبا بالعالم नमस्ते")
    answer = make_model_message(conversation, parts=[])
    add_parts(answer, Text(FORMULAS + "\n\nمرحبا بالعالم"), Display({"image/svg+xml": SVG}))
    return conversation


@pytest.mark.django_db
def test_word_document_has_headings_graphs_tables_code_and_formulas() -> None:
    data = exported_bytes(illustrated_conversation(), "docx")
    document = word_document(data)

    def texts(path: str) -> list[str]:
        return [word_text(one) for one in document.xpath(path, namespaces=NAMESPACES)]

    assert texts("//w:p[w:pPr/w:pStyle/@w:val='Title']") == ["Sales, by month"]
    headings = texts("//w:p[w:pPr/w:pStyle/@w:val='Heading1']")
    assert headings == ["You", "Answer (plotline-demo)"] * 3
    body = "".join(texts("//w:body"))
    shown = (
        "I will read the file.",
        "The sum is 8.",
        "And now stop.",
        "数据",
    )
    assert [body.count(text) for text in shown] == [1, 1, 1, 1]
    assert sorted(shown, key=body.index) == list(shown)
    assert "An older answer" not in body
    assert texts("//w:tbl//w:tc") == ["a", "b", "1", "2"]
    assert any("import pandas as pd" in text for text in texts("//w:p[w:pPr/w:pStyle/@w:val='SourceCode']"))
    assert len(document.xpath("//m:oMath", namespaces=NAMESPACES)) == 3
    descriptions = document.xpath("//wp:docPr/@descr", namespaces=NAMESPACES)
    assert any(text.startswith("Graph") for text in descriptions)
    assert "مرحبا بالعالم" in texts("//w:p[w:pPr/w:bidi]")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        pictures = [archive.read(name) for name in archive.namelist() if "/media/" in name]
    assert len(pictures) == 2
    assert png() in pictures


@pytest.mark.django_db
def test_pdf_has_messages_graphs_and_formulas() -> None:
    data = exported_bytes(illustrated_conversation(), "pdf")
    text = " ".join(pdf_text(data).split())
    shown = ("Sales, by month", "I will read the file.", "import pandas as pd", "The sum is 8.", "数据")
    assert sorted(shown, key=text.index) == list(shown)
    assert "An older answer" not in text
    assert "\\frac" not in text
    assert "begin{Vmatrix}" not in text
    assert sum(len(page.images) for page in PdfReader(io.BytesIO(data)).pages) == 1
    assert b"/Alt" in data or "/StructTreeRoot" in PdfReader(io.BytesIO(data)).root_object


@pytest.mark.django_db
@pytest.mark.parametrize("format_name", ["docx", "pdf"])
def test_hostile_text_is_plain_text_in_word_and_pdf_documents(
    format_name: str, caplog: pytest.LogCaptureFixture
) -> None:
    conversation = make_conversation(title='#read("/etc/passwd")')
    make_user_message(conversation, HOSTILE)
    answer = make_model_message(conversation, parts=[])
    add_parts(answer, Text(HOSTILE))
    with caplog.at_level(logging.WARNING, "chat.library.exports"):
        data = exported_bytes(conversation, format_name)
    text = pdf_text(data) if format_name == "pdf" else word_text(word_document(data))
    assert "root:" not in text
    assert text.count("The end.") == 2
    assert text.count("\\input{/etc/passwd}") == 2
    assert not caplog.records


def test_conversion_programs_read_no_local_files_and_no_web_addresses() -> None:
    html = '<p>a</p><img src="/etc/passwd"><iframe src="file:///etc/passwd"></iframe><img src="http://127.0.0.1:9/">'
    with convert_html(html.encode(), "docx") as file:
        data = file.read()
    assert "root:" not in word_text(word_document(data))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert not [name for name in archive.namelist() if "/media/" in name]
    for source in ('#read("/etc/passwd")', '#read("../../etc/passwd")', '#import "@preview/cetz:0.3.0"'):
        with pytest.raises(ConversionFailed):
            compile_typst(source.encode(), {})


@pytest.mark.django_db
def test_formula_that_cannot_be_converted_is_shown_as_latex_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chat.library.exports.as_documents.MENDED", ((b"frac", b"?"),))
    conversation = make_conversation()
    add_parts(make_model_message(conversation, parts=[]), Text(FORMULAS))
    assert "begin{Vmatrix}" in pdf_text(exported_bytes(conversation, "pdf"))


@pytest.mark.django_db
def test_pdf_says_which_image_is_missing_in_storage() -> None:
    conversation = make_conversation()
    graph = graph_in(make_model_message(conversation, parts=[]), None, name="plot.png")
    PendingUpload.objects.filter(attachment=graph).delete()
    assert "“plot.png” is missing in storage." in pdf_text(exported_bytes(conversation, "pdf"))


@pytest.mark.django_db
def test_pdf_shows_the_name_of_a_broken_image() -> None:
    conversation = make_conversation()
    answer = make_model_message(conversation, parts=[])
    broken = make_attachment(conversation.owner, data=png(), is_graph=True, name="plot.png")
    PendingUpload.objects.filter(attachment=broken).update(data=png()[:40])
    attach(answer, broken, part_index=None)
    assert "plot.png" in pdf_text(exported_bytes(conversation, "pdf"))


def test_right_to_left_text_begins_on_the_right_side_of_a_pdf() -> None:
    places: list[float] = []

    def note(text: str, moved: list[float], place: list[float], *_font: object) -> None:
        if "ש" in text or "ם" in text:
            places.append(moved[4] + place[4])

    html = '<div dir="rtl" typst:text:dir="rtl"><ul><li>שלום</li></ul></div>'
    with pdf_of_html(html, DocumentFiles()) as file:
        PdfReader(file).pages[0].extract_text(visitor_text=note)
    assert places
    assert min(places) > A4_WIDTH_PT / 2


@pytest.mark.django_db
def test_one_answer_can_be_exported_to_word_without_the_other_messages() -> None:
    conversation = rich_conversation()
    answer = conversation.messages.filter(role="model", is_shown=True).order_by("index").first()
    assert answer
    client = Client()
    client.force_login(conversation.owner)
    url = f"/c/{conversation.pk}/export/docx/?message="
    text = word_text(word_document(async_to_sync(body_of)(client.get(f"{url}{answer.pk}"))))
    assert "The sum is 8." in text
    assert "And now" not in text
    other = make_model_message(make_conversation())
    for name in (str(other.pk), "x"):
        assert client.get(url + name).status_code == 404
    assert client.get(f"/c/{conversation.pk}/export/json/?message={answer.pk}").status_code == 404


@pytest.mark.django_db
def test_document_is_refused_with_an_error_message_if_it_is_too_large_or_the_server_is_busy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    conversation = rich_conversation()
    graph_in(make_model_message(conversation, parts=[]), None)
    client = Client()
    client.force_login(conversation.owner)
    page = f"/c/{conversation.pk}/export/pdf/"
    for limit in ("HTML_LIMIT_CHARS", "PICTURES_LIMIT_BYTES"):
        with monkeypatch.context() as patch:
            patch.setattr(document_html, limit, 100)
            response = client.get(page)
        assert response.status_code == 422
        assert "too large for this format" in response.text
    monkeypatch.setattr(as_documents, "QUEUE_LIMIT_S", 0.01)
    with ExitStack() as stack:
        # Another document of this person, then documents of other people.
        stack.enter_context(DOCUMENTS.hold(conversation.owner_id, 60))
        assert client.get(page).status_code == 503
    with ExitStack() as stack:
        for reader in ("a", "b"):
            stack.enter_context(DOCUMENTS.hold(reader, 60))
        response = client.get(page)
    assert response.status_code == 503
    assert "busy with other documents" in response.text
    monkeypatch.undo()
    assert async_to_sync(body_of)(client.get(page)).startswith(b"%PDF")


@pytest.mark.parametrize(
    ("name", "value", "source"),
    [
        ("CONVERSION_LIMIT_S", 1.0, ENDLESS),
        ("TYPST_MEMORY_BYTES", 128 * 1024**2, "#let a = range(9000000)"),
    ],
)
def test_conversion_program_is_ended_at_its_time_and_memory_limit(
    monkeypatch: pytest.MonkeyPatch, name: str, value: float, source: str
) -> None:
    monkeypatch.setattr(document_programs, name, value)
    before = set(Path(gettempdir()).glob("plotline-document-*"))
    with pytest.raises(ExportTooLarge):
        compile_typst(source.encode(), {})
    assert set(Path(gettempdir()).glob("plotline-document-*")) <= before


async def test_conversion_program_is_ended_when_the_client_disconnects() -> None:
    has_begun, has_ended = threading.Event(), threading.Event()

    @ended_with_client
    def view(request: HttpRequest) -> HttpResponse:
        has_begun.set()
        try:
            compile_typst(ENDLESS.encode(), {})
        except ReaderLeft:
            has_ended.set()
            raise
        return HttpResponse()

    request = asyncio.create_task(view(AsyncRequestFactory().get("/")))
    await asyncio.to_thread(has_begun.wait, 60)
    request.cancel()
    with pytest.raises((asyncio.CancelledError, ReaderLeft)):
        await request
    assert await asyncio.to_thread(has_ended.wait, 20)


def test_document_above_the_size_limit_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "program_with_limits.py"
    text = document_programs.PROGRAM.read_text()
    program.write_text(text.replace("FILE_LIMIT_BYTES = 128 * 1024**2", "FILE_LIMIT_BYTES = 1000"))
    monkeypatch.setattr(document_programs, "PROGRAM", program)
    with pytest.raises(ExportTooLarge):
        convert_html(b"<p>a</p>", "docx")


@pytest.mark.django_db(transaction=True)
async def test_api_refuses_a_document_with_a_status_and_an_error_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    conversation = await sync_to_async(make_conversation)()
    client = AsyncClient()
    await client.aforce_login(await User.objects.aget())
    path = f"/api/v1/conversations/{conversation.pk}/export/docx/"
    monkeypatch.setattr(as_documents, "QUEUE_LIMIT_S", 0.01)
    with DOCUMENTS.hold(conversation.owner_id, 60):
        response = await client.get(path)
    assert response.status_code == 503
    assert "busy with other documents" in response.content.decode()
    assert "Retry-After" in response.headers
    monkeypatch.undo()
    monkeypatch.setattr(document_programs, "find_spec", lambda _name: None)
    response = await client.get(path)
    assert response.status_code == 422
    assert "no programs for PDF and Word" in response.content.decode()


@pytest.mark.django_db
def test_command_prints_the_id_of_a_conversation_that_it_could_not_export(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    conversation = make_conversation()
    make_model_message(conversation)
    monkeypatch.setattr(document_programs, "find_spec", lambda _name: None)
    output, errors = io.StringIO(), io.StringIO()
    call_command("export_conversations", output=tmp_path, format="pdf", stdout=output, stderr=errors)
    assert str(conversation.pk) in errors.getvalue()
    assert "no programs" in errors.getvalue()
    assert "Wrote 0 conversations" in output.getvalue()


def test_accents_lines_and_boxes_of_formulas_are_kept() -> None:
    html = _adapt(render_markdown(r"$\vec v \dot x \overline{ab} \cancel{c} \boxed{d}$", PLAIN), has_formulas=True)
    with convert_html(html.encode(), "typst") as file:
        text = file.read().decode()
    assert "$arrow(v) dot(x) overline(a b) cancel(c) #box(stroke: black, inset: 3pt, [$ d $])$" in text


@pytest.mark.django_db
def test_pdf_keeps_all_lines_of_a_long_question_and_text_in_deep_quotes() -> None:
    conversation = make_conversation()
    make_user_message(conversation, "one\ntwo\n" * 3_000)
    make_model_message(conversation, parts=[(PartKind.TEXT, ">" * 100 + " said")])
    lines = pdf_text(exported_bytes(conversation, "pdf")).splitlines()
    assert lines.count("one") == lines.count("two") == 3_000
    assert "said" in lines
