"""Parses conversations with Gemini in Google's Takeout: its file of activities, as JSON or as HTML.

`takeout_entries` reads the entries: most are a question with its answer. Newer files name the conversation of an entry.
Otherwise, entries with pauses of at most `GAP` between them form one conversation. Public programs use the same gap.
Days would cut conversations at midnight of some time zone. Newer entries in a later file can change only the last of
these conversations. They are recognized by the time and the text of their first entry. Times are rounded down to
seconds, because HTML has no fractions. No entry names its model.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, field, replace
from datetime import timedelta
from pathlib import PurePosixPath

from django.utils.translation import gettext

from chat.library.imports.chatgpt_files import ArchiveFiles, ConversationFiles, MissingFile
from chat.library.imports.chatgpt_values import FILE, FILE_KINDS
from chat.library.imports.foreign_tree import TOO_MANY_MESSAGES, ForeignNode, build_messages
from chat.library.imports.json_paths import JSONValue
from chat.library.imports.records import (
    CONVERSATIONS_LIMIT,
    PARTS_LIMIT,
    TEXT_LIMIT_CHARS,
    ParsedAttachment,
    ParsedConversation,
)
from chat.library.imports.takeout_entries import (
    PROMPT_LABELS,
    Entry,
    find_label,
    is_activity_html,
    read_html,
    read_json,
)
from chat.vocabulary.markdown_source import escape_label, escape_text
from chat.vocabulary.parts import Part, Role, Text, Thought
from chat.vocabulary.sanitize import one_line, sanitize_text

GAP = timedelta(minutes=30)
TITLE_LIMIT_CHARS = 100
READER_VERSION = 2
"""Incremented when this module reads more from the same file, so that importing it again adds what was missing."""

_FOLDER = re.compile(r"gemini|bard", re.IGNORECASE)
_PRODUCTS = ("header", "products")
_OTHER_DOCUMENT = re.compile(r"conversations?(?:-\d+)?\.json")
"""Names of other products' documents. Their folders may have the name of a conversation about Gemini."""
_UPLOADED = re.compile(r"-[0-9a-f]{16}\.\w+\Z")
"""The end of the name of a file that was attached to a question."""


def find_documents(names: Iterable[str]) -> list[str]:
    """Return the paths of activities of Gemini. Folders and files have names in the account's language."""
    paths = {name: PurePosixPath(name) for name in names}
    return [
        name
        for name, path in paths.items()
        if path.suffix in (".json", ".html")
        and _FOLDER.search(path.parent.name)
        and not _OTHER_DOCUMENT.fullmatch(path.name)
        and not _UPLOADED.search(path.name)
    ]


def is_takeout(document: JSONValue) -> bool:
    """Return whether the document looks like a list of activities."""
    value = document.value
    first = value[0] if isinstance(value, list) and value else None
    return isinstance(first, dict) and {"title", "time"} <= first.keys() and not first.keys().isdisjoint(_PRODUCTS)


def is_unrelated(name: str, data: bytes) -> bool:
    """Return whether a file that `find_documents` found is no list of activities, such as one that was attached."""
    return bool(find_documents([name])) and not begins_as_activities(data) and not is_takeout_html(data)


