"""Parses ChatGPT's `conversations.json`: a list of conversations, each a tree of nodes.

A conversation has `mapping` (id -> node with `message`, `parent` and `children`) and `current_node`. The code, the
results of tools and the final text of one answer are several nodes in a row, which become the parts of one message.
`chatgpt_nodes` reads the nodes.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from chat.library.imports.chatgpt_nodes import HIDDEN_NODE, PARTS_LIMIT, Node, read_node
from chat.library.imports.foreign_messages import build_answer, build_question
from chat.library.imports.json_paths import EPOCH, JSONValue
from chat.library.imports.records import CONVERSATIONS_LIMIT, MESSAGES_LIMIT, ParsedConversation, ParsedMessage
from chat.vocabulary.parts import Part, Role

TITLE_LIMIT_CHARS = 200
ANSWERS_LIMIT_CHARS = 64 * 1024 * 1024
"""Limit of all answers of a conversation together. Text that several versions of an answer share counts for each of
them.
"""
TOO_MANY_VERSIONS = "this conversation has too many versions."
BEGINS_WITH_ANSWER = "(The conversation begins with an answer.)"


def is_chatgpt(document: JSONValue) -> bool:
    """Return whether the document looks like a list of ChatGPT's conversations, or like one of them."""
    value = document.value
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and isinstance(first.get("mapping"), dict)


def parse_conversations(document: JSONValue) -> Iterator[ParsedConversation]:
    """Yield the conversations that have messages. Raises RefusedImport."""
    is_single = isinstance(document.value, dict)
    for value in [document] if is_single else document.items(CONVERSATIONS_LIMIT):
        conversation = _TreeParser(value).parse()
        if conversation.messages:
            yield conversation


@dataclass(frozen=True, slots=True)
class _PartChain:
    """The parts of an unfinished answer, the newest first. Paths that branch within an answer share its beginning."""

    part: Part
    previous: _PartChain | None
    chars: int
    """Characters of the text of all parts."""

    @classmethod
    def after(cls, previous: _PartChain | None, part: Part) -> _PartChain:
        """Return a chain with one more part."""
        return cls(part, previous, len(part.long_text) + (previous.chars if previous else 0))

    def in_order(self) -> tuple[Part, ...]:
        """Return the parts, the oldest first."""
        parts: list[Part] = []
        chain: _PartChain | None = self
        while chain is not None:
            parts.append(chain.part)
            chain = chain.previous
        return tuple(reversed(parts))


@dataclass(frozen=True, slots=True)
class _Path:
    """The state of a path from the root of the tree to a node."""

    last_message: ParsedMessage | None = None
    parts: _PartChain | None = None
    """The parts after `last_message`, which will become an answer."""
    answer_started_at: datetime = EPOCH
    model: str = ""


