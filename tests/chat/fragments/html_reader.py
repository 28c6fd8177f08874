"""A reader of rendered HTML that lists its elements and what stands at its top level."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import NamedTuple

VOID_TAGS = {"img", "input", "br", "hr", "path", "rect", "meta", "link"}
"""Tags of elements that have no end tag."""


class Element(NamedTuple):
    """The start tag of an element."""

    tag: str
    attributes: dict[str, str | None]


class ParsedHtml(HTMLParser):
    """The elements of a piece of HTML in document order."""

    def __init__(self, html: str) -> None:
        """Parse `html` at once."""
        super().__init__()
        self.elements: list[Element] = []
        self.root_tags: list[str] = []
        """The tags of the elements at the top level."""
        self.root_texts: list[str] = []
        """The text at the top level, whitespace included."""
        self.open_elements = 0
        """Number of start tags without an end tag so far; 0 at the end of well-formed HTML."""
        self.feed(html)
        self.close()

    def find_all(self, tag: str) -> list[dict[str, str | None]]:
        """Return the attributes of each element with this tag."""
        return [element.attributes for element in self.elements if element.tag == tag]

    @property
    def attribute_names(self) -> set[str]:
        """The names of all attributes."""
        return {name for element in self.elements for name in element.attributes}

    @property
    def classes(self) -> set[str]:
        """All CSS classes."""
        return {name for element in self.elements for name in (element.attributes.get("class") or "").split()}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record a start tag."""
        self.elements.append(Element(tag, dict(attrs)))
        if self.open_elements == 0:
            self.root_tags.append(tag)
        self.open_elements += tag not in VOID_TAGS

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record a tag that closes itself, such as an SVG shape."""
        self.elements.append(Element(tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        """Close the innermost element."""
        self.open_elements -= 1

    def handle_data(self, data: str) -> None:
        """Record text at the top level."""
        if self.open_elements == 0:
            self.root_texts.append(data)
