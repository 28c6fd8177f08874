"""The formats `pdf` and `docx`: the shown messages as documents to print, to hand in and to edit.

`document_html` renders the messages, and pandoc writes Word's format, or Typst's, which Typst makes a PDF of. A document
is made before its download begins, so that a refusal has a sentence. See decision 31.
"""

from __future__ import annotations

import logging

from django.utils.translation import get_language

from chat.library.exports.document_html import PictureFiles, document_html
from chat.library.exports.document_programs import ConversionFailed, compile_typst, conversion_slot, convert_html
from chat.library.exports.download import Download
from chat.library.exports.encoding import split_bytes
from chat.library.exports.export_format import ExportFormat, RefusedExport
from chat.library.exports.file_names import file_stem
from chat.library.exports.source import ExportSource
from chat.models.database_thread import close_connection

DOCX_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PDF_TYPE = "application/pdf"

DOUBLE_BARS = (b'mat(delim: "||"', 'mat(delim: "‖"'.encode())
"""What pandoc writes for the bars of `Vmatrix`, and what Typst reads."""

logger = logging.getLogger(__name__)


def export_docx(source: ExportSource) -> Download:
    """Export a document of Word. Raises RefusedExport."""
    return Download(f"{file_stem(source.conversation.title)}.docx", DOCX_TYPE, split_bytes(_convert(source, "docx")))


def export_pdf(source: ExportSource) -> Download:
    """Export a PDF. Raises RefusedExport."""
    return Download(f"{file_stem(source.conversation.title)}.pdf", PDF_TYPE, split_bytes(_convert(source, "typst")))


PDF = ExportFormat("pdf", "PDF", "To print or hand in", (PDF_TYPE,), export_pdf, has_single_messages=True)
DOCX = ExportFormat("docx", "Word", "A document to edit", (DOCX_TYPE,), export_docx, has_single_messages=True)


def _convert(source: ExportSource, target: str) -> bytes:
    """Return the document. A formula that one of the programs does not know makes all formulas their source."""
    with conversion_slot():
        try:
            return _convert_once(source, target, has_formulas=True)
        except ConversionFailed as error:
            logger.warning("A document was refused, and is made without formulas: %s", error)
        try:
            return _convert_once(source, target, has_formulas=False)
        except ConversionFailed:
            logger.exception("A document could not be made.")
            raise RefusedExport from None


def _convert_once(source: ExportSource, target: str, *, has_formulas: bool) -> bytes:
    pictures = PictureFiles(has_files=target == "typst")
    html = document_html(source, pictures, has_formulas=has_formulas)
    metadata = {
        "title": str(source.conversation),
        "date": f"{source.exported_at:%Y-%m-%d}",
        "lang": get_language() or "en",
    }
    # The programs may take long, and need no database.
    close_connection()
    document = convert_html(html, target, metadata)
    return compile_typst(document.replace(*DOUBLE_BARS), pictures.files) if pictures.has_files else document
