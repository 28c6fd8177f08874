"""Reads the nodes of ChatGPT's `conversations.json`. Pure.

OpenAI does not document the format. Exports from 2023 to 2026 have in each message `author.role`, `recipient`,
`create_time` and `content`, whose form depends on its `content_type`. Images and files are not in the export, so a
sentence takes their place.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from chat.library.imports.json_paths import EPOCH, JSONValue
from chat.vocabulary.parts import (
    OUTCOME_FAILED,
    OUTCOME_OK,
    CodeExecutionResult,
    ExecutableCode,
    Part,
    Role,
    Text,
    Thought,
)

PARTS_LIMIT = 100_000
"""Parts of one conversation. Parts that several versions of an answer share count for each version."""
MISSING_MEDIA = {
    "image_asset_pointer": "image",
    "audio_asset_pointer": "sound",
    "video_container_asset_pointer": "video",
}
HIDDEN_TYPES = ("user_editable_context", "model_editable_context")
TRACEBACK = "Traceback (most recent call last)"


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the tree of messages. A user's node has a text, and a model's node has a part."""

    role: Role | None = None
    """`None`: the node is not shown, such as a system message."""
    text: str = ""
    part: Part | None = None
    created_at: datetime = EPOCH
    model: str = ""


HIDDEN_NODE = Node()


def read_node(message: JSONValue, default_time: datetime) -> Node:
    """Return the node of a message. Raises RefusedImport. `default_time`: its time if the message has none."""
    author_role = message.get("author").get("role").as_text_or("")
    content = message.get("content")
    content_type = content.get("content_type").as_text_or("") if content.value is not None else ""
    if author_role not in ("user", "assistant", "tool") or not content_type or content_type in HIDDEN_TYPES:
        return HIDDEN_NODE
    metadata = message.get("metadata")
    if metadata.value is not None and metadata.get("is_visually_hidden_from_conversation").value is True:
        return HIDDEN_NODE
    created_at = message.get("create_time").as_unix_time_or(default_time)
    text = _read_text(content, content_type)
    if author_role == "user":
        return Node(Role.USER, text=text, created_at=created_at) if text else HIDDEN_NODE
    part = _build_part(message, author_role, content_type, text)
    if part is None:
        return HIDDEN_NODE
    slug = metadata.get("model_slug").value if metadata.value is not None else None
    return Node(Role.MODEL, part=part, created_at=created_at, model=slug if isinstance(slug, str) else "")


def _build_part(message: JSONValue, author_role: str, content_type: str, text: str) -> Part | None:
    if not text and content_type != "execution_output":
        return None
    if author_role == "tool":
        if content_type == "execution_output":
            return CodeExecutionResult(output=text, outcome=OUTCOME_FAILED if TRACEBACK in text else OUTCOME_OK)
        return Thought(text)
    recipient = message.get("recipient").as_text_or("all")
    if recipient == "python":
        return ExecutableCode(text, language="PYTHON")
    if recipient != "all":
        # Calls of other tools become thoughts: the user can read them, and they are sent to no model.
        return Thought(f"`{recipient[:100].replace('`', '')}`\n\n{text}")
    if content_type in ("thoughts", "reasoning_recap"):
        return Thought(text)
    if content_type == "code":
        return Text(f"```\n{text}\n```")
    return Text(text)


def _read_text(content: JSONValue, content_type: str) -> str:
    """Return the text of a message of any type."""
    if content_type == "thoughts":
        return "\n\n".join(
            f"**{thought.get('summary').as_text_or('')}**\n\n{thought.get('content').as_text_or('')}"
            for thought in content.get("thoughts").items(PARTS_LIMIT)
        )
    if content.has("parts"):
        pieces = (_read_piece(piece) for piece in content.get("parts").items(PARTS_LIMIT))
        return "\n\n".join(piece for piece in pieces if piece)
    for name in ("text", "result", "content"):
        if content.has(name):
            return content.get(name).as_text()
    return ""


def _read_piece(piece: JSONValue) -> str:
    """Return a text, or a sentence in place of an image or another file."""
    if isinstance(piece.value, str):
        return piece.value
    if not isinstance(piece.value, dict):
        return ""
    text = piece.value.get("text")
    if isinstance(text, str):
        return text
    kind = MISSING_MEDIA.get(str(piece.value.get("content_type")), "file")
    return f"({kind.capitalize()}: not in the export)"
