"""The formats `pdf` and `docx`: the shown messages as documents for printing and editing.

`document_html` renders the messages. Pandoc converts them to Word's format, or to Typst's, from which Typst makes a
PDF. A document is complete before its download begins, so that an error can be shown to the user. See decision 31.
"""

from __future__ import annotations

import base64
import logging
import re
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack
from functools import partial, reduce
from shutil import copyfileobj
from tempfile import TemporaryFile
from time import monotonic
from typing import IO
from zipfile import ZIP_DEFLATED, ZipFile

from django.template.loader import render_to_string

from attachments.validation import UnreadableImage, inspect_image
from chat.library.exports import document_programs
from chat.library.exports.document_html import DocumentFiles, Fidelity, document_html
from chat.library.exports.document_programs import (
    DRAWN_SCALE,
    ConversionFailed,
    compile_typst,
    convert_html,
    draw_pictures,
)
from chat.library.exports.download import Download
from chat.library.exports.export_format import ExportBusy, ExportFormat, RefusedExport
from chat.library.exports.file_names import file_stem
from chat.library.exports.source import ExportSource
from chat.models.database_thread import close_connection
from chat.page.render_queue import DOCUMENTS, QueueIsFull

DOCX_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PDF_TYPE = "application/pdf"
QUEUE_LIMIT_S = 30.0
"""Maximum time that a request waits for earlier documents."""
BLOCK_BYTES = 64 * 1024
HEIGHT_LIMIT = 800
"""Maximum height of a picture in Word, in CSS pixels. Pandoc limits the width."""

MENDED = (
    (b'mat(delim: "||"', 'mat(delim: "‖"'.encode()),
    (b"#block[\n#set text(dir: rtl); ", b"#block(width: 100%)[\n#set text(dir: rtl)\n"),
)
"""Pairs (text that pandoc writes, text that Typst needs): bars of `Vmatrix`, and width of right-to-left blocks."""
FIDELITIES = (Fidelity(), Fidelity(has_formulas=False), Fidelity(has_formulas=False, has_pictures=False))
"""Fidelities that are tried in this order until both programs accept the document."""
_SOURCE = re.compile(rb'src="([0-9a-f]{16}-[0-9]{1,9}\.[a-z]{3,4})"')
"""The name of a picture in the HTML. No other element has a `src`."""
_IMAGE = re.compile(rb'image\("([0-9a-f]{16}-[0-9]{1,9}\.[a-z]{3,4})"')
"""The name of a picture in the document for Typst. In text, the quotation marks would be escaped."""
_DRAWN_SUFFIXES = (".svg", ".webp")
"""Suffixes of pictures that some or all versions of Word cannot show. They are drawn as PNG."""

logger = logging.getLogger(__name__)


Write = Callable[[str, DocumentFiles], IO[bytes]]
"""Makes a document of HTML and its pictures. Raises ConversionFailed if a program refuses them, or RefusedExport."""


def word_of_html(html: str, files: DocumentFiles) -> IO[bytes]:
    """Return a Word document. Raises the errors of `Write`."""
    pictures = {name.encode(): picture.data for name, picture in files.pictures.items()}
    drawn = {name: one for name, one in files.pictures.items() if name.endswith(_DRAWN_SUFFIXES)}
    pictures.update(zip(map(str.encode, drawn), draw_pictures(drawn), strict=True))

    def source(match: re.Match[bytes]) -> bytes:
        if match[1] not in pictures:
            # Words of a message: quotation marks in text are not escaped.
            return match[0]
        return _placeholder(match[1], pictures[match[1]], is_drawn=match[1].decode() in drawn)

    return _insert_pictures(convert_html(_SOURCE.sub(source, html.encode()), "docx"), pictures)


def _placeholder(name: bytes, data: bytes, *, is_drawn: bool) -> bytes:
    """Return the attributes of an image whose content is only its name, because pandoc would write pictures twice."""
    try:
        info = inspect_image(data)
    except UnreadableImage:
        raise ConversionFailed("A picture is broken.") from None
    scale = min(1 / (DRAWN_SCALE if is_drawn else info.scale), HEIGHT_LIMIT / info.height)
    size = f'width="{max(1, round(info.width * scale))}" height="{max(1, round(info.height * scale))}"'
    return f'src="data:{info.mime_type};base64,{base64.b64encode(name).decode()}" {size}'.encode()


def _insert_pictures(file: IO[bytes], pictures: Mapping[bytes, bytes]) -> IO[bytes]:
    """Return the Word document with pictures in place of their names, and close the given file."""
    with ExitStack() as on_errors:
        output = on_errors.enter_context(TemporaryFile())
        with file, ZipFile(file) as given, ZipFile(output, "w", ZIP_DEFLATED) as made:
            for entry in given.infolist():
                if entry.filename.startswith("word/media/"):
                    made.writestr(entry.filename, pictures[given.read(entry)])
                    continue
                with given.open(entry) as source, made.open(entry.filename, "w") as target:
                    copyfileobj(source, target)
        output.seek(0)
        on_errors.pop_all()
        return output


def pdf_of_html(html: str, files: DocumentFiles) -> IO[bytes]:
    """Return a PDF. Raises the errors of `Write`."""
    style = render_to_string("exports/document.typ")
    with convert_html(html.encode(), "typst", "--variable=papersize=a4", f"--variable=header-includes={style}") as file:
        document = file.read()
    document = reduce(lambda text, pair: text.replace(*pair), MENDED, document)
    # Screen readers need the descriptions, which pandoc leaves out.
    document = _IMAGE.sub(lambda match: b"%b, alt: %b" % (match[0], _description(files, match[1])), document)
    return compile_typst(document, {name: one.data for name, one in files.pictures.items()})


def _description(files: DocumentFiles, name: bytes) -> bytes:
    text = " ".join(files.pictures[name.decode()].description.split())
    return b'"%b"' % text.translate({ord(sign): f"\\{sign}" for sign in '\\"'}).encode()


def _export(source: ExportSource, *, suffix: str, media_type: str, write: Write) -> Download:
    """Make a document. Raises RefusedExport if it is too large, too many wait, or no program can convert it."""
    # A request that waits, or whose programs run, needs no connection to the database.
    close_connection()
    try:
        with DOCUMENTS.hold(source.conversation.owner_id, QUEUE_LIMIT_S):
            file = _convert(source, write)
    except QueueIsFull:
        raise ExportBusy from None
    return Download(f"{file_stem(source.conversation.title)}.{suffix}", media_type, _blocks(file))


def _convert(source: ExportSource, write: Write) -> IO[bytes]:
    started = monotonic()
    for fidelity in FIDELITIES:
        files = DocumentFiles()
        html = document_html(source, files, fidelity)
        close_connection()
        try:
            return write(html, files)
        except ConversionFailed as error:
            logger.warning("A document with %s was refused: %s", fidelity, error)
        if monotonic() - started > document_programs.CONVERSION_LIMIT_S:
            break
    raise RefusedExport


def _blocks(file: IO[bytes]) -> Generator[bytes]:
    with file:
        yield from iter(partial(file.read, BLOCK_BYTES), b"")


def _document_format(name: str, label: str, description: str, media_type: str, write: Write) -> ExportFormat:
    export = partial(_export, suffix=name, media_type=media_type, write=write)
    return ExportFormat(name, label, description, (media_type,), export, has_single_messages=True)


PDF = _document_format("pdf", "PDF", "To print or hand in", PDF_TYPE, pdf_of_html)
DOCX = _document_format("docx", "Word", "A document to edit", DOCX_TYPE, word_of_html)
