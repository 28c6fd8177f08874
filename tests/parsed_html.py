"""A reader of HTML that lists elements, attributes and text in document order. `dom` has the tree of a live page."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import NamedTuple

from tests.dom import VOID_TAGS


class Element(NamedTuple):
    """The start tag of an element."""

    tag: str
    attributes: dict[str, str]
    """An attribute without a value has an empty one."""


class ParsedHtml(HTMLParser):
    """The content of a piece of HTML."""

    def __init__(self, html: str) -> None:
        """Parse `html` at once."""
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self.outline: list[str] = []
        """Start tags as `<p>`, end tags as `</p>`, and text."""
        self.texts: list[str] = []
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

    def find_all(self, tag: str) -> list[dict[str, str]]:
        """Return the attributes of each element with this tag."""
        return [element.attributes for element in self.elements if element.tag == tag]

    @property
    def attribute_names(self) -> set[str]:
        """The names of all attributes."""
        return {name for element in self.elements for name in element.attributes}

    @property
    def classes(self) -> set[str]:
        """All CSS classes."""
        return {name for element in self.elements for name in element.attributes.get("class", "").split()}

    @property
    def text(self) -> str:
        """The text content without tags."""
        return "".join(self.texts)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record a start tag."""
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}))
        self.outline.append(f"<{tag}>")
        if self.open_elements == 0:
            self.root_tags.append(tag)
        self.open_elements += tag not in VOID_TAGS

    def handle_endtag(self, tag: str) -> None:
        """Close the innermost element. A tag that closes itself comes here, too."""
        self.outline.append(f"</{tag}>")
        self.open_elements -= tag not in VOID_TAGS

    def handle_data(self, data: str) -> None:
        """Record text."""
        self.outline.append(data)
        self.texts.append(data)
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
