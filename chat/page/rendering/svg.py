"""Sanitizes SVG pictures that a kernel sent, and makes `data:` URIs of them.

The page shows such a picture by an `img` element. A browser runs no script in an image, applies no style of it to the
page, and loads nothing that it refers to. A `data:` URI makes the picture part of the fragment: a live page and a
reloaded one are equal, exports need no other file, and no URL of this server delivers SVG that a kernel wrote. This is
why the content security policy allows `data:` images.

The sanitizing is a second line of defence, for readers who open or save the image by itself. It builds a new document
of the elements and attributes listed here. It also limits how much a browser has to draw: a few nested `use` elements
can describe billions of shapes.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar, NamedTuple
from xml.parsers import expat
from xml.sax.saxutils import escape

from chat.page.rendering.svg_size import fit_root
from chat.page.rendering.svg_values import (
    ATTRIBUTES,
    ID,
    NOTHING,
    Cleaned,
    clean_data_uri,
    clean_style_sheet,
    clean_value,
)

SOURCE_LIMIT_CHARS = 400_000
ELEMENTS_LIMIT = 5_000
"""Maximum number of elements of one picture, which take up to 40 ms to sanitize."""
DEPTH_LIMIT = 64
IMAGES_LIMIT = 20
REPEATED_LIMIT_CHARS = 20_000_000
"""Maximum length of the document if each reference to an element were replaced by the element."""

SVG_NAMESPACE = "http://www.w3.org/2000/svg"
_XLINK_HREF = "http://www.w3.org/1999/xlink href"

_ELEMENTS = frozenset(
    {
        *("svg", "g", "defs", "symbol", "use", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon"),
        *("text", "tspan", "textPath", "title", "desc", "clipPath", "mask", "pattern", "marker", "image"),
        *("linearGradient", "radialGradient", "stop", "style"),
    }
)
_UNWRAPPED = frozenset({"a", "switch"})
"""Elements that are replaced by their content."""
_KNOWN = _ELEMENTS | _UNWRAPPED
_TEXT_ELEMENTS = frozenset({"text", "tspan", "textPath", "title", "desc"})
_LINK_ELEMENTS = frozenset({"use", "textPath", "linearGradient", "radialGradient", "pattern"})
"""Elements that may refer to another element of the document."""

_QUOTES = {'"': "&quot;"}


class UnsafePicture(Exception):
    """The document is not an SVG picture, or it exceeds a limit."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A sanitized SVG picture."""

    kind: ClassVar[str] = "picture"

    svg: str
    width: int | None
    """Width in CSS pixels."""
    height: int | None
    """Height in CSS pixels."""
    title: str

    @property
    def uri(self) -> str:
        """The picture as a `data:` URI."""
        return "data:image/svg+xml;base64," + base64.b64encode(self.svg.encode()).decode("ascii")


@lru_cache(maxsize=16)
def sanitize_svg(source: str) -> Picture | None:
    """Return the picture without content that could run scripts, load files or block the browser.

    Return `None` if the source is no SVG picture, or is too large.
    """
    if len(source) > SOURCE_LIMIT_CHARS or source.count("/>") + source.count("</") > ELEMENTS_LIMIT:
        return None
    try:
        return _Sanitizer().run(source)
    except (UnsafePicture, expat.ExpatError, ValueError):
        return None


@dataclass(slots=True)
class _OpenElement:
    """An element whose end has not been parsed yet."""

    tag: str
    """The name of the element; empty if the element is replaced by its content."""
    element_id: str
    start: int
    """Length of the document before the element."""
    references: list[tuple[str, int]] = field(default_factory=list)
    """Ids to which the element or an element in it refers, and how often the referenced element is drawn."""


class _NamedElement(NamedTuple):
    """An element with an id."""

    length: int
    references: list[tuple[str, int]]


