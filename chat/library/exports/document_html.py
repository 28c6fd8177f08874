"""The messages of an export as HTML that pandoc converts: the page's own rendering, without what only a browser uses.

Formulas are MathML, from which pandoc makes formulas of Word and of Typst. Every attribute that pandoc could understand
as a command, and every address that is no link to the web, is left out.
"""

from __future__ import annotations

import base64
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field

from django.utils.html import escape
from lxml.html import HtmlElement, fragment_fromstring, tostring

from attachments.validation import RASTER_TYPES
from chat.library.exports.as_markdown import answer_blocks
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
PLAIN = MarkdownOptions(has_buttons=False)

_SUFFIXES = {"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp", "image/gif": "gif"}
_LANGUAGE = re.compile(r"[a-z][a-z0-9]{0,19}")
_DROPPED = (
    ".//button | .//*[@class='code-head' or @class='table-foot']"
    " | .//a[starts-with(@href, '#') and contains(@href, 'fnref')]"
)
"""What belongs to the page: buttons, names of languages, sizes of tables, and the ways back from footnotes."""
_BLOCKS = ("p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol")
_KEPT_ATTRIBUTES = frozenset({"align", "class", "colspan", "dir", "rowspan", "start"})


@dataclass(slots=True)
class PictureFiles:
    """The pictures of a document. `has_files`: they are files beside it; otherwise it holds them as `data:` URIs."""

    has_files: bool
    files: dict[str, bytes] = field(default_factory=dict)
    size_bytes: int = 0

    def add(self, data: bytes, mime_type: str, suffix: str) -> str:
        """Return the address of a picture. Raises ExportTooLarge."""
        self.size_bytes += len(data)
        if self.size_bytes > PICTURES_LIMIT_BYTES:
            raise ExportTooLarge
        if not self.has_files:
            return f"data:{mime_type};base64,{base64.b64encode(data).decode('ascii')}"
        name = f"picture-{len(self.files) + 1}.{suffix}"
        self.files[name] = data
        return name


def document_html(source: ExportSource, pictures: PictureFiles, *, has_formulas: bool = True) -> str:
    """Return the shown messages as HTML, each once and in order. Raises ExportTooLarge.

    `has_formulas`: otherwise formulas are their source.
    """
    pieces: list[str] = []
    size = 0
    if source.message_id is None and source.is_live():
        pieces.append(f"<p><em>{escape(translate_sentence(LIVE_SENTENCE))}</em></p>")
    for record in source.messages(shown_only=True):
        for piece in _message_pieces(record, pictures, has_formulas=has_formulas):
            size += len(piece)
            if size > HTML_LIMIT_CHARS:
                raise ExportTooLarge
            pieces.append(piece)
    return "\n".join([*pieces, *([] if pieces else ["<p></p>"])])


def _message_pieces(record: MessageRecord, pictures: PictureFiles, *, has_formulas: bool) -> Iterator[str]:
    words = [f"{record.message.created_at:%Y-%m-%d %H:%M} UTC", translate_sentence(answered_by(record.turn).sentence)]
    yield f"<h2>{escape(translate_sentence(message_heading(record)))}</h2>"
    yield f"<p><em>{escape(' · '.join(filter(None, words)))}</em></p>"
    if record.message.role == Role.USER and record.message.text:
        code = unfence_code(record.message.text)
        html = render_markdown(fence_code(code, "python"), PLAIN) if code else _question_html(record.message.text)
        yield _adapt(html, has_formulas=has_formulas)
    alts = {index: view.alt for index, view in captioned_views(record).items()}
    for block in answer_blocks(record):
        if isinstance(block, str):
            yield _adapt(render_markdown(block, PLAIN), has_formulas=has_formulas)
        else:
            yield _picture_html(block, alts, pictures)


def _question_html(text: str) -> str:
    return str(render_question(text, "", has_buttons=False))


def _picture_html(block: PlacedAttachment | Picture, alts: dict[int, str], pictures: PictureFiles) -> str:
    if isinstance(block, Picture):
        uri = pictures.add(block.svg.encode(), "image/svg+xml", "svg")
        return f'<p><img src="{uri}" alt="{escape(block.title)}"></p>'
    attachment = block.attachment
    suffix = _SUFFIXES.get(attachment.mime_type)
    data = load_bytes(attachment) if suffix and attachment.mime_type in RASTER_TYPES else None
    if data is None or suffix is None:
        return f"<p><em>{escape(attachment.name)} ({attachment.size_bytes:,} bytes)</em></p>"
    uri = pictures.add(data, attachment.mime_type, suffix)
    return f'<p><img src="{uri}" alt="{escape(alts.get(block.index, attachment.name))}"></p>'


def _adapt(html: str, *, has_formulas: bool) -> str:
    """Return HTML of the page as pandoc should read it."""
    root = fragment_fromstring(html, create_parent="div")
    for element in root.xpath(_DROPPED):
        element.drop_tree()
    for element in list(root.iter("input", "details", "summary", "a", "pre", "math", "span")):
        _adapt_element(element, has_formulas=has_formulas)
    for element in root.iter():
        for name in list(element.attrib):
            if not _is_kept(element, name):
                del element.attrib[name]
    for element in list(root.iter(*_BLOCKS)):
        _set_direction(element)
    return str(tostring(root, encoding="unicode"))


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
        case "pre":
            language = element.get("data-language", "").lower()
            element.set("class", language if _LANGUAGE.fullmatch(language) else "")
        case "math" if not has_formulas:
            for child in list(element):
                element.remove(child)
            element.tag, element.text = "code", element.get("alttext", "")


def _is_kept(element: HtmlElement, name: str) -> bool:
    if name == "href":
        return element.tag == "a" and element.attrib[name].startswith(("https://", "http://", "mailto:"))
    if name == "class":
        return element.tag == "pre"
    return name in _KEPT_ATTRIBUTES or name in MATHML_ATTRIBUTES.get(element.tag, ())


def _set_direction(element: HtmlElement) -> None:
    """Wrap a block whose first letter is of a script from right to left, which Word and Typst must be told."""
    letters = (unicodedata.bidirectional(letter) for letter in element.text_content())
    first = next((direction for direction in letters if direction in ("L", "R", "AL")), "L")
    parent = element.getparent()
    if first == "L" or parent is None or any(one.get("dir") for one in element.iterancestors("div")):
        return
    box = element.makeelement("div", {"dir": "rtl"})
    box.tail, element.tail = element.tail, None
    parent.replace(element, box)
    box.append(element)
