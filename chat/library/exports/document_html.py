"""Renders the messages of an export as HTML for pandoc: the HTML of the page without what only a browser needs.

Formulas are MathML, from which pandoc makes formulas of Word and of Typst. Attributes that pandoc could interpret as
commands, and addresses other than links to the web, are left out.
"""

from __future__ import annotations

import re
import secrets
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field

from django.utils.html import escape
from django.utils.translation import get_language
from lxml.html import HtmlElement, fragment_fromstring, tostring

from attachments.validation import GIF, JPEG, PNG, WEBP
from chat.library.exports.as_markdown import answer_blocks
from chat.library.exports.document_math import adapt_formula
from chat.library.exports.export_format import ExportTooLarge
from chat.library.exports.sentences import LIVE_SENTENCE, message_heading
from chat.library.exports.source import ExportSource, load_bytes
from chat.messages.records import MessageRecord, PlacedAttachment
from chat.page.rendering.documents import MarkdownOptions
from chat.page.rendering.markdown import render_markdown, render_question
from chat.page.rendering.mathml import MATHML_ATTRIBUTES
from chat.page.rendering.svg import Picture
from chat.page.transcript.answer_details import answered_by
from chat.page.transcript.gallery import captioned_views
from chat.vocabulary.fences import unfence_code
from chat.vocabulary.markdown_source import fence_code
from chat.vocabulary.parts import Role
from chat.vocabulary.sentences import translate_sentence

HTML_LIMIT_CHARS = 3_000_000
PICTURES_LIMIT_BYTES = 24 * 1024**2
QUOTES_LIMIT = 8
"""Maximum depth of nested quotes. Typst refuses documents with a depth of 16."""
PLAIN = MarkdownOptions(has_buttons=False)

_SUFFIXES = {PNG: "png", JPEG: "jpg", WEBP: "webp", GIF: "gif"}
_LANGUAGE = re.compile(r"[a-z][a-z0-9]{0,19}")
_DROPPED = (
    ".//button | .//*[@class='code-head' or @class='table-foot']"
    " | .//a[starts-with(@href, '#') and contains(@href, 'fnref')]"
)
"""Elements that only the page needs: buttons, names of languages, sizes of tables, and back links of footnotes."""
_BLOCKS = ("p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol")
_KEPT_ATTRIBUTES = frozenset({"align", "class", "colspan", "dir", "notation", "rowspan", "start"})


@dataclass(frozen=True, slots=True)
class PictureFile:
    """A picture of a document. Width or height 0: not known."""

    data: bytes
    description: str
    width: int
    """Width in pixels; of SVG, in CSS pixels."""
    height: int


@dataclass(slots=True)
class DocumentFiles:
    """The pictures of a document by their names in its HTML. The names are random, so no message contains one."""

    pictures: dict[str, PictureFile] = field(default_factory=dict)
    size_bytes: int = 0
    token: str = field(default_factory=lambda: secrets.token_hex(8))

    def add(self, picture: PictureFile, suffix: str) -> str:
        """Add a picture, and return the HTML that shows it. Raises ExportTooLarge if the pictures are too large."""
        self.size_bytes += len(picture.data)
        if self.size_bytes > PICTURES_LIMIT_BYTES:
            raise ExportTooLarge
        name = f"{self.token}-{len(self.pictures) + 1}.{suffix}"
        self.pictures[name] = picture
        width = f' width="{picture.width}"' if suffix == "svg" and picture.width else ""
        return f'<p><img src="{name}" alt="{escape(picture.description)}"{width}></p>'


@dataclass(frozen=True, slots=True)
class Fidelity:
    """The choice whether a document has formulas or their source, and pictures or their names."""

    has_formulas: bool = True
    has_pictures: bool = True


def document_html(source: ExportSource, files: DocumentFiles, fidelity: Fidelity) -> str:
    """Return the shown messages, each once and in order, as an HTML document. Raises ExportTooLarge at a limit."""
    pieces = [
        f'<html lang="{get_language() or "en"}"><head><title>{escape(source.conversation)}</title>'
        f'<meta name="date" content="{source.exported_at:%Y-%m-%d}"></head><body>'
    ]
    size = 0
    if source.message_id is None and source.is_live():
        pieces.append(_note_html(translate_sentence(LIVE_SENTENCE)))
    for record in source.messages(shown_only=True):
        for piece in _message_pieces(record, files, fidelity):
            size += len(piece)
            if size > HTML_LIMIT_CHARS:
                raise ExportTooLarge
            pieces.append(piece)
    return "\n".join([*pieces, "</body></html>"])


