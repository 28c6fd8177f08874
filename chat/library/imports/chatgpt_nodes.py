"""Reads the nodes of ChatGPT's `conversations.json`.

OpenAI does not document the format. Exports from 2023 to 2026 have in each message `author.role`, `recipient`,
`create_time` and `content`, whose form depends on its `content_type`. Files are named by their id. Files that are not
in the archive, and content of an unknown kind, are replaced by a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import PurePosixPath
from urllib.parse import unquote

from chat.library.imports.chatgpt_canvas import RECIPIENT
from chat.library.imports.chatgpt_citations import Citations, Source, read_citations, source_of
from chat.library.imports.chatgpt_files import ABSENT, ConversationFiles, MissingFile, find_file_id
from chat.library.imports.chatgpt_values import (
    FILE,
    FILE_KINDS,
    PARTS_LIMIT,
    attached,
    pointers,
    strings,
    unknown_sentence,
    unknown_texts,
    with_type,
    without_writing_marks,
)
from chat.library.imports.json_paths import EPOCH, JSONValue
from chat.library.imports.records import ParsedAttachment
from chat.vocabulary.markdown_source import fence_code
from chat.vocabulary.parts import (
    JSON,
    OUTCOME_FAILED,
    OUTCOME_OK,
    CodeExecutionResult,
    ExecutableCode,
    Part,
    Role,
    Text,
    Thought,
)
from chat.vocabulary.sanitize import one_line

HIDDEN_ROLES = ("", "system", "developer")
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
SESSION_FILES_LIMIT = 20
"""Maximum number of files of a session for which one message gets a sentence."""
TRACEBACK = "Traceback (most recent call last)"
_SESSION_FILE = re.compile(r"\]\(<?sandbox:([^\s()<>]{1,300})")
"""A link to a file that code wrote in the session of the answer. Archives do not contain these files."""


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
    """Files of a question, or files that are shown after the part."""
    sources: tuple[Source, ...] = ()
    canvas_call: str = ""
    """The canvas tool that this node calls; empty: it calls none. The text of the part is the call."""
    citations: Citations | None = None
    """Citations of a call of the canvas. Links are added to its text after the call is read."""
    canvas_id: str = ""
    """Id of the document that a tool's answer names; the answer itself is not shown."""
    canvas_title: str = ""


HIDDEN_NODE = Node()


def read_node(message: JSONValue, default_time: datetime, files: ConversationFiles) -> Node:
    """Return the node of a message. `default_time`: its time if it has none. Raises RefusedImport if it is invalid."""
    author_role = message.object_at("author").text_at("role")
    content = message.get("content")
    if author_role in HIDDEN_ROLES or content.value is None or content.text_at("content_type") in HIDDEN_TYPES:
        return HIDDEN_NODE
    content, content_type = with_type(content)
    metadata = message.object_at("metadata")
    if metadata.get("is_visually_hidden_from_conversation").value is True:
        return HIDDEN_NODE
    canvas = metadata.get("canvas").value
    if author_role == "tool" and canvas and isinstance(canvas, dict):
        return _canvas_result(canvas)
    created_at = message.get("create_time").as_unix_time_or(default_time)
    reader = _ContentReader(files, metadata)
    reader.read(content, content_type)
    citations = read_citations(metadata.as_object(), reader.text)
    text = citations.link(reader.text, is_typed=author_role == "user")
    if author_role == "user":
        is_shown = text or reader.attachments
        return Node(Role.USER, text, created_at=created_at, files=reader.attachments) if is_shown else HIDDEN_NODE
    recipient = message.text_at("recipient") or "all"
    is_canvas_call = author_role == "assistant" and recipient.startswith(RECIPIENT)
    shown = reader.text if is_canvas_call or recipient == "python" else text
    part = _build_part(author_role, recipient, content_type, shown, bool(reader.found))
    if part is None:
        return HIDDEN_NODE
    status = metadata.object_at("aggregate_result").text_at("status")
    if isinstance(part, CodeExecutionResult) and status.startswith("failed"):
        part = replace(part, outcome=OUTCOME_FAILED)
    return Node(
        Role.MODEL,
        part=part,
        created_at=created_at,
        model=metadata.text_at("model_slug"),
        files=reader.attachments,
        sources=tuple(citations.sources) if isinstance(part, Text) else (),
        canvas_call=recipient if is_canvas_call else "",
        citations=citations if is_canvas_call else None,
    )


def _canvas_result(canvas: Mapping[str, JSON]) -> Node:
    """Return the hidden node of a tool's answer, which names the document that the tool has written."""
    names = (canvas.get(name) for name in ("textdoc_id", "title"))
    document_id, title = (name if isinstance(name, str) else "" for name in names)
    return Node(canvas_id=document_id[:100], canvas_title=title)


