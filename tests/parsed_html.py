"""Parses HTML to lists of elements, attributes and text in document order. `dom` has the tree of a live page."""

from __future__ import annotations

from html.parser import HTMLParser

from tests.dom import VOID_TAGS


class Content:
    """The elements and the text in a document or in an element, at any depth."""

    @property
    def elements(self) -> list[Element]:
        """All elements, in the order of their start tags."""
        raise NotImplementedError

    @property
    def texts(self) -> list[str]:
        """All texts between tags."""
        raise NotImplementedError

    @property
    def text(self) -> str:
        """The text content without tags."""
        return "".join(self.texts)

    @property
    def attribute_names(self) -> set[str]:
        """The names of all attributes."""
        return {name for element in self.elements for name in element.attributes}

    def find_all(self, tag: str) -> list[dict[str, str]]:
        """Return the attributes of each element with this tag."""
        return [element.attributes for element in self.select(tag)]

    def select(self, tag: str = "", **attributes: str) -> list[Element]:
        """Return the elements with this tag, or with any, and these attributes, such as `class_` and `aria_label`."""
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}.items()
        return [one for one in self.elements if tag in ("", one.tag) and wanted <= one.attributes.items()]

    def only(self, tag: str = "", **attributes: str) -> Element:
        """Return the only element that `select` finds; there must be one."""
        [element] = self.select(tag, **attributes)
        return element


class Element(Content):
    """An element of a document."""

    def __init__(self, document: ParsedHtml, tag: str, attributes: dict[str, str]) -> None:
        """Begin an element. An attribute without a value has an empty one."""
        self.tag = tag
        self.attributes = attributes
        self._document = document
        self._start = document.position
        self.end: tuple[int | None, int | None] = (None, None)
        """The position after its end. An element without an end tag ends with the document."""

    @property
    def elements(self) -> list[Element]:
        """The elements inside of it."""
        return self._document.elements[self._start[0] + 1 : self.end[0]]

    @property
    def texts(self) -> list[str]:
        """The texts inside of it."""
        return self._document.texts[self._start[1] : self.end[1]]


class ParsedHtml(HTMLParser, Content):
    """The content of a piece of HTML."""

    def __init__(self, html: str) -> None:
        """Parse `html` at once."""
        super().__init__(convert_charrefs=True)
        self._elements: list[Element] = []
        self._texts: list[str] = []
        self._open: list[Element] = []
        self.outline: list[str] = []
        """Start tags as `<p>`, end tags as `</p>`, and text."""
        self.non_elements: list[str] = []
        """Comments, declarations and processing instructions."""
        self.root_tags: list[str] = []
        """The tags of the elements at the top level."""
        self.root_texts: list[str] = []
        """The text at the top level, whitespace included."""
        self.open_elements = 0
        """Number of start tags without an end tag so far; 0 at the end of well-formed HTML."""
        self.feed(html)
        self.close()

    @property
    def elements(self) -> list[Element]:
        """All elements, in the order of their start tags."""
        return self._elements

    @property
    def texts(self) -> list[str]:
        """All texts between tags."""
        return self._texts

    @property
    def position(self) -> tuple[int, int]:
        """The number of elements and of texts so far."""
        return len(self._elements), len(self._texts)

    @property
    def classes(self) -> set[str]:
        """All CSS classes."""
        return {name for element in self.elements for name in element.attributes.get("class", "").split()}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record a start tag."""
        element = Element(self, tag, {name: value or "" for name, value in attrs})
        self._elements.append(element)
        self.outline.append(f"<{tag}>")
        if self.open_elements == 0:
            self.root_tags.append(tag)
        if tag in VOID_TAGS:
            element.end = self.position
        else:
            self._open.append(element)
            self.open_elements += 1

    def handle_endtag(self, tag: str) -> None:
        """Close the innermost element with this tag. The parser calls this for self-closing tags, too."""
        self.outline.append(f"</{tag}>")
        self.open_elements -= tag not in VOID_TAGS
        if any(element.tag == tag for element in reversed(self._open)):
            while (element := self._open.pop()).tag != tag:
                element.end = self.position
            element.end = self.position

    def handle_data(self, data: str) -> None:
        """Record text."""
        self.outline.append(data)
        self._texts.append(data)
        if self.open_elements == 0:
            self.root_texts.append(data)

    def handle_comment(self, data: str) -> None:
        """Record a comment."""
        self.non_elements.append(data)

    def handle_decl(self, decl: str) -> None:
        """Record a declaration."""
        self.non_elements.append(decl)

    def handle_pi(self, data: str) -> None:
        """Record a processing instruction."""
        self.non_elements.append(data)
