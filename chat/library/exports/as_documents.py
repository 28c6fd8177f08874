"""The formats `pdf` and `docx`: the shown messages as documents to print, to hand in and to edit.

`document_html` renders the messages, and pandoc writes Word's format, or Typst's, which Typst makes a PDF of. A
document is made before its download begins, so that a refusal has a sentence. See decision 31.
"""

from __future__ import annotations

import base64
import logging
import re
from collections.abc import Callable
from functools import reduce

from django.template.loader import render_to_string
from django.utils.translation import get_language

from chat.library.exports.document_html import DocumentFiles, Fidelity, document_html
from chat.library.exports.document_programs import (
    ConversionFailed,
    compile_typst,
    conversion_slot,
    convert_html,
    draw_pictures,
)
from chat.library.exports.download import Download
from chat.library.exports.encoding import split_bytes
from chat.library.exports.export_format import ExportFormat, RefusedExport
from chat.library.exports.file_names import file_stem
from chat.library.exports.source import ExportSource
from chat.models.database_thread import close_connection

DOCX_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PDF_TYPE = "application/pdf"

MENDED = (
    (b'mat(delim: "||"', 'mat(delim: "‖"'.encode()),
    (b"#block[\n#set text(dir: rtl); ", b"#block(width: 100%)[\n#set text(dir: rtl)\n"),
)
"""What pandoc writes, and what Typst needs: the bars of `Vmatrix`, and the width that lets lines begin at the right."""
FIDELITIES = (Fidelity(), Fidelity(has_formulas=False), Fidelity(has_formulas=False, has_pictures=False))
"""What is tried in turn, until both programs understand the document."""
_DRAWN_SUFFIXES = (".svg", ".webp")
"""Pictures that Word does not show, or not in all its versions."""

logger = logging.getLogger(__name__)


def export_docx(source: ExportSource) -> Download:
    """Export a document of Word. Raises RefusedExport."""
    return Download(
        f"{file_stem(source.conversation.title)}.docx", DOCX_TYPE, split_bytes(_convert(source, word_of_html))
    )


def export_pdf(source: ExportSource) -> Download:
    """Export a PDF. Raises RefusedExport."""
    return Download(f"{file_stem(source.conversation.title)}.pdf", PDF_TYPE, split_bytes(_convert(source, pdf_of_html)))


PDF = ExportFormat("pdf", "PDF", "To print or hand in", (PDF_TYPE,), export_pdf, has_single_messages=True)
DOCX = ExportFormat("docx", "Word", "A document to edit", (DOCX_TYPE,), export_docx, has_single_messages=True)


def _convert(source: ExportSource, write: Callable[[str, DocumentFiles, dict[str, str]], bytes]) -> bytes:
    metadata = {
        "title": str(source.conversation),
        "date": f"{source.exported_at:%Y-%m-%d}",
        "lang": get_language() or "en",
    }
    with conversion_slot():
        for fidelity in FIDELITIES:
            files = DocumentFiles()
            html = document_html(source, files, fidelity)
            # The programs may take long, and need no database.
            close_connection()
            try:
                return write(html, files, metadata)
            except ConversionFailed as error:
                logger.warning("A document with %s was refused: %s", fidelity, error)
    raise RefusedExport


def word_of_html(html: str, files: DocumentFiles, metadata: dict[str, str]) -> bytes:
    """Return a document of Word. Raises ConversionFailed and ExportTooLarge."""
    pictures = {name: picture.data for name, picture in files.pictures.items()}
    drawn = [name for name in pictures if name.endswith(_DRAWN_SUFFIXES)]
    pictures.update(zip(drawn, draw_pictures({name: files.pictures[name] for name in drawn}), strict=True))
    name_pattern = re.compile(rf"{files.token}-\d+\.\w+")
    return convert_html(name_pattern.sub(lambda match: _data_uri(pictures[match[0]]), html), "docx", metadata)


def _data_uri(data: bytes) -> str:
    # Pandoc recognizes the type by the bytes.
    return f"data:image/png;base64,{base64.b64encode(data).decode('ascii')}"


def pdf_of_html(html: str, files: DocumentFiles, metadata: dict[str, str]) -> bytes:
    """Return a PDF. Raises ConversionFailed and ExportTooLarge."""
    style = render_to_string("exports/document.typ")
    document = convert_html(html, "typst", metadata, {"header-includes": style, "papersize": "a4"})
    for name, picture in files.pictures.items():
        description = " ".join(picture.description.split()).translate({ord(sign): f"\\{sign}" for sign in '\\"'})
        # Screen readers need the descriptions, which pandoc leaves out.
        document = document.replace(f'image("{name}"'.encode(), f'image("{name}", alt: "{description}"'.encode())
    document = reduce(lambda text, pair: text.replace(*pair), MENDED, document)
    return compile_typst(document, {name: one.data for name, one in files.pictures.items()})
