"""Reads from the HTML of an answer what a reader sees, in the form of the labels."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from copy import deepcopy

from lxml import html as lxml_html
from lxml.html import HtmlElement

Labels = dict[str, object]
SOURCE = "source"
"""The value that replaces the rows of a formula which is shown as its source."""
TAGS = ("sub", "sup", "kbd", "u", "mark", "details")


class Answer:
    """The HTML of an answer."""

    def __init__(self, html: str) -> None:
        """Parse the HTML. Elements outside of the answer are removed: buttons, sizes of tables, words for screen
        readers.
        """
        self._root = lxml_html.fragment_fromstring(html, create_parent="main")
        for css_class in ("visually-hidden", "table-foot"):
            for element in self._root.find_class(css_class):
                element.drop_tree()
        for button in list(self._root.iter("button")):
            if button.get("data-action") == "sort":
                button.drop_tag()
            else:
                button.drop_tree()

    @property
    def labels(self) -> Labels:
        """The labels of the answer, without `visible` and `absent`."""
        body = [element for element in self._root.iter() if isinstance(element.tag, str)]
        return {name: value for name, read in READERS.items() if (value := read(body))}

    @property
    def text(self) -> str:
        """The visible text, with each run of white space as one space."""
        return fold_all(text_of(self._root))

    @property
    def prose(self) -> str:
        """The visible text outside of code and formulas."""
        root = deepcopy(self._root)
        for element in list(root.iter("code", "math")):
            element.drop_tree()
        return str(root.text_content())


def text_of(element: HtmlElement) -> str:
    """Return the visible text of an element; formulas as `⟨latex⟩`."""
    return fold("".join(_texts(element)))


def fold(text: str) -> str:
    """Return a text with each run of spaces as one space, and none at its ends. Line feeds stay."""
    return "\n".join(" ".join(line.split()) for line in text.strip().split("\n")).strip()


def fold_all(text: str) -> str:
    """Return a text with one space in place of each run of white space."""
    return " ".join(text.split())


def _texts(element: HtmlElement) -> Iterator[str]:
    if element.tag == "math":
        yield f"⟨{fold_all(element.get('alttext', ''))}⟩"
    elif "formula-source" in element.get("class", ""):
        yield f"⟨{fold_all(element.text_content())}⟩"
    elif element.tag == "br":
        yield "\n"
    elif not _is_note_reference(element):
        yield " ".join(re.split(r"\s+", element.text or ""))
        for child in element:
            yield from _texts(child)
            yield " ".join(re.split(r"\s+", child.tail or ""))


def _is_note_reference(element: HtmlElement) -> bool:
    return element.get("class") == "footnote-ref" or "-fnref-" in "".join(
        child.get("id", "") for child in element.iter("a") if element.tag == "sup"
    )


def _formulas(body: list[HtmlElement]) -> object:
    found = []
    for element in body:
        if element.tag == "math":
            rows = _rows(element)
            entry: Labels = {"latex": fold_all(element.get("alttext", "")), "block": element.get("display") == "block"}
            found.append(entry | ({"rows": rows} if rows > 1 else {}))
        elif "formula-source" in element.get("class", ""):
            found.append({"latex": fold_all(element.text_content()), "block": True, "rows": SOURCE})
    return found


def _rows(formula: HtmlElement) -> int:
    """Return the number of rows of the largest outer table of a formula, unless it is below a sign.

    One row that contains rows does not count: it is an equation, or the position of its number.
    """
    tables = [formula]
    while tables:
        tables = [table for outer in tables for table in _outermost(outer)]
        rows = max((len(table.findall("mtr")) for table in tables), default=0)
        if rows > 1 or not formula.get("alttext", "").startswith("\\begin{equation"):
            return rows
    return 0


def _outermost(element: HtmlElement) -> Iterator[HtmlElement]:
    for child in element:
        if child.tag == "mtable":
            yield child
        elif child.tag not in ("munder", "munderover", "msub"):
            yield from _outermost(child)


def _tables(body: list[HtmlElement]) -> object:
    return [
        {"cells": [[text_of(cell) for cell in row if cell.tag in ("th", "td")] for row in table.iter("tr")]}
        for table in body
        if table.tag == "table"
    ]


def _code(body: list[HtmlElement]) -> object:
    found = []
    for box in body:
        if box.get("class") == "code-block":
            [pre] = box.iter("pre")
            label = box.find_class("code-head")[0].text_content()
            found.append({"language": pre.get("data-language") or label, "text": pre.text_content().strip("\n")})
    return found


def _headings(body: list[HtmlElement]) -> object:
    return [[int(one.tag[1]) - 2, text_of(one)] for one in body if re.fullmatch("h[1-6]", str(one.tag))]


def _spans(*tags: str) -> Callable[[list[HtmlElement]], object]:
    return lambda body: [text_of(element) for element in body if element.tag in tags]


def _links(body: list[HtmlElement]) -> object:
    return [[text_of(one), one.get("href")] for one in body if one.tag == "a" and "-fn" not in one.get("href", "#-fn")]


def _inline_code(body: list[HtmlElement]) -> object:
    return [
        fold_all(one.text_content())
        for one in body
        if one.tag == "code" and one.getparent().tag != "pre" and "formula-source" not in one.get("class", "")
    ]


def _tags(body: list[HtmlElement]) -> object:
    return [
        [one.tag, text_of(one.find("summary") if one.tag == "details" else one)]
        for one in body
        if one.tag in TAGS and not _is_note_reference(one)
    ]


def _lists(body: list[HtmlElement]) -> object:
    return [len(one.findall("li")) for one in body if one.tag in ("ul", "ol") and not _is_notes(one)]


def _starts(body: list[HtmlElement]) -> object:
    return [int(one.get("start", "1")) for one in body if one.tag == "ol" and not _is_notes(one)]


def _is_notes(element: HtmlElement) -> bool:
    return str(element.getparent().get("class")) == "footnotes"


READERS: dict[str, Callable[[list[HtmlElement]], object]] = {
    "formulas": _formulas,
    "tables": _tables,
    "code": _code,
    "lists": _lists,
    "starts": _starts,
    "headings": _headings,
    "strong": _spans("strong", "b"),
    "emphasis": _spans("em", "i"),
    "deleted": _spans("del", "s"),
    "links": _links,
    "inline_code": _inline_code,
    "tags": _tags,
    "quotes": lambda body: sum(one.tag == "blockquote" for one in body),
    "footnotes": lambda body: sum(one.tag == "li" and _is_notes(one.getparent()) for one in body),
}
