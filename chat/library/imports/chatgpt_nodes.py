"""Reads the nodes of ChatGPT's `conversations.json`.

OpenAI does not document the format. Exports from 2023 to 2026 have in each message `author.role`, `recipient`,
`create_time` and `content`, whose form depends on its `content_type`. Files are named by their id; a sentence takes the
place of those that the archive does not have, and of content of an unknown kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from django.utils.translation import gettext, gettext_noop

from chat.library.imports.chatgpt_canvas import RECIPIENT
from chat.library.imports.chatgpt_citations import Citations, Source, read_citations
from chat.library.imports.chatgpt_files import ConversationFiles, MissingFile, find_file_id
from chat.library.imports.json_paths import EPOCH, JSONValue
from chat.library.imports.records import ParsedAttachment
from chat.vocabulary.markdown_source import fence_code
from chat.vocabulary.parts import (
    OUTCOME_FAILED,
    OUTCOME_OK,
    CodeExecutionResult,
    ExecutableCode,
    JSONObject,
    Part,
    Role,
    Text,
    Thought,
)

PARTS_LIMIT = 100_000
"""Parts of one conversation. Parts that several versions of an answer share count for each version."""
FILE_KINDS = {
    "image_asset_pointer": gettext_noop("image"),
    "audio_asset_pointer": gettext_noop("sound"),
    "video_container_asset_pointer": gettext_noop("video"),
}
FILE = gettext_noop("file")
HIDDEN_TYPES = ("user_editable_context", "model_editable_context")
THOUGHT_TYPES = ("thoughts", "reasoning_recap")
KNOWN_TYPES = (
    *THOUGHT_TYPES,
    "text",
    "multimodal_text",
    "code",
    "execution_output",
    "system_error",
    "tether_quote",
    "tether_browsing_display",
    "tether_browsing_code",
    "sonic_webpage",
)
KIND_LIMIT_CHARS = 60
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
    files: tuple[ParsedAttachment, ...] = ()
    """Files of a question, or those that are shown after the part."""
    sources: tuple[Source, ...] = ()
    canvas_call: str = ""
    """The tool that this node calls to write in a canvas. Empty: it calls none. The call is the text of the part."""
    citations: Citations | None = None
    """Those of a call of the canvas, whose text is linked once it is read."""
    canvas_id: str = ""
    """The document that a tool's answer names; the answer itself is not shown."""
    canvas_title: str = ""


HIDDEN_NODE = Node()


@dataclass(slots=True)
class _Content:
    """What was read of the content of a message."""

    texts: list[str] = field(default_factory=list)
    files: dict[str, ParsedAttachment | MissingFile] = field(default_factory=dict)
    """By id."""

    @property
    def text(self) -> str:
        """The texts, each a paragraph."""
        return "\n\n".join(text for text in self.texts if text)

    @property
    def attachments(self) -> tuple[ParsedAttachment, ...]:
        """The files that were found."""
        return tuple(file for file in self.files.values() if isinstance(file, ParsedAttachment))


def read_node(message: JSONValue, default_time: datetime, files: ConversationFiles) -> Node:
    """Return the node of a message. Raises RefusedImport. `default_time`: its time if the message has none."""
    author_role = message.get("author").get("role").as_text_or("")
    content = message.get("content")
    content_type = content.get("content_type").as_text_or("") if content.value is not None else ""
    if author_role not in ("user", "assistant", "tool") or not content_type or content_type in HIDDEN_TYPES:
        return HIDDEN_NODE
    metadata = _object(message.get("metadata"))
    if metadata.get("is_visually_hidden_from_conversation").value is True:
        return HIDDEN_NODE
    if author_role == "tool" and (canvas := metadata.get("canvas").value) and isinstance(canvas, dict):
        names = (canvas.get(name) for name in ("textdoc_id", "title"))
        document_id, title = (name if isinstance(name, str) else "" for name in names)
        return Node(canvas_id=document_id[:100], canvas_title=title)
    created_at = message.get("create_time").as_unix_time_or(default_time)
    read = _ContentReader(files, metadata).read(content, content_type)
    citations = read_citations(metadata.as_object(), read.text)
    text = citations.link(read.text, is_typed=author_role == "user")
    if author_role == "user":
        is_shown = text or read.attachments
        return Node(Role.USER, text, created_at=created_at, files=read.attachments) if is_shown else HIDDEN_NODE
    recipient = message.get("recipient").as_text_or("all")
    is_call = author_role == "assistant" and recipient != "all"
    is_canvas_call = is_call and recipient.startswith(RECIPIENT)
    shown = read.text if is_canvas_call or recipient == "python" else text
    part = _build_part(author_role, recipient, content_type, shown, bool(read.files))
    if part is None:
        return HIDDEN_NODE
    slug = metadata.get("model_slug").value
    return Node(
        Role.MODEL,
        part=part,
        created_at=created_at,
        model=slug if isinstance(slug, str) else "",
        files=read.attachments,
        sources=tuple(citations.sources) if isinstance(part, Text) else (),
        canvas_call=recipient if is_canvas_call else "",
        citations=citations if is_canvas_call else None,
    )


