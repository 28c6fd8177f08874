"""Builds the messages of a conversation from the questions and answers of another tool, which may be a tree. Pure.

In Plotline, questions and answers alternate. Where the file lacks one of them, it is inserted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from chat.library.imports.chatgpt_citations import SOURCES_LIMIT, Source
from chat.library.imports.foreign_messages import build_answer, build_question
from chat.library.imports.json_paths import JSONValue
from chat.library.imports.records import MESSAGES_LIMIT, PARTS_LIMIT, ParsedAttachment, ParsedMessage
from chat.vocabulary.parts import Part, Role, Text

BEGINS_WITH_ANSWER = "(The conversation begins with an answer.)"
NO_QUESTION = "(There is no question in the file.)"
TOO_MANY_MESSAGES = "this conversation has too many messages."


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignNode:
    """A question or an answer in the file."""

    key: str
    parent: str | None
    role: Role
    created_at: datetime
    text: str = ""
    """The text of a question."""
    parts: tuple[Part, ...] = ()
    """The parts of an answer."""
    files: tuple[ParsedAttachment, ...] = ()
    """Files of a question, or of an answer, which shows them after its last part."""
    sources: tuple[Source, ...] = ()
    model: str = ""


def build_messages(nodes: Sequence[ForeignNode], current: str, value: JSONValue) -> tuple[ParsedMessage, ...]:
    """Return the messages, with the path through `current` shown. Nodes that are below no root are left out.

    `current`: key of a node; for an unknown key, the last message is taken. `value`: the place that an error names.
    Raises RefusedImport if there are too many messages.
    """
    builder = _Builder(value)
    builder.build({node.key: node for node in nodes})
    return tuple(show_path(builder.messages, current))


def show_path(messages: Sequence[ParsedMessage], current: str) -> Iterator[ParsedMessage]:
    """Yield the messages. The current one, all above it, and the last versions below it are marked as shown."""
    parents = {message.key: message.parent for message in messages}
    last_versions = {message.parent: message.key for message in messages}
    if messages and current not in parents:
        current = messages[-1].key
    shown: set[str] = set()
    below: str | None = current
    while below is not None:
        shown.add(below)
        below = last_versions.get(below)
    above: str | None = parents.get(current)
    while above is not None:
        shown.add(above)
        above = parents[above]
    for message in messages:
        is_shown = message.key in shown
        yield replace(message, is_shown=is_shown, last_shown=int(is_shown))


@dataclass(slots=True)
class _Builder:
    value: JSONValue
    messages: list[ParsedMessage] = field(default_factory=list)
    inserted: dict[str, ParsedMessage] = field(default_factory=dict)
    """Key of a question -> the empty answer that all questions after it follow."""

    def build(self, nodes: dict[str, ForeignNode]) -> None:
        """Build the messages, depth first. A loop replaces recursion, because a long conversation is a deep tree."""
        children: dict[str | None, list[ForeignNode]] = defaultdict(list)
        for node in nodes.values():
            children[node.parent if node.parent in nodes else None].append(node)
        stack: list[tuple[ForeignNode, ParsedMessage | None]] = [(node, None) for node in reversed(children[None])]
        while stack:
            node, parent = stack.pop()
            message = self._add_question(node, parent) if node.role is Role.USER else self._add_answer(node, parent)
            below = children.get(node.key, [])
            if not below and message.role is Role.USER:
                self._add_empty_answer(message)
            stack += [(child, message) for child in reversed(below)]

    def _add_question(self, node: ForeignNode, parent: ParsedMessage | None) -> ParsedMessage:
        if parent is not None and parent.role is Role.USER:
            parent = self._add_empty_answer(parent)
        parent_key = parent.key if parent else None
        return self._add(build_question(node.key, parent_key, node.text, node.created_at, node.files))

    def _add_answer(self, node: ForeignNode, parent: ParsedMessage | None) -> ParsedMessage:
        if parent is None or parent.role is not Role.USER:
            text = NO_QUESTION if parent else BEGINS_WITH_ANSWER
            parent_key = parent.key if parent else None
            parent = self._add(build_question(f"{node.key} question", parent_key, text, node.created_at))
        parts = node.parts or ((Text(""),) if node.files else ())
        answer = build_answer(
            node.key,
            parent.key,
            parts,
            node.created_at,
            model=node.model,
            images=[(len(parts) - 1, file) for file in node.files],
            sources=[source.as_json() for source in list(dict.fromkeys(node.sources))[:SOURCES_LIMIT]],
            is_notebook=False,
        )
        return self._add(answer)

    def _add_empty_answer(self, question: ParsedMessage) -> ParsedMessage:
        if question.key not in self.inserted:
            answer = build_answer(f"{question.key} answer", question.key, (), question.created_at, is_notebook=False)
            self.inserted[question.key] = self._add(answer)
        return self.inserted[question.key]

    def _add(self, message: ParsedMessage) -> ParsedMessage:
        self.messages.append(message)
        if len(self.messages) > MESSAGES_LIMIT or len(message.parts) + len(message.placements) > PARTS_LIMIT:
            raise self.value.refusal(TOO_MANY_MESSAGES)
        return message
