"""What the code of an answer has shown and then cleared or changed. It stays in the details of the answer. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from chat.messages.changes import AnswerAttachment, OutputCut
from chat.vocabulary.parts import CodeExecutionResult, Part

GRAPHS_LIMIT_COUNT = 256
"""Graphs that are kept of those that the code of an answer has cleared: the newest."""
GRAPHS_LIMIT_BYTES = 16 * 1024 * 1024
"""All these graphs together."""


@dataclass(slots=True)
class ClearedOutputs:
    """The graphs of an answer, and the texts of the code that runs."""

    graphs: list[AnswerAttachment] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    left_out: int = 0
    """How many texts and graphs of this code are not kept."""

    def add(self, graphs: Sequence[AnswerAttachment], cut: OutputCut) -> int:
        """Add what a change has removed; return the bytes of the graphs that are not kept because of it."""
        self.graphs += graphs
        self.texts += cut.cleared
        self.left_out += cut.left_out
        size_bytes = sum(one.size_bytes for one in self.graphs)
        dropped_bytes = 0
        while len(self.graphs) > GRAPHS_LIMIT_COUNT or size_bytes - dropped_bytes > GRAPHS_LIMIT_BYTES:
            dropped_bytes += self.graphs.pop(0).size_bytes
            self.left_out += 1
        return dropped_bytes

    def take_back(self, attachment: AnswerAttachment) -> bool:
        """Remove a graph that is shown again; return whether it was among them."""
        count = len(self.graphs)
        self.graphs = [one for one in self.graphs if one.attachment_id != attachment.attachment_id]
        return len(self.graphs) < count

    def with_texts(self, result: CodeExecutionResult) -> CodeExecutionResult:
        """Return the last result of the code that runs, with what the code has cleared."""
        return replace(result, cleared=tuple(self.texts), cleared_left_out=self.left_out)

    def end(self, part: Part) -> None:
        """Begin anew after the last result of code, which holds the texts."""
        if isinstance(part, CodeExecutionResult) and not part.is_running and (part.cleared or part.cleared_left_out):
            self.texts, self.left_out = [], 0
