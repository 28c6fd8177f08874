"""Parses Claude's `conversations.json`: a list of conversations with `chat_messages`.

Anthropic does not document the format. The shape is that of exports from 2024 to 2026 and of public programs that read
them: simonw's converter of Claude's JSON to Markdown, Sinity/polylogue, AgileWorksZA/claude_export and others. A
message has `sender`, `created_at`, `content` (blocks) and `text`; newer ones have `parent_message_uuid`, so that edited
questions and repeated answers are versions. `claude_content` reads the messages. The archive also holds `users.json`
and `projects.json`, which name no conversation. No archive seen so far holds attached files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from django.utils.translation import gettext

from chat.library.imports.chatgpt import HEAD
from chat.library.imports.chatgpt_canvas import Document
from chat.library.imports.chatgpt_files import ArchiveFiles, ConversationFiles
from chat.library.imports.claude_content import MessageReader
from chat.library.imports.foreign_tree import ForeignNode, build_messages
from chat.library.imports.json_paths import EPOCH, JSONValue
from chat.library.imports.records import CONVERSATIONS_LIMIT, MESSAGES_LIMIT, ParsedConversation
from chat.vocabulary.parts import Role

TITLE_LIMIT_CHARS = 200
READER_VERSION = 2
"""Incremented when this module reads more from the same file, so that importing it again adds what was missing."""
DOCUMENTS = ("conversations", "users", "projects", "memories")
ROLES = {"human": Role.USER, "user": Role.USER, "assistant": Role.MODEL}


def is_claude(document: JSONValue) -> bool:
    """Return whether the document looks like a list of Claude's conversations, or like one of them."""
    value = document.value
    values = value[:HEAD] if isinstance(value, list) else [value]
    return any(isinstance(one, dict) and isinstance(one.get("chat_messages"), list) for one in values)


def parse_conversations(document: JSONValue, files: ArchiveFiles) -> Iterator[ParsedConversation]:
    """Yield the conversations that have messages. Raises RefusedImport for invalid values."""
    by_name = files.by_name()
    for name in DOCUMENTS:
        # A person may have attached a file of this name. The archive's own document must not be taken for it.
        by_name.entries.pop(name, None)
        by_name.entries.pop(f"{name}.json", None)
    is_single = isinstance(document.value, dict)
    for value in [document] if is_single else document.items(CONVERSATIONS_LIMIT):
        if value.value is None:
            continue
        conversation = _ConversationParser(value, ConversationFiles(by_name)).parse()
        if conversation.messages:
            yield conversation


@dataclass(slots=True)
class _ConversationParser:
    value: JSONValue
    files: ConversationFiles
    version_chars: int = 0
    documents: dict[str, dict[str, Document]] = field(default_factory=dict)
    """Id of a message -> the artifacts after it, by their id."""

    def parse(self) -> ParsedConversation:
        """Return the conversation. Raises RefusedImport for invalid values."""
        # The default time is fixed. With the time of the import, `matching` would not find the messages again.
        nodes = list(self._nodes(self.value.get("created_at").as_time_or(EPOCH)))
        first_time = min((node.created_at for node in nodes), default=EPOCH)
        created_at = self.value.get("created_at").as_time_or(first_time)
        current = self.value.get("current_leaf_message_uuid").value
        last = max(nodes, key=lambda node: node.created_at).key if nodes else ""
        messages = build_messages(nodes, current if isinstance(current, str) and current else last, self.value)
        source = self.value.get("uuid").value
        content = json.dumps([source, self.value.get("chat_messages").value], sort_keys=True)
        digest = hashlib.sha256(content.encode()).hexdigest()
        with_files = json.dumps([READER_VERSION, digest, self.files.digests()])
        title = self.value.text_at("name").strip()[:TITLE_LIMIT_CHARS]
        return ParsedConversation(
            title=title or gettext("Imported from Claude"),
            created_at=created_at,
            updated_at=self.value.get("updated_at").as_time_or(created_at),
            messages=messages,
            attachments=self.files.shown(place.key for message in messages for place in message.placements),
            source_id=f"claude conversation {source}" if isinstance(source, str) and source else f"claude {digest}",
            content_digest=hashlib.sha256(with_files.encode()).hexdigest(),
        )

    def _nodes(self, default_time: datetime) -> Iterator[ForeignNode]:
        messages = list(self.value.get("chat_messages").items(MESSAGES_LIMIT))
        ids = [message.text_at("uuid") or f"message {number}" for number, message in enumerate(messages)]
        # In older exports, messages do not name their parent. Each one follows the previous one.
        is_tree = any(message.text_at("parent_message_uuid") for message in messages)
        model = self.value.text_at("model")
        for number, (key, message) in enumerate(zip(ids, messages, strict=True)):
            parent = message.text_at("parent_message_uuid") if is_tree else ids[number - 1] if number else ""
            role = ROLES.get(message.text_at("sender") or message.text_at("role"))
            documents = self.documents.get(parent, {})
            reader = MessageReader(self.files, key, is_question=role is Role.USER, documents=documents)
            reader.version_chars = self.version_chars
            reader.read(message)
            self.version_chars = reader.version_chars
            self.documents[key] = reader.documents
            yield ForeignNode(
                key=key,
                parent=parent,
                role=role or Role.MODEL,
                created_at=message.get("created_at").as_time_or(default_time),
                text=reader.text,
                parts=tuple(reader.parts),
                files=tuple(reader.attachments),
                sources=tuple(reader.sources),
                model=message.text_at("model") or model,
            )
