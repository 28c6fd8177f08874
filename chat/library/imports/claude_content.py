"""Reads the messages of Claude's export: blocks of text, thoughts, tools and artifacts, and attached files.

Citations become links at the end of the text that they support. Every version of an artifact and of a file that Claude
wrote is text of the answer. Files that are not in the archive, and unknown blocks, are replaced by a sentence.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from django.utils.translation import gettext_noop

from chat.library.imports.chatgpt import ANSWERS_LIMIT_CHARS, TOO_MANY_VERSIONS
from chat.library.imports.chatgpt_canvas import Document
from chat.library.imports.chatgpt_citations import LINKS_LIMIT, LINKS_LIMIT_CHARS, Source, source_of
from chat.library.imports.chatgpt_files import ConversationFiles, MissingFile
from chat.library.imports.chatgpt_values import FILE, FILE_KINDS, unknown_sentence
from chat.library.imports.claude_artifacts import ARTIFACT_TOOLS, read_artifact, split_artifacts
from chat.library.imports.json_paths import JSONValue, objects_in
from chat.library.imports.records import PARTS_LIMIT, ParsedAttachment
from chat.vocabulary.markdown_source import fence_code
from chat.vocabulary.parts import JSON, Part, Text, Thought
from chat.vocabulary.sanitize import one_line

BLOCKS_LIMIT = 10_000
FILE_BLOCKS = {"image": FILE_KINDS["image_asset_pointer"], "local_resource": FILE}
HIDDEN_BLOCKS = ("token_budget",)
CODE_TOOLS = ("repl", "analysis")
"""Tools that run JavaScript in the browser."""
NAME_LIMIT_CHARS = 255
NOT_EXPORTED = gettext_noop("Claude's export does not have its content.")


@dataclass(slots=True)
class MessageReader:
    """Reads one message into its fields."""

    files: ConversationFiles
    key: str
    is_question: bool
    documents: dict[str, Document]
    """Id -> artifact, in the order of the last change: those before the message, and after `read` those after it."""
    parts: list[Part] = field(default_factory=list)
    attachments: list[ParsedAttachment] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    titles: dict[str, str] = field(default_factory=dict)
    """Address of a page that a search has found -> its title."""
    link_chars: int = 0
    version_chars: int = 0
    """Characters of all versions of artifacts that calls have written so far in the conversation."""
    code_calls: set[str] = field(default_factory=set)
    """Ids of calls whose code is shown, so that their results are shown, too."""

    @property
    def text(self) -> str:
        """The texts, each a paragraph."""
        return "\n\n".join(part.text for part in self.parts if isinstance(part, Text) and part.text)

    def read(self, message: JSONValue) -> None:
        """Read a message. Raises RefusedImport for invalid values."""
        blocks = [*message.many_at("content", BLOCKS_LIMIT)]
        self.titles = dict(_titles([block.value for block in blocks]))
        for block in blocks:
            self._read_block(block)
        if not self.parts:
            self._add_text(message.text_at("text"))
        for number, one in enumerate(message.many_at("attachments", PARTS_LIMIT)):
            self._read_attachment(one, f"{self.key} {number}")
        seen: set[str] = set()
        for name in ("files", "files_v2"):
            for one in message.many_at(name, PARTS_LIMIT):
                if one.value is not None:
                    self._read_file(one, seen)

    def _read_block(self, block: JSONValue) -> None:
        if isinstance(block.value, str):
            self._add_text(block.value)
            return
        kind = block.text_at("type")
        if kind == "text" and isinstance(block.get("text").value, str | None):
            self._add_text(self._with_links(block))
        elif kind == "thinking":
            self._add_thought(block.text_at("thinking"))
        elif kind == "tool_use":
            self._read_call(block)
        elif kind == "tool_result":
            self._read_result(block)
        elif kind not in HIDDEN_BLOCKS:
            self._add_text(block.text_at("text"))
            self._add_text(unknown_sentence(kind))

    def _add_text(self, text: str) -> None:
        """Add a text. The text of a question stays as it is; that of an answer may contain artifacts in tags."""
        for piece in [text] if self.is_question else split_artifacts(text):
            if isinstance(piece, Document):
                self.parts.append(Text(piece.markdown(piece.content or "")))
            elif isinstance(piece, Thought):
                self.parts.append(piece)
            elif piece.strip():
                self.parts.append(Text(piece))

    def _add_thought(self, text: str) -> None:
        if text.strip():
            self.parts.append(Thought(text))

    def _read_call(self, block: JSONValue) -> None:
        name, call = block.text_at("name"), block.get("input").value
        values = call if isinstance(call, dict) else {}
        if name in ARTIFACT_TOOLS and (read := read_artifact(name, values, self.documents)):
            self.documents, shown = read
            self.version_chars += len(shown)
            if self.version_chars > ANSWERS_LIMIT_CHARS:
                raise block.refusal(TOO_MANY_VERSIONS)
            self.parts.append(Text(shown))
        elif name in CODE_TOOLS and isinstance(code := values.get("code"), str):
            self.parts.append(Text(fence_code(code, "javascript")))
            self.code_calls.add(block.text_at("id"))
        else:
            # Calls of other tools become thoughts: the user can read them, and they are sent to no model.
            shown = fence_code(json.dumps(call, ensure_ascii=False, indent=1), "json")
            self._add_thought(f"`{one_line(name[:100]).replace('`', '')}`\n\n{shown}")

    def _read_result(self, block: JSONValue) -> None:
        if block.get("name").value in ARTIFACT_TOOLS and block.get("is_error").value is not True:
            return
        texts = "\n\n".join(text for text in self._result_texts(block) if text)
        if block.text_at("tool_use_id") in self.code_calls and texts:
            self.parts.append(Text(fence_code(texts, "text")))
        else:
            self._add_thought(texts)

    def _result_texts(self, block: JSONValue) -> Iterator[str]:
        for one in block.many_at("content", BLOCKS_LIMIT):
            if not isinstance(one.value, dict):
                yield one.value if isinstance(one.value, str) else ""
                continue
            kind, text = one.text_at("type"), one.value.get("text")
            if kind in FILE_BLOCKS:
                yield self._find(one, FILE_BLOCKS[kind])
            elif kind == "knowledge" and (source := source_of(one.value)):
                yield source.link
            elif isinstance(text, str):
                yield text
            else:
                yield unknown_sentence(kind)

    def _with_links(self, block: JSONValue) -> str:
        """Return the text of a block with a link after each passage that cites a page."""
        text = block.text_at("text")
        ends: dict[int, list[Source]] = defaultdict(list)
        for citation in objects_in(block.get("citations").value):
            if source := self._source(citation):
                end = citation.get("end_index")
                ends[end if isinstance(end, int) and 0 <= end <= len(text) else len(text)].append(source)
        pieces: list[str] = []
        start = 0
        for end in sorted(ends):
            links = ", ".join(dict.fromkeys(source.link for source in ends[end][:LINKS_LIMIT]))
            self.link_chars += len(links)
            if self.link_chars > LINKS_LIMIT_CHARS:
                break
            self.sources += ends[end]
            pieces += [text[start:end].rstrip(" "), f" ({links})"]
            start = end
        return "".join([*pieces, text[start:]])

    def _source(self, citation: dict[str, JSON]) -> Source | None:
        details = citation.get("details")
        place = details if isinstance(details, dict) and details.get("url") else citation
        url = place.get("url")
        title = place.get("title") or citation.get("title") or (self.titles.get(url) if isinstance(url, str) else "")
        return source_of({"url": url, "title": title})

    def _read_attachment(self, value: JSONValue, key: str) -> None:
        """Read a file whose text is in the export."""
        name, text = value.text_at("file_name")[:NAME_LIMIT_CHARS], value.text_at("extracted_content")
        if not text.strip():
            self._add_text(MissingFile(FILE, name, NOT_EXPORTED).sentence)
            return
        # The text of a PDF or of a workbook is not the content of the file, so it becomes a text file.
        is_text = name.lower().endswith((".txt", ".md", ".csv", ".json", ".html", ".py", ".xml", ".log"))
        found = self.files.add(key, FILE, name if is_text else f"{name or 'text'}.txt", text.encode(), value)
        self._add_text(self._keep(found))

    def _read_file(self, value: JSONValue, seen: set[str]) -> None:
        if not isinstance(value.value, dict):
            value = JSONValue({"file_name": value.value}, value.path)
        values = value.as_object()
        names = [values.get(name) for name in ("file_uuid", "uuid", "file_name")]
        known = next((name for name in names if isinstance(name, str) and name), "")
        if known not in seen:
            seen.add(known)
            self._add_text(self._find(value, FILE))

    def _find(self, value: JSONValue, kind: str) -> str:
        """Add the file of the archive that has the id or the name of the value; return a sentence if there is none."""
        values = value.as_object()
        label = (value.text_at("file_name") or value.text_at("name"))[:NAME_LIMIT_CHARS]
        for one in ("file_uuid", "uuid", "file_name"):
            file_id = values.get(one)
            if isinstance(file_id, str) and self.files.files.has(file_id):
                return self._keep(self.files.find(file_id, kind, label, value))
        return MissingFile(kind, label, NOT_EXPORTED).sentence

    def _keep(self, found: ParsedAttachment | MissingFile) -> str:
        """Add a file; return a sentence if it was refused."""
        if isinstance(found, MissingFile):
            return found.sentence
        self.attachments.append(found)
        return ""


def _titles(blocks: list[JSON]) -> Iterator[tuple[str, str]]:
    """Yield the address and the title of each page that the results of a message's tools name."""
    for block in objects_in(blocks):
        for one in objects_in(block.get("content")):
            url, title = one.get("url"), one.get("title")
            if isinstance(url, str) and isinstance(title, str):
                yield url, title
