"""Outputs that the code of an answer has shown and then cleared or changed. The details of the answer keep
them. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from chat.messages.changes import AnswerAttachment, OutputCut
from chat.vocabulary.parts import CodeExecutionResult, Part

GRAPHS_LIMIT_COUNT = 256
"""Maximum number of cleared graphs that are kept for an answer: the newest ones."""
GRAPHS_LIMIT_BYTES = 16 * 1024 * 1024
"""Maximum size of all these graphs together."""


@dataclass(slots=True)
class ClearedOutputs:
    """The cleared graphs of an answer, and the cleared texts of the code that runs now."""

    graphs: list[AnswerAttachment] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    left_out: int = 0
    """Number of cleared texts and graphs of the running code that are not kept."""

    def add(self, graphs: Sequence[AnswerAttachment], cut: OutputCut) -> int:
        """Add what a change has removed. Return the size of the graphs that are dropped because of it."""
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
        """Remove a graph that is shown again. Return whether it was among the cleared ones."""
        count = len(self.graphs)
        self.graphs = [one for one in self.graphs if one.attachment_id != attachment.attachment_id]
        return len(self.graphs) < count

    def with_texts(self, result: CodeExecutionResult) -> CodeExecutionResult:
        """Return the last result of the running code with the texts that the code has cleared."""
        return replace(result, cleared=tuple(self.texts), cleared_left_out=self.left_out)

    def end(self, part: Part) -> None:
        """Forget the cleared texts if `part` is the last result of the code and holds them."""
        if isinstance(part, CodeExecutionResult) and not part.is_running and (part.cleared or part.cleared_left_out):
            self.texts, self.left_out = [], 0