@dataclass(slots=True)
class _TreeParser:
    """Parses one conversation."""

    value: JSONValue
    messages: list[ParsedMessage] = field(default_factory=list)
    part_count: int = 0
    answer_chars: int = 0
    """Characters of all answers."""
    message_keys: dict[str, str] = field(default_factory=dict)
    """Id of a node -> key of the message that the node is part of."""
    nodes: dict[str, Node] = field(default_factory=dict)
    children: dict[str | None, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Id of a node -> ids of the nodes below it. `None` -> ids of the roots."""
    next_roles: dict[str, Role | None] = field(default_factory=dict)
    """Results of `_next_role` for nodes that are not shown."""

    def parse(self) -> ParsedConversation:
        """Return the conversation. Raises RefusedImport."""
        created_at = self.value.get("create_time").as_unix_time_or(datetime.now(UTC))
        mapping = self.value.get("mapping")
        self._read_nodes(mapping, created_at)
        self._walk()
        conversation_id = str(self.value.get("conversation_id").value or self.value.get("id").value or "")
        content = json.dumps([conversation_id, mapping.value], sort_keys=True)
        return ParsedConversation(
            title=self.value.get("title").as_text_or("").strip()[:TITLE_LIMIT_CHARS] or "Imported from ChatGPT",
            created_at=created_at,
            updated_at=self.value.get("update_time").as_unix_time_or(created_at),
            messages=tuple(self._messages_with_shown_path()),
            source_id=f"chatgpt {hashlib.sha256(content.encode()).hexdigest()}",
        )

    def _read_nodes(self, mapping: JSONValue, default_time: datetime) -> None:
        ids = mapping.as_object()
        if len(ids) > MESSAGES_LIMIT:
            raise mapping.refusal(f"there are {len(ids)} nodes; at most {MESSAGES_LIMIT} are allowed.")
        for node_id in ids:
            value = mapping.get(node_id)
            parent = value.get("parent").value
            # Only `parent` is read, not `children`: with one parent for each node, all nodes below a root are a tree.
            self.children[parent if isinstance(parent, str) and parent in ids else None].append(node_id)
            has_message = value.has("message")
            self.nodes[node_id] = read_node(value.get("message"), default_time) if has_message else HIDDEN_NODE

    def _walk(self) -> None:
        """Build the messages, depth first. A loop replaces recursion, because a long conversation is a deep tree."""
        stack = [(node_id, _Path()) for node_id in reversed(self.children[None])]
        while stack:
            node_id, path = stack.pop()
            path = self._add_node(node_id, path)
            children = self.children.get(node_id, [])
            questions = [child for child in children if self._next_role(child) is Role.USER]
            finished = path
            if not children or questions:
                # The questions are versions of each other. They follow one answer, which is added once.
                finished = self._finish_answer(node_id, path)
                if not children and finished.last_message is not None and finished.last_message.role is Role.USER:
                    self._add_answer(node_id, finished)
            stack += [(child, finished if child in questions else path) for child in reversed(children)]

    def _add_node(self, node_id: str, path: _Path) -> _Path:
        """Return the path with one more node. A question adds messages: the answer before it, and itself."""
        node = self.nodes[node_id]
        if node.role is Role.USER:
            return self._add_question(node_id, node, self._finish_answer(node_id, path))
        if node.part is None:
            return path
        return replace(
            path,
            parts=_PartChain.after(path.parts, node.part),
            answer_started_at=path.answer_started_at if path.parts else node.created_at,
            model=node.model or path.model,
        )

    def _next_role(self, node_id: str) -> Role | None:
        """Return the role of the first shown node from this one downwards."""
        passed: list[str] = []
        while node_id not in self.next_roles and self.nodes[node_id].role is None and self.children.get(node_id):
            passed.append(node_id)
            node_id = self.children[node_id][0]
        role = self.next_roles.get(node_id, self.nodes[node_id].role)
        # The result is kept, so that each node is passed only once.
        self.next_roles |= dict.fromkeys(passed, role)
        return role

    def _add_question(self, node_id: str, node: Node, path: _Path) -> _Path:
        if path.last_message is not None and path.last_message.role is Role.USER:
            path = self._add_answer(f"{node_id} before", path)
        parent = path.last_message.key if path.last_message else None
        return _Path(self._add_message(build_question(node_id, parent, node.text, node.created_at), node_id))

    def _finish_answer(self, node_id: str, path: _Path) -> _Path:
        """Return the path with its parts as an answer, if there are any."""
        return self._add_answer(node_id, path) if path.parts else path

    def _add_answer(self, node_id: str, path: _Path) -> _Path:
        """Return the path with its parts as an answer, and with a question before it if there is none."""
        question = path.last_message
        if question is None or question.role is not Role.USER:
            parent = question.key if question else None
            new_question = build_question(f"{node_id} question", parent, BEGINS_WITH_ANSWER, path.answer_started_at)
            question = self._add_message(new_question, node_id)
        created_at = path.answer_started_at if path.parts else question.created_at
        self.answer_chars += path.parts.chars if path.parts else 0
        if self.answer_chars > ANSWERS_LIMIT_CHARS:
            raise self.value.refusal(TOO_MANY_VERSIONS)
        parts = path.parts.in_order() if path.parts else ()
        answer = build_answer(f"{node_id} answer", question.key, parts, created_at, model=path.model)
        return _Path(self._add_message(answer, node_id))

    def _add_message(self, message: ParsedMessage, node_id: str) -> ParsedMessage:
        self.messages.append(message)
        self.part_count += len(message.parts)
        self.message_keys[node_id] = message.key
        if len(self.messages) > MESSAGES_LIMIT or self.part_count > PARTS_LIMIT:
            raise self.value.refusal(TOO_MANY_VERSIONS)
        return message

    def _messages_with_shown_path(self) -> Iterator[ParsedMessage]:
        """Yield the messages. Those on the path through the current node are shown."""
        shown = self._shown_keys()
        for message in self.messages:
            is_shown = message.key in shown
            yield replace(message, is_shown=is_shown, last_shown=int(is_shown))

    def _shown_keys(self) -> set[str]:
        """Return the keys of the messages above the current node, and below it those of the last version."""
        if not self.messages:
            return set()
        parents = {message.key: message.parent for message in self.messages}
        last_versions = {message.parent: message.key for message in self.messages}
        current = self.message_keys.get(self._current_node(), self.messages[-1].key)
        shown: set[str] = set()
        below: str | None = current
        while below is not None:
            shown.add(below)
            below = last_versions.get(below)
        above: str | None = current
        while above is not None:
            shown.add(above)
            above = parents[above]
        return shown

    def _current_node(self) -> str:
        """Return the id of the current node, or of the nearest node below it that became a message."""
        node_id = str(self.value.get("current_node").value or "")
        passed: set[str] = set()
        # Nodes that are below no root may form a cycle.
        while (
            node_id in self.nodes
            and node_id not in self.message_keys
            and node_id not in passed
            and self.children.get(node_id)
        ):
            passed.add(node_id)
            node_id = self.children[node_id][-1]
        return node_id
