"""The state of a path through the tree of a ChatGPT conversation, from the root to a node. Pure values."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from chat.library.imports.chatgpt_canvas import Document
from chat.library.imports.chatgpt_nodes import Node
from chat.library.imports.json_paths import EPOCH
from chat.library.imports.records import ParsedMessage


@dataclass(frozen=True, slots=True)
class NodeChain:
    """The nodes of an unfinished answer, the newest first. Paths that branch within an answer share its beginning."""

    node: Node
    previous: NodeChain | None
    chars: int
    """Number of characters in the texts of all parts."""

    @classmethod
    def after(cls, previous: NodeChain | None, node: Node) -> NodeChain:
        """Return a chain with one more node."""
        chars = len(node.part.long_text) if node.part else 0
        return cls(node, previous, chars + (previous.chars if previous else 0))

    def in_order(self) -> list[Node]:
        """Return the nodes, the oldest first."""
        nodes: list[Node] = []
        chain: NodeChain | None = self
        while chain is not None:
            nodes.append(chain.node)
            chain = chain.previous
        return nodes[::-1]


@dataclass(frozen=True, slots=True)
class Path:
    """The state of a path from the root of the tree to a node."""

    last_message: ParsedMessage | None = None
    nodes: NodeChain | None = None
    """The nodes after `last_message`, which will become an answer."""
    answer_started_at: datetime = EPOCH
    model: str = ""
    documents: dict[str, Document] = field(default_factory=dict)
    """Id of a canvas document -> its newest version, in the order of their last change."""
    is_after_canvas: bool = False
    """True if the previous node is a call of the canvas. If the answer to it only reports success, it is not shown."""

    def after(self, message: ParsedMessage) -> Path:
        """Return the path with one more message."""
        return Path(message, documents=self.documents)
