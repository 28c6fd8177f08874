"""A page as a browser keeps it, just enough of it: applies frames and gives its HTML back byte for byte."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

VOID = frozenset({"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"})


BESIDE = frozenset({"conversation-title", "conversation-usage"})
"""Elements of a real page that this one does without."""


@dataclass(eq=False)
class Node:
    """An element with its raw tags, or raw text."""

    start: str = ""
    end: str = ""
    element_id: str = ""
    target: str = ""
    swap: str = ""
    children: list[Node] = field(default_factory=list)
    parent: Node | None = None

    def html(self) -> str:
        """Outer HTML."""
        return self.start + self.inner() + self.end

    def inner(self) -> str:
        """Inner HTML."""
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
        if tag not in VOID:
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
    """A fragment as a root without tags."""
    builder = _Builder()
    builder.feed(html)
    builder.close()
    assert len(builder.open) == 1, f"<{builder.open[-1][0]}> is not closed"
    assert builder.root.html() == html
    return builder.root


class Page:
    """`#transcript` and `#composer-error` of one tab."""

    def __init__(self, html: str = '<div id="transcript"></div><div id="composer-error"></div>') -> None:
        self.root = parse(html)
        self.ids: dict[str, Node] = {}
        self._index(self.root)
        self.accepted: list[str] = []
        self.last: dict[str, Any] = {}

    def _index(self, node: Node) -> None:
        if node.element_id:
            self.ids[node.element_id] = node
        for child in node.children:
            self._index(child)

    def apply(self, text: str) -> None:
        """One socket message."""
        self.last = message = json.loads(text)
        if "accepted" in message:
            self.accepted.append(message["accepted"])
        if "content" in message:
            self.swap(message["content"])

    def swap(self, content: str) -> None:
        """The partials of one frame, in order."""
        for partial in parse(content).children:
            assert partial.target, f"not a partial: {partial.html()[:80]}"
            if partial.target in BESIDE or partial.target.startswith("entry-"):
                continue
            self._swap(self.ids[partial.target], partial.swap, partial.children)

    def _swap(self, target: Node, swap: str, children: list[Node]) -> None:
        parent = target.parent
        match swap:
            case "beforeend":
                target.children += children
                self._adopt(target, children)
            case "innerMorph" | "innerHTML":
                for child in target.children:
                    self._forget(child)
                target.children = children
                self._adopt(target, children)
            case "beforebegin" | "outerMorph" | "outerHTML":
                assert parent is not None
                place = parent.children.index(target)
                keep = [target] if swap == "beforebegin" else []
                if not keep:
                    self._forget(target)
                parent.children[place : place + 1] = [*children, *keep]
                self._adopt(parent, children)
            case "delete":
                assert parent is not None
                assert not children, "what is deleted is not given anew"
                parent.children.remove(target)
                self._forget(target)
            case _:
                raise AssertionError(f"unknown swap {swap}")

    def _adopt(self, parent: Node, children: list[Node]) -> None:
        for child in children:
            child.parent = parent
            self._index(child)

    def _forget(self, node: Node) -> None:
        self.ids.pop(node.element_id, None)
        for child in node.children:
            self._forget(child)

    @property
    def transcript(self) -> str:
        """Inner HTML of the transcript."""
        return self.ids["transcript"].inner()
