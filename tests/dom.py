"""A minimal model of a browser's page: it applies frames and returns its HTML byte for byte."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

VOID_TAGS = frozenset({"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"})
IGNORED_TARGETS = frozenset({"conversation-title", "conversation-usage", "earlier", "later"})
"""Ids of elements that a real page has and this model omits."""


def without_reruns(html: str) -> str:
    """Return the HTML without the buttons that run code again, which only the owner of a finished answer sees."""
    return re.sub(r'<div [^>]*class="rerun"[^>]*>.*?</div>', "", html, flags=re.DOTALL)


@dataclass(eq=False)
class Node:
    """An element with the source text of its tags, or a text node."""

    start: str = ""
    end: str = ""
    element_id: str = ""
    target: str = ""
    swap: str = ""
    children: list[Node] = field(default_factory=list)
    parent: Node | None = None

    def html(self) -> str:
        """Return the outer HTML."""
        return self.start + self.inner() + self.end

    def inner(self) -> str:
        """Return the inner HTML."""
        return "".join(child.html() for child in self.children)

    def append(self, child: Node) -> None:
        child.parent = self
        self.children.append(child)


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.root = Node()
        self.open: list[tuple[str, Node]] = [("", self.root)]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        node = Node(
            start=self.get_starttag_text() or "",
            element_id=values.get("id") or "",
            target=(values.get("hx-target") or "").removeprefix("#"),
            swap=values.get("hx-swap") or "",
        )
        self.open[-1][1].append(node)
        if tag not in VOID_TAGS:
            self.open.append((tag, node))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1][1].append(Node(start=self.get_starttag_text() or ""))

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1][0] == tag, f"</{tag}> closes <{self.open[-1][0]}>"
        self.open.pop()[1].end = f"</{tag}>"

    def handle_data(self, data: str) -> None:
        self.open[-1][1].append(Node(start=data))

    def handle_entityref(self, name: str) -> None:
        self.handle_data(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self.handle_data(f"&#{name};")

    def handle_comment(self, data: str) -> None:
        self.handle_data(f"<!--{data}-->")


def parse(html: str) -> Node:
    """Parse a fragment and return its root, a node without tags."""
    builder = _Builder()
    builder.feed(html)
    builder.close()
    assert len(builder.open) == 1, f"<{builder.open[-1][0]}> is not closed"
    assert builder.root.html() == html
    return builder.root


class Page:
    """The elements `#transcript` and `#composer-error` of one tab."""

    def __init__(self, html: str = '<div id="transcript"></div><div id="composer-error"></div>') -> None:
        self.root = parse(html)
        self.ids: dict[str, Node] = {}
        self._add_ids(self.root)
        self.accepted_ids: list[str] = []
        self.last_message: dict[str, Any] = {}

    def _add_ids(self, node: Node) -> None:
        if node.element_id:
            self.ids[node.element_id] = node
        for child in node.children:
            self._add_ids(child)

    def apply(self, text: str) -> None:
        """Apply one message from the socket."""
        self.last_message = message = json.loads(text)
        if "accepted" in message:
            self.accepted_ids.append(message["accepted"])
        if "content" in message:
            self.swap(message["content"])

    def swap(self, content: str) -> None:
        """Apply the `<hx-partial>` elements of one frame in order."""
        for partial in parse(content).children:
            assert partial.target, f"not a partial: {partial.html()[:80]}"
            if partial.target in IGNORED_TARGETS or partial.target.startswith("entry-"):
                continue
            self._swap(self.ids[partial.target], partial.swap, partial.children)

    def _swap(self, target: Node, swap: str, children: list[Node]) -> None:
        parent = target.parent
        match swap:
            case "beforeend":
                target.children += children
                self._adopt(target, children)
            case "afterbegin":
                target.children[:0] = children
                self._adopt(target, children)
            case "innerMorph" | "innerHTML":
                for child in target.children:
                    self._remove_ids(child)
                target.children = children
                self._adopt(target, children)
            case "beforebegin" | "outerMorph" | "outerHTML":
                assert parent is not None
                index = parent.children.index(target)
                if swap == "beforebegin":
                    parent.children[index:index] = children
                else:
                    self._remove_ids(target)
                    parent.children[index : index + 1] = children
                self._adopt(parent, children)
            case "delete":
                assert parent is not None
                assert not children, "a delete swap has no content"
                parent.children.remove(target)
                self._remove_ids(target)
            case _:
                raise AssertionError(f"unknown swap {swap}")

    def _adopt(self, parent: Node, children: list[Node]) -> None:
        for child in children:
            child.parent = parent
            self._add_ids(child)

    def _remove_ids(self, node: Node) -> None:
        self.ids.pop(node.element_id, None)
        for child in node.children:
            self._remove_ids(child)

    @property
    def transcript(self) -> str:
        """The inner HTML of the transcript."""
        return self.ids["transcript"].inner()