def _build_part(author_role: str, recipient: str, content_type: str, text: str, has_files: bool) -> Part | None:
    if not text and not has_files and content_type != "execution_output":
        return None
    if author_role == "tool":
        if content_type == "execution_output":
            return CodeExecutionResult(output=text, outcome=OUTCOME_FAILED if TRACEBACK in text else OUTCOME_OK)
        # A picture that a tool drew, and content that is not known, belong to the answer.
        return Text(text) if has_files or content_type not in KNOWN_TYPES else Thought(text)
    if recipient.startswith(RECIPIENT):
        return Text(text)
    if recipient == "python":
        return ExecutableCode(text, language="PYTHON")
    if recipient != "all" and content_type in KNOWN_TYPES:
        # Calls of other tools become thoughts: the user can read them, and they are sent to no model.
        return Thought(f"`{recipient[:100].replace('`', '')}`\n\n{text}")
    if content_type in THOUGHT_TYPES:
        return Thought(text)
    if content_type == "code":
        return Text(fence_code(text))
    return Text(text)


@dataclass(slots=True)
class _ContentReader:
    """Reads the content of one message."""

    files: ConversationFiles
    metadata: JSONValue
    content: _Content = field(default_factory=_Content)
    names: dict[str, str] = field(default_factory=dict)
    """Id of a file that was attached to the message -> its name."""

    def read(self, content: JSONValue, content_type: str) -> _Content:
        """Return the text of a message of any type, and its files. Raises RefusedImport."""
        attached = self.metadata.get("attachments")
        self.names = {file_id: name for file_id, name, _ in _attached(attached)}
        if content_type in KNOWN_TYPES:
            # Reading a text may add sentences about files before it.
            for text in self._texts(content, content_type):
                self.content.texts.append(text)
        else:
            self.content.texts += [*_unknown_texts(content), unknown_sentence(content_type)]
        self._read_pictures_of_code()
        for file_id, name, value in _attached(attached):
            self._add_file(file_id, FILE, name, value)
        return self.content

    def _texts(self, content: JSONValue, content_type: str) -> Iterator[str]:
        if content_type == "thoughts":
            for thought in content.get("thoughts").items(PARTS_LIMIT):
                yield f"**{thought.get('summary').as_text_or('')}**\n\n{thought.get('content').as_text_or('')}"
            return
        if content.has("parts"):
            for piece in content.get("parts").items(PARTS_LIMIT):
                yield from self._read_piece(piece)
            return
        name = next((name for name in ("text", "result", "content") if content.has(name)), "")
        if name:
            yield content.get(name).as_text()

    def _read_piece(self, piece: JSONValue) -> Iterator[str]:
        """Yield the text of a piece. A file is noted, or a sentence takes its place."""
        value = piece.value
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            kind = value.get("content_type")
            nested = piece.get("audio_asset_pointer")
            if kind in FILE_KINDS:
                self._read_pointer(piece, FILE_KINDS[str(kind)])
            elif isinstance(nested.value, dict):
                self._read_pointer(nested, FILE_KINDS["audio_asset_pointer"])
            elif isinstance(text := value.get("text"), str):
                yield text
            else:
                yield unknown_sentence(kind if isinstance(kind, str) else "")

    def _read_pointer(self, piece: JSONValue, kind: str) -> None:
        pointer = piece.get("asset_pointer").value
        file_id = find_file_id(pointer) if isinstance(pointer, str) else ""
        self._add_file(file_id, kind, self.names.get(file_id, ""), piece)

    def _read_pictures_of_code(self) -> None:
        result = self.metadata.get("aggregate_result").value
        if not isinstance(result, dict):
            return
        messages = self.metadata.get("aggregate_result").get("messages")
        for one in messages.items(PARTS_LIMIT) if isinstance(messages.value, list) else ():
            url = one.value.get("image_url") if isinstance(one.value, dict) else None
            if isinstance(url, str) and (file_id := find_file_id(url)):
                self._add_file(file_id, FILE_KINDS["image_asset_pointer"], "", one, is_graph=True)

    def _add_file(self, file_id: str, kind: str, name: str, value: JSONValue, *, is_graph: bool = False) -> None:
        if file_id in self.content.files:
            return
        if file_id:
            found = self.files.find(file_id, kind, name, value, is_graph=is_graph)
        else:
            found = MissingFile(kind, name, gettext_noop("It is not in the archive."))
        if isinstance(found, MissingFile):
            self.content.texts.append(found.sentence)
        if file_id:
            self.content.files[file_id] = found


def _attached(value: JSONValue) -> Iterator[tuple[str, str, JSONValue]]:
    """Yield the id and the name of each file that a message names, and its place."""
    for one in value.items(PARTS_LIMIT) if isinstance(value.value, list) else ():
        if isinstance(one.value, dict):
            file_id, name = (one.value.get(key) for key in ("id", "name"))
            known = find_file_id(file_id) if isinstance(file_id, str) else ""
            yield known, name[:255] if isinstance(name, str) else "", one


def _unknown_texts(content: JSONValue) -> Iterator[str]:
    """Yield the texts of content of a kind that is not known."""
    value = content.as_object()
    parts = value.get("parts")
    texts = [*(parts if isinstance(parts, list) else []), value.get("text")]
    yield from (text for text in texts if isinstance(text, str))


def unknown_sentence(kind: str) -> str:
    """Return what a reader is told in place of content of an unknown kind."""
    name = "".join(char for char in kind[:KIND_LIMIT_CHARS] if char.isalnum() or char in "_-./:") or "?"
    return gettext("(A part of kind `%(kind)s` was not imported.)") % {"kind": name}


def _object(value: JSONValue) -> JSONValue:
    """Return the object, or an empty one in place of null."""
    empty: JSONObject = {}
    return JSONValue(empty, value.path) if value.value is None else value