def _build_part(author_role: str, recipient: str, content_type: str, text: str, has_files: bool) -> Part | None:
    if not text and not has_files and content_type != "execution_output":
        return None
    if author_role != "assistant":
        if content_type == "execution_output":
            return CodeExecutionResult(output=text, outcome=OUTCOME_FAILED if TRACEBACK in text else OUTCOME_OK)
        # A picture that a tool drew, and content of an unknown kind, are part of the answer.
        return Text(text) if has_files or content_type not in KNOWN_TYPES else Thought(text)
    if recipient.startswith(RECIPIENT):
        return Text(text)
    if recipient == "python":
        return ExecutableCode(text, language="PYTHON")
    if recipient != "all" and content_type in KNOWN_TYPES:
        # Calls of other tools become thoughts: the user can read them, and they are sent to no model.
        return Thought(f"`{one_line(recipient[:100]).replace('`', '')}`\n\n{text}")
    if content_type in THOUGHT_TYPES:
        return Thought(text)
    if content_type == "code":
        return Text(fence_code(text))
    return Text(without_writing_marks(text))


@dataclass(slots=True)
class _ContentReader:
    """Reads the content of one message into `texts` and `found`."""

    files: ConversationFiles
    metadata: JSONValue
    texts: list[str] = field(default_factory=list)
    found: dict[str, ParsedAttachment | MissingFile] = field(default_factory=dict)
    """Id of a file that the message names -> the file."""
    names: dict[str, str] = field(default_factory=dict)
    """Id of a file that was attached to the message -> its name."""

    @property
    def text(self) -> str:
        """The texts, each a paragraph."""
        return "\n\n".join(text for text in self.texts if text)

    @property
    def attachments(self) -> tuple[ParsedAttachment, ...]:
        """The files that were found."""
        return tuple(file for file in self.found.values() if isinstance(file, ParsedAttachment))

    def read(self, content: JSONValue, content_type: str) -> None:
        """Read the content of a message of any type. Raises RefusedImport for invalid values."""
        named = list(attached(self.metadata.get("attachments")))
        self.names = {file_id: name for file_id, name, _ in named}
        if content_type in KNOWN_TYPES:
            # Reading a text may append sentences about its files, which stay before it.
            for text in self._texts(content, content_type):
                self.texts.append(text)
        else:
            self.texts += [*unknown_texts(content), unknown_sentence(content_type)]
        self._read_pictures_of_code()
        for file_id, name, value in named:
            self._add_file(file_id, FILE, name, value)
        self._name_session_files()

    def _texts(self, content: JSONValue, content_type: str) -> Iterator[str]:
        if content_type == "tether_quote" and (source := source_of(content.as_object())):
            yield source.link
        names = ("thoughts",) if content_type == "thoughts" else ("parts", "text", "result", "content")
        value = next((content.get(name) for name in names if content.has(name)), JSONValue(None))
        for piece in value.items(PARTS_LIMIT) if isinstance(value.value, list) else [value]:
            if content_type == "thoughts" and isinstance(piece.value, dict):
                summary = piece.text_at("summary")
                yield f"**{summary}**" if summary else ""
                yield piece.text_at("content")
            else:
                yield from self._read_piece(piece)

    def _read_piece(self, piece: JSONValue) -> Iterator[str]:
        """Yield the text of a piece. A file in it is added to the files, or replaced by a sentence."""
        value = piece.value
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            found = list(pointers(piece))
            for pointer in found:
                file_id = find_file_id(pointer.text_at("asset_pointer"))
                kind = FILE_KINDS.get(pointer.text_at("content_type"), FILE)
                self._add_file(file_id, kind, self.names.get(file_id, ""), pointer)
            if isinstance(text := value.get("text"), str):
                yield text
            elif not found:
                yield unknown_sentence(piece.text_at("content_type"))
        elif value is not None:
            yield unknown_sentence("")

    def _read_pictures_of_code(self) -> None:
        result = self.metadata.object_at("aggregate_result")
        error = result.object_at("in_kernel_exception")
        if error.value and not self.text:
            words = [error.text_at("name"), *strings(error.get("args").value)]
            self.texts.append(": ".join(word for word in words if word))
        messages = result.get("messages")
        for one in messages.items(PARTS_LIMIT) if isinstance(messages.value, list) else ():
            if file_id := find_file_id(one.text_at("image_url")):
                self._add_file(file_id, FILE_KINDS["image_asset_pointer"], "", one, is_graph=True)

    def _name_session_files(self) -> None:
        """Add a sentence for each session file that a text links to, unless a file of the message has its name."""
        known = {file.name for file in self.attachments}
        paths = (match[1] for text in self.texts for match in _SESSION_FILE.finditer(text))
        names = dict.fromkeys(PurePosixPath(unquote(path)).name for path in paths)
        missing = [MissingFile(FILE, name, ABSENT) for name in names if name not in known]
        self.texts += [file.sentence for file in missing[:SESSION_FILES_LIMIT]]

    def _add_file(self, file_id: str, kind: str, name: str, value: JSONValue, *, is_graph: bool = False) -> None:
        if file_id in self.found:
            return
        if file_id:
            found = self.found[file_id] = self.files.find(file_id, kind, name, value, is_graph=is_graph)
        else:
            found = MissingFile(kind, name, ABSENT)
        if isinstance(found, MissingFile):
            self.texts.append(found.sentence)