def begins_as_activities(data: bytes) -> bool:
    """Return whether a file begins as a list of activities in JSON, which has to be parsed as a whole."""
    head = data[:20_000]
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[") and b'"title"' in head


def is_takeout_html(data: bytes) -> bool:
    """Return whether a file is a list of activities of Gemini in HTML."""
    return data[:1_000].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<") and is_activity_html(_decode(data))


def parse_activities(document: JSONValue, files: ArchiveFiles) -> Iterator[ParsedConversation]:
    """Yield the conversations of activities in JSON. Raises RefusedImport for invalid values."""
    yield from _parse(_within_limit(read_json(document), document), document, files)


def parse_html(data: bytes, files: ArchiveFiles) -> Iterator[ParsedConversation]:
    """Yield the conversations of activities in HTML. Raises RefusedImport if a limit is exceeded."""
    value = JSONValue(None)
    yield from _parse(_within_limit(read_html(_decode(data), value), value), value, files)


def _within_limit(entries: Iterable[Entry], value: JSONValue) -> list[Entry]:
    """Return the entries. Raises RefusedImport if they have too much text."""
    found: list[Entry] = []
    remaining_chars = TEXT_LIMIT_CHARS
    for entry in entries:
        remaining_chars -= len(entry.title) + sum(map(len, entry.answers))
        if remaining_chars < 0:
            raise value.refusal("there is too much text in this file.")
        found.append(entry)
    return found


def _decode(data: bytes) -> str:
    return sanitize_text(data.decode("utf-8-sig", "replace"))


def _parse(entries: Sequence[Entry], value: JSONValue, files: ArchiveFiles) -> Iterator[ParsedConversation]:
    label = find_label(entries)
    by_name = files.by_name(_FOLDER)
    groups = _group(entries)
    if len(groups) > CONVERSATIONS_LIMIT:
        raise value.refusal(f"there are {len(groups)} conversations; at most {CONVERSATIONS_LIMIT} are allowed.")
    for number, group in enumerate(groups, start=1):
        conversation = _ConversationParser(group, label, ConversationFiles(by_name), value).parse()
        if conversation.messages:
            yield replace(conversation, document_share=number / len(groups))


def _group(entries: Sequence[Entry]) -> list[list[Entry]]:
    """Return the entries of each conversation, the oldest first. In the file, the newest are first."""
    ordered = list(reversed(entries))
    ordered.sort(key=lambda entry: entry.time)
    groups: list[list[Entry]] = []
    by_id: dict[str, list[Entry]] = {}
    for entry in ordered:
        last = by_id.get(entry.conversation)
        if last is None or (not entry.conversation and entry.time - last[-1].time > GAP):
            by_id[entry.conversation] = last = []
            groups.append(last)
        last.append(replace(entry, time=entry.time.replace(microsecond=0)))
    return groups


@dataclass(slots=True)
class _ConversationParser:
    entries: list[Entry]
    label: str
    files: ConversationFiles
    value: JSONValue
    nodes: list[ForeignNode] = field(default_factory=list)
    questions: Counter[str] = field(default_factory=Counter)
    """Digest of a question's second and text -> number of questions with this digest."""

    def parse(self) -> ParsedConversation:
        """Return the conversation. It has no messages if no entry is a question or has a text.

        Raises RefusedImport if a limit is exceeded.
        """
        for entry in self.entries:
            label = next((one for one in (self.label, *PROMPT_LABELS) if one and entry.title.startswith(one)), "")
            if label or not self.label:
                self._add_question(entry, label)
            else:
                self._add_activity(entry)
        first, last = self.entries[0], self.entries[-1]
        if not first.conversation:
            self._say_how_it_was_made()
        messages = build_messages(self.nodes, "", self.value)
        read = json.dumps(
            [READER_VERSION, [astuple(entry) for entry in self.entries], self.files.digests()], default=str
        )
        question = next((node.text for node in self.nodes if node.role is Role.USER), first.title)
        return ParsedConversation(
            title=one_line(question[: 2 * TITLE_LIMIT_CHARS])[:TITLE_LIMIT_CHARS] or gettext("Imported from Gemini"),
            created_at=first.time,
            updated_at=last.time,
            messages=messages,
            attachments=self.files.shown(place.key for message in messages for place in message.placements),
            source_id=f"gemini conversation {first.conversation}" if first.conversation else f"gemini {_digest(first)}",
            content_digest=hashlib.sha256(read.encode()).hexdigest(),
        )

    def _add_question(self, entry: Entry, label: str) -> None:
        digest = _digest(entry)
        self.questions[digest] += 1
        attachments, sentences = self._find(FILE, entry.files)
        prompt = entry.title.removeprefix(label).strip("\xa0 \n")
        self.nodes.append(
            ForeignNode(
                key=f"{digest} {self.questions[digest]}",
                parent=self.nodes[-1].key if self.nodes else None,
                role=Role.USER,
                created_at=entry.time,
                text="\n\n".join(text for text in (prompt, *sentences) if text),
                files=attachments,
            )
        )
        if entry.answers or entry.pictures:
            self._add_answer(entry, [Text(text) for text in entry.answers])

    def _add_activity(self, entry: Entry) -> None:
        """Add content that Gemini made, such as a document of a canvas, to the previous answer."""
        heading, _, content = entry.title.partition("\n")
        texts = [text for text in (content, *map(escape_text, entry.notes), *entry.answers) if text.strip()]
        if texts:
            self._add_answer(entry, [Text(f"**{escape_label(heading)}**"), *map(Text, texts)])
        elif self.nodes and heading:
            # An activity without content, such as “Gave feedback”.
            sentence = gettext("(Google notes here: “%(what)s”)") % {"what": escape_label(heading[:200])}
            self._add_answer(entry, [Text(sentence)])

    def _add_answer(self, entry: Entry, parts: list[Part]) -> None:
        names = [(name, "") for name in entry.pictures]
        pictures, sentences = self._find(FILE_KINDS["image_asset_pointer"], names)
        parts += map(Text, sentences)
        last = self.nodes[-1] if self.nodes else None
        if last is not None and last.role is Role.MODEL:
            if len(last.parts) > PARTS_LIMIT:
                raise self.value.refusal(TOO_MANY_MESSAGES)
            self.nodes[-1] = replace(last, parts=(*last.parts, *parts), files=(*last.files, *pictures))
            return
        self.nodes.append(
            ForeignNode(
                key=f"{last.key if last else _digest(entry)} answer",
                parent=last.key if last else None,
                role=Role.MODEL,
                created_at=entry.time,
                parts=tuple(parts),
                files=pictures,
            )
        )

    def _find(self, kind: str, names: Iterable[tuple[str, str]]) -> tuple[tuple[ParsedAttachment, ...], list[str]]:
        """Return the files that are in the archive, and sentences that replace the others."""
        found: list[ParsedAttachment] = []
        sentences: list[str] = []
        for name, label in names:
            # The suffix in a name may differ from that of the file in the archive.
            file_id = name if self.files.files.has(name) else PurePosixPath(name).stem
            file = self.files.find(file_id, kind, label or name, self.value)
            if isinstance(file, MissingFile):
                sentences.append(file.sentence)
            elif file not in found:
                found.append(file)
        return tuple(found), sentences

    def _say_how_it_was_made(self) -> None:
        index = next((number for number, node in enumerate(self.nodes) if node.role is Role.MODEL), None)
        if index is not None and len(self.entries) > 1:
            note = gettext(
                "Google's file does not say which questions belong together. Those with at most %(minutes)s minutes"
                " between them form this conversation."
            ) % {"minutes": GAP.seconds // 60}
            self.nodes[index] = replace(self.nodes[index], parts=(Thought(note), *self.nodes[index].parts))


def _digest(entry: Entry) -> str:
    content = f"{entry.time.isoformat()} {one_line(entry.title[:1_000])}"
    return hashlib.sha256(content.encode()).hexdigest()