@dataclass(slots=True)
class _Sanitizer:
    """Copies the allowed parts of one document while expat parses it."""

    output: list[str] = field(default_factory=list)
    length: int = 0
    open_elements: list[_OpenElement] = field(default_factory=list)
    skipped_depth: int = 0
    """Number of open elements that are left out: the outermost one and those in it."""
    elements: int = 0
    images: int = 0
    named: dict[str, _NamedElement] = field(default_factory=dict)
    style: list[str] | None = None
    """The text of the open style element."""
    title: str = ""
    width: int | None = None
    height: int | None = None

    def run(self, source: str) -> Picture:
        """Return the picture. Raises UnsafePicture, ExpatError or ValueError if it is broken or exceeds a limit."""
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.EntityDeclHandler = self._refuse_entity
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.Parse(source.encode("utf-8", "replace"), True)
        return Picture("".join(self.output), self.width, self.height, self.title.strip()[:200])

    def _refuse_entity(self, *_: object) -> None:
        raise UnsafePicture("entities are declared")

    def _write(self, text: str) -> None:
        self.output.append(text)
        self.length += len(text)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        namespace, _, tag = name.rpartition(" ")
        self.elements += 1
        if self.elements > ELEMENTS_LIMIT or len(self.open_elements) + self.skipped_depth > DEPTH_LIMIT:
            raise UnsafePicture("too many elements")
        is_svg = namespace in ("", SVG_NAMESPACE)
        if not self.output and not (is_svg and tag == "svg"):
            raise UnsafePicture("not an SVG picture")
        if self.skipped_depth or self.style is not None or not is_svg or tag not in _KNOWN:
            self.skipped_depth += 1
        elif tag in _UNWRAPPED:
            self.open_elements.append(_OpenElement("", "", self.length))
        else:
            self._open(tag, attributes)

    def _open(self, tag: str, attributes: dict[str, str]) -> None:
        """Write the start tag of an allowed element."""
        kept, references = self._clean_attributes(tag, attributes)
        if tag == "image" and "href" not in kept:
            self.skipped_depth += 1
            return
        if not self.output:
            self.width, self.height = fit_root(kept)
            kept["xmlns"] = SVG_NAMESPACE
        elif tag == "style":
            self.style = []
            kept = {}
        # A path may refer to a marker, which is drawn at each of its points. Other references are drawn once.
        times = max(len(kept.get("d", "")), len(kept.get("points", ""))) // 4 + 1
        targets = [(target, times) for target in references]
        self.open_elements.append(_OpenElement(tag, kept.get("id", ""), self.length, targets))
        pairs = [f' {name}="{escape(value, _QUOTES)}"' for name, value in kept.items()]
        self._write(f"<{tag}{''.join(pairs)}>")

    def _end(self, _: str) -> None:
        if self.skipped_depth:
            self.skipped_depth -= 1
            return
        element = self.open_elements.pop()
        if self.style is not None:
            self._write(escape(clean_style_sheet("".join(self.style))))
            self.style = None
        if element.tag:
            self._write(f"</{element.tag}>")
        if element.element_id:
            length = self.length - element.start
            self.named.setdefault(element.element_id, _NamedElement(length, element.references))
        if self.open_elements:
            self.open_elements[-1].references += element.references
        else:
            self._check_repetitions(element.references)

    def _characters(self, text: str) -> None:
        if self.skipped_depth or not self.open_elements:
            return
        if self.style is not None:
            self.style.append(text)
            return
        tag = next((element.tag for element in reversed(self.open_elements) if element.tag), "")
        if tag in _TEXT_ELEMENTS:
            self._write(escape(text))
            if tag == "title" and len(self.open_elements) == 2:
                self.title += text

    def _clean_attributes(self, tag: str, attributes: dict[str, str]) -> tuple[dict[str, str], list[str]]:
        """Return the allowed attributes, and the ids that they refer to."""
        kept: dict[str, str] = {}
        references: list[str] = []
        for name, value in attributes.items():
            if name in ATTRIBUTES:
                cleaned, targets = clean_value(name, value)
            elif name in ("href", _XLINK_HREF):
                name = "href"
                cleaned, targets = self._clean_link(tag, value)
            else:
                continue
            if cleaned:
                kept[name] = cleaned
                references += targets
        return kept, references

    def _clean_link(self, tag: str, value: str) -> Cleaned:
        if tag == "image":
            self.images += 1
            return (clean_data_uri(value) if self.images <= IMAGES_LIMIT else ""), ()
        if tag not in _LINK_ELEMENTS or not value.startswith("#") or not ID.fullmatch(value[1:]):
            return NOTHING
        # Other references cannot multiply: a gradient inherits from one other, and a text follows one path.
        return value, (value[1:],) if tag in ("use", "pattern") else ()

    def _check_repetitions(self, references: list[tuple[str, int]]) -> None:
        """Raise UnsafePicture if the picture would be too long with each reference replaced by what it refers to."""
        lengths: dict[str, int] = {}
        if self._repeated_length(references, lengths, frozenset()) > REPEATED_LIMIT_CHARS:
            raise UnsafePicture("too many repetitions")

    def _repeated_length(
        self, references: list[tuple[str, int]], lengths: dict[str, int], ancestors: frozenset[str]
    ) -> int:
        """Return the total length of the elements that these references repeat. `lengths`: known lengths by id."""
        total = 0
        for target, times in references:
            if target in ancestors or len(ancestors) > DEPTH_LIMIT:
                raise UnsafePicture("a circle of references")
            if target not in lengths:
                element = self.named.get(target, _NamedElement(0, []))
                inner = self._repeated_length(element.references, lengths, ancestors | {target})
                lengths[target] = element.length + inner
            total += times * lengths[target]
        return total
