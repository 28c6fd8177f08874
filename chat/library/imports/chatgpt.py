"""Parses ChatGPT's `conversations.json`: a list of conversations, each a tree of nodes.

A conversation has `mapping` (id -> node with `message`, `parent` and `children`) and `current_node`. The code, the
results of tools and the final text of one answer are several nodes in a row, which become the parts of one message.
`chatgpt_nodes` reads the nodes.

A conversation is recognized by its id, so that a later export can be compared with the imported messages.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

from chat.library.imports.chatgpt_canvas import read_call
from chat.library.imports.chatgpt_citations import SOURCES_LIMIT, clean_title
from chat.library.imports.chatgpt_files import ArchiveFiles, ConversationFiles
from chat.library.imports.chatgpt_nodes import HIDDEN_NODE, Node, read_node
from chat.library.imports.chatgpt_paths import NodeChain, Path
from chat.library.imports.chatgpt_values import PARTS_LIMIT
from chat.library.imports.foreign_messages import build_answer, build_question
from chat.library.imports.foreign_tree import BEGINS_WITH_ANSWER, show_path
from chat.library.imports.json_paths import EPOCH, JSONValue
from chat.library.imports.records import CONVERSATIONS_LIMIT, MESSAGES_LIMIT, ParsedConversation, ParsedMessage
from chat.vocabulary.markdown_source import fence_code
from chat.vocabulary.parts import Part, Role, Text, Thought

HEAD = 100
"""Number of values at the start of a list that are checked to recognize it, because a conversation may be empty."""
ANSWERS_LIMIT_CHARS = 64 * 1024 * 1024
"""Maximum number of characters of all answers of a conversation. Text that versions share counts for each of them."""
TOO_MANY_VERSIONS = "this conversation has too many versions."
DOCUMENTS_LIMIT = 100
"""Maximum number of canvas documents on one path. Later documents are shown, but changes are not applied to them."""
READER_VERSION = 2
"""Incremented when this module reads more from the same file, so that importing it again adds parts and files."""


def is_chatgpt(document: JSONValue) -> bool:
    """Return whether the document looks like a list of ChatGPT's conversations, or like one of them.

    Messages of DeepSeek's export, which has the same tree, have `fragments` in place of their content.
    """
    value = document.value
    values = value[:HEAD] if isinstance(value, list) else [value]
    mappings = [found for one in values if isinstance(one, dict) and isinstance(found := one.get("mapping"), dict)]
    nodes = (node for mapping in mappings for node in mapping.values() if isinstance(node, dict))
    messages = (message for node in nodes if isinstance(message := node.get("message"), dict))
    return bool(mappings) and not any("fragments" in message for message in messages)


def parse_conversations(document: JSONValue, files: ArchiveFiles) -> Iterator[ParsedConversation]:
    """Yield the conversations that have messages, with their files. Raises RefusedImport for invalid values."""
    is_single = isinstance(document.value, dict)
    for value in [document] if is_single else document.items(CONVERSATIONS_LIMIT):
        if value.value is None:
            continue
        conversation = _TreeParser(value, ConversationFiles(files)).parse()
        if conversation.messages:
            yield conversation


@dataclass(slots=True)
class _TreeParser:
    """Parses one conversation."""

    value: JSONValue
    files: ConversationFiles
    messages: list[ParsedMessage] = field(default_factory=list)
    part_count: int = 0
    answer_chars: int = 0
    """Characters of all answers and their sources."""
    canvas_chars: int = 0
    """Characters of all versions of documents, and of the documents in which the target of a change was searched."""
    message_keys: dict[str, str] = field(default_factory=dict)
    """Id of the last node of a message -> key of the message."""
    empty_answers: dict[str, ParsedMessage] = field(default_factory=dict)
    """Key of a question without an answer -> the empty answer that was added for it."""
    nodes: dict[str, Node] = field(default_factory=dict)
    children: dict[str | None, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Id of a node -> ids of the nodes below it. `None` -> ids of the roots."""
    next_roles: dict[str, Role | None] = field(default_factory=dict)
    """Results of `_next_role` for nodes that are not shown."""

    def parse(self) -> ParsedConversation:
        """Return the conversation. Raises RefusedImport for invalid values."""
        mapping = self.value.object_at("mapping")
        created_at = self.value.get("create_time").as_unix_time_or(_first_time(mapping))
        self._read_nodes(mapping, created_at)
        self._walk()
        conversation_id = str(self.value.get("conversation_id").value or self.value.get("id").value or "")
        content = json.dumps([conversation_id, mapping.value], sort_keys=True)
        digest = hashlib.sha256(content.encode()).hexdigest()
        with_files = json.dumps([READER_VERSION, digest, self.files.digests()])
        messages = tuple(show_path(self.messages, self.message_keys.get(self._current_node(), "")))
        return ParsedConversation(
            title=clean_title(self.value.text_at("title")) or "Imported from ChatGPT",
            created_at=created_at,
            updated_at=self.value.get("update_time").as_unix_time_or(created_at),
            messages=messages,
            attachments=self.files.shown(place.key for message in messages for place in message.placements),
            source_id=f"chatgpt conversation {conversation_id}" if conversation_id else f"chatgpt {digest}",
            earlier_source_id=f"chatgpt {digest}",
            content_digest=hashlib.sha256(with_files.encode()).hexdigest(),
        )

    def _read_nodes(self, mapping: JSONValue, default_time: datetime) -> None:
        ids = mapping.as_object()
        if len(ids) > MESSAGES_LIMIT:
            raise mapping.refusal(f"there are {len(ids)} nodes; at most {MESSAGES_LIMIT} are allowed.")
        for node_id in ids:
            value = mapping.object_at(node_id)
            parent = value.get("parent").value
            # Only `parent` is read, not `children`: with one parent for each node, all nodes below a root are a tree.
            self.children[parent if isinstance(parent, str) and parent in ids else None].append(node_id)
            self.nodes[node_id] = read_node(value.object_at("message"), default_time, self.files)

    def _walk(self) -> None:
        """Build the messages, depth first. A loop replaces recursion, because a long conversation is a deep tree."""
        stack = [(node_id, Path()) for node_id in reversed(self.children[None])]
        while stack:
            node_id, path = stack.pop()
            path = self._add_node(node_id, path)
            children = self.children.get(node_id, [])
            questions = {child for child in children if self._next_role(child) is Role.USER}
            finished = path
            if not children or questions:
                # The questions are versions of each other. They follow one answer, which is added once.
                finished = self._finish_answer(node_id, path)
                if not children and finished.last_message is not None and finished.last_message.role is Role.USER:
                    self._add_answer(node_id, finished)
            stack += [(child, finished if child in questions else path) for child in reversed(children)]

    def _add_node(self, node_id: str, path: Path) -> Path:
        """Return the path with one more node. Before a question, an unfinished answer is added as a message."""
        node = self.nodes[node_id]
        if node.role is Role.USER:
            return self._add_question(node_id, node, self._finish_answer(node_id, path))
        if node.part is None or (path.is_after_canvas and _says_success(node.part)):
            return replace(path, is_after_canvas=False)
        if node.canvas_call:
            path, node = self._read_canvas_call(node_id, node, path)
        return replace(
            path,
            nodes=NodeChain.after(path.nodes, node),
            answer_started_at=path.answer_started_at if path.nodes else node.created_at,
            model=node.model or path.model,
            is_after_canvas=bool(node.canvas_call),
        )

    def _read_canvas_call(self, node_id: str, node: Node, path: Path) -> tuple[Path, Node]:
        """Return the path with the changed document, and the node with a text that shows what the call did."""
        answers = (self.nodes[child] for child in self.children.get(node_id, []))
        answer = next((one for one in answers if one.canvas_id), HIDDEN_NODE)
        # A call does not name the document that it changes. Its answer does, but not in every export.
        last = next(reversed(path.documents), "")
        is_last = not answer.canvas_id or (last in self.nodes and answer.canvas_id not in path.documents)
        document_id = last if is_last else answer.canvas_id
        document = path.documents.get(document_id)
        text = node.part.long_text if node.part else ""
        call = read_call(node.canvas_call, text, document, answer.canvas_title)
        if call is None:
            return path, replace(node, canvas_call="", part=Text(fence_code(text, "json")))
        changed, shown = call
        shown = node.citations.link(shown) if node.citations else shown
        self.canvas_chars += len(shown) + len(document.content or "" if document else "")
        if self.canvas_chars > ANSWERS_LIMIT_CHARS:
            raise self.value.refusal(TOO_MANY_VERSIONS)
        documents = dict(path.documents)
        if changed is not None and changed is not document and len(documents) < DOCUMENTS_LIMIT:
            key = (answer.canvas_id or node_id) if changed.version == 1 else document_id
            documents.pop(key, None)
            documents[key] = changed
        return replace(path, documents=documents), replace(node, part=Text(shown))

    def _next_role(self, node_id: str) -> Role | None:
        """Return the role of the first shown node at or below this one."""
        passed: list[str] = []
        while node_id not in self.next_roles and self.nodes[node_id].role is None and self.children.get(node_id):
            passed.append(node_id)
            node_id = self.children[node_id][0]
        role = self.next_roles.get(node_id, self.nodes[node_id].role)
        # The result is kept, so that each node is passed only once.
        self.next_roles |= dict.fromkeys(passed, role)
        return role

    def _add_question(self, node_id: str, node: Node, path: Path) -> Path:
        if path.last_message is not None and path.last_message.role is Role.USER:
            path = self._add_empty_answer(node_id, path, path.last_message)
        parent = path.last_message.key if path.last_message else None
        question = build_question(node_id, parent, node.text, node.created_at, node.files)
        return path.after(self._add_message(question, node_id))

    def _add_empty_answer(self, node_id: str, path: Path, question: ParsedMessage) -> Path:
        """Return the path with an empty answer, which all versions of the next question follow."""
        if (answer := self.empty_answers.get(question.key)) is not None:
            return path.after(answer)
        path = self._add_answer(f"{node_id} before", path)
        if path.last_message is not None:
            self.empty_answers[question.key] = path.last_message
        return path

    def _finish_answer(self, node_id: str, path: Path) -> Path:
        """Return the path with its unfinished answer as a message, if there is one."""
        return self._add_answer(node_id, path) if path.nodes else path

    def _add_answer(self, node_id: str, path: Path) -> Path:
        """Return the path with its unfinished answer as a message. If no question precedes it, one is added."""
        question = path.last_message
        if question is None or question.role is not Role.USER:
            parent = question.key if question else None
            new_question = build_question(f"{node_id} question", parent, BEGINS_WITH_ANSWER, path.answer_started_at)
            question = self._add_message(new_question, node_id)
        created_at = path.answer_started_at if path.nodes else question.created_at
        nodes = path.nodes.in_order() if path.nodes else []
        sources = list(dict.fromkeys(source for node in nodes for source in node.sources))[:SOURCES_LIMIT]
        self.answer_chars += path.nodes.chars if path.nodes else 0
        self.answer_chars += sum(len(source.url) + len(source.title) for source in sources)
        if self.answer_chars > ANSWERS_LIMIT_CHARS:
            raise self.value.refusal(TOO_MANY_VERSIONS)
        answer = build_answer(
            f"{node_id} answer",
            question.key,
            [node.part for node in nodes if node.part],
            created_at,
            model=path.model,
            images=[(index, file) for index, node in enumerate(nodes) for file in node.files],
            is_notebook=False,
            sources=[source.as_json() for source in sources],
        )
        return path.after(self._add_message(answer, node_id))

    def _add_message(self, message: ParsedMessage, node_id: str) -> ParsedMessage:
        self.messages.append(message)
        # Each version that shares a node shows its part and its files, so they are counted each time.
        self.part_count += len(message.parts) + len(message.placements)
        self.message_keys[node_id] = message.key
        if len(self.messages) > MESSAGES_LIMIT or self.part_count > PARTS_LIMIT:
            raise self.value.refusal(TOO_MANY_VERSIONS)
        return message

    def _current_node(self) -> str:
        """Return the id of the current node. If no message ends there, follow the last children to one that does."""
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


def _first_time(mapping: JSONValue) -> datetime:
    """Return the time of the earliest message, which is the same in every export, unlike the time of the import."""
    times = (mapping.object_at(key).object_at("message").get("create_time") for key in mapping.as_object())
    return min((time for one in times if (time := one.as_unix_time_or(EPOCH)) > EPOCH), default=EPOCH)


def _says_success(part: Part) -> bool:
    """Return whether a tool only reports that it has written the document. The document itself is shown already."""
    return isinstance(part, Thought) and part.long_text.lstrip().lower().startswith("success")