def _message_pieces(record: MessageRecord, files: DocumentFiles, fidelity: Fidelity) -> Iterator[str]:
    words = [f"{record.message.created_at:%Y-%m-%d %H:%M} UTC", translate_sentence(answered_by(record.turn).sentence)]
    yield f"<h2>{escape(translate_sentence(message_heading(record)))}</h2>"
    yield f"<p><em>{escape(' · '.join(filter(None, words)))}</em></p>"
    if record.message.role == Role.USER and record.message.text:
        yield _adapt(_question_html(record.message.text), has_formulas=fidelity.has_formulas)
    alts = {index: view.alt for index, view in captioned_views(record).items()}
    for block in answer_blocks(record):
        if isinstance(block, str):
            yield _adapt(render_markdown(block, PLAIN), has_formulas=fidelity.has_formulas)
        else:
            yield _picture_html(block, alts, files, fidelity)


def _question_html(text: str) -> str:
    """Return a question as it was typed, or the code that it consists of."""
    code = unfence_code(text)
    return render_markdown(fence_code(code, "python"), PLAIN) if code else render_question(text, "", has_buttons=False)


def _picture_html(
    block: PlacedAttachment | Picture, alts: dict[int, str], files: DocumentFiles, fidelity: Fidelity
) -> str:
    if isinstance(block, Picture):
        if not fidelity.has_pictures:
            return _note_html(block.title)
        return files.add(PictureFile(block.svg.encode(), block.title, block.width or 0, block.height or 0), "svg")
    attachment = block.attachment
    suffix = _SUFFIXES.get(attachment.mime_type)
    if suffix is None or not fidelity.has_pictures:
        return _note_html(f"{attachment.name} ({attachment.size_bytes:,} bytes)")
    data = load_bytes(attachment)
    if data is None:
        return _note_html(translate_sentence(f"“{attachment.name}” is missing in storage."))
    description = alts.get(block.index, attachment.name)
    return files.add(PictureFile(data, description, attachment.width or 0, attachment.height or 0), suffix)


def _note_html(text: str) -> str:
    return f"<p><em>{escape(text)}</em></p>"


def _adapt(html: str, *, has_formulas: bool) -> str:
    """Return HTML of the page in a form that pandoc converts as intended. Raises ExportTooLarge if it is too long."""
    if len(html) > HTML_LIMIT_CHARS:
        raise ExportTooLarge
    root = fragment_fromstring(html, create_parent="div")
    for element in root.xpath(_DROPPED):
        element.drop_tree()
    for element in list(root.iter("input", "details", "blockquote", "div", "summary", "a", "pre", "math", "span")):
        _adapt_element(element, has_formulas=has_formulas)
    for element in root.iter():
        for name in list(element.attrib):
            if not _is_kept(element, name):
                del element.attrib[name]
    for element in list(root.iter(*_BLOCKS)):
        _set_direction(element)
    # Pandoc writes the direction for Word by itself, and for Typst from an attribute that begins with `typst:text:`.
    return str(tostring(root, encoding="unicode")).replace('<div dir="rtl">', '<div dir="rtl" typst:text:dir="rtl">')


def _adapt_element(element: HtmlElement, *, has_formulas: bool) -> None:
    match element.tag:
        case "input":
            element.tail = ("☒" if "checked" in element.attrib else "☐") + (element.tail or "")
            element.drop_tree()
        case "details" | "span":
            element.drop_tag()
        case "summary":
            element.tag = "p"
        case "a" if element.get("href", "").startswith("#"):
            element.drop_tag()
        case "blockquote" if sum(1 for _ in element.iterancestors("blockquote")) >= QUOTES_LIMIT:
            element.drop_tag()
        case "div" if element.get("class") == "as-typed":
            element.tag = "pre"
        case "pre":
            language = element.get("data-language", "").lower()
            element.set("class", language if _LANGUAGE.fullmatch(language) else "")
        case "math" if not has_formulas:
            for child in list(element):
                element.remove(child)
            element.tag, element.text = "code", element.get("alttext", "")
        case "math":
            adapt_formula(element)


def _is_kept(element: HtmlElement, name: str) -> bool:
    if name == "href":
        return element.tag == "a" and str(element.attrib[name]).startswith(("https://", "http://", "mailto:"))
    if name == "class":
        return str(element.tag) == "pre"
    return name in _KEPT_ATTRIBUTES or name in MATHML_ATTRIBUTES.get(element.tag, ())


def _set_direction(element: HtmlElement) -> None:
    """Wrap a block whose first letter belongs to a right-to-left script, so that Word and Typst know its direction."""
    letters = (unicodedata.bidirectional(letter) for letter in element.text_content())
    first = next((direction for direction in letters if direction in ("L", "R", "AL")), "L")
    parent = element.getparent()
    if first == "L" or parent is None or any(one.get("dir") for one in element.iterancestors("div")):
        return
    box = element.makeelement("div", {"dir": "rtl"})
    box.tail, element.tail = element.tail, None
    parent.replace(element, box)
    box.append(element)
