"""ChatGPT's `conversations.json`: a list of conversations, each a tree of nodes.

A node holds one message; what it calls, what tools answer and what it says at last are nodes of their own, which are
one answer here. The format is documented by nobody; this is what exports of 2023 to 2026 hold: `mapping` (id -> node
with `message`, `parent`, `children`), `current_node`, and in a message `author.role`, `recipient`, `create_time`,
`content` with its `content_type`. Images and files are not in it, so a word stands where they were.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from chat.imports.answers import answer, question
from chat.imports.drafts import CONVERSATIONS_LIMIT, MESSAGES_LIMIT, ConversationDraft, MessageDraft
from chat.imports.places import EPOCH, Place
from chat.models import Conversation
from chat.parts import OUTCOME_FAILED, OUTCOME_OK, Part, PartKind, Role

PARTS_LIMIT = 100_000
"""Of one conversation; what versions of an answer have in common counts for each."""
BEGINS_WITH_ANSWER = "(The conversation begins with an answer.)"
NOT_HERE = {"image_asset_pointer": "image", "audio_asset_pointer": "sound", "video_container_asset_pointer": "video"}
HIDDEN_TYPES = ("user_editable_context", "model_editable_context")


def is_chatgpt(document: Place) -> bool:
    """Whether it looks like one, whole or a single conversation."""
    value = document.value
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and isinstance(first.get("mapping"), dict)


def drafts(document: Place) -> Iterator[ConversationDraft]:
    """Its conversations that hold anything. Raises RefusedImport."""
    single = isinstance(document.value, dict)
    for place in [document] if single else document.items(CONVERSATIONS_LIMIT):
        found = _Reader(place).draft()
        if found.messages:
            yield found


@dataclass(frozen=True, slots=True)
class _Node:
    """A node that says something."""

    role: str
    """user, model, or empty for what is not shown."""
    text: str = ""
    part: Part | None = None
    """Of an answer."""
    created_at: datetime = EPOCH
    model: str = ""


@dataclass(frozen=True, slots=True)
class _Run:
    """Parts of an answer that is not told yet, the newest first: paths that part share what came before."""

    part: Part
    before: _Run | None

    def parts(self) -> tuple[Part, ...]:
        """In their order."""
        found: list[Part] = []
        run: _Run | None = self
        while run is not None:
            found.append(run.part)
            run = run.before
        return tuple(reversed(found))


@dataclass(frozen=True, slots=True)
class _Way:
    """How far a path through the tree has been told."""

    last: MessageDraft | None = None
    run: _Run | None = None
    begun_at: datetime = EPOCH
    model: str = ""


@dataclass(slots=True)
class _Reader:
    """One conversation."""

    place: Place
    told: list[MessageDraft] = field(default_factory=list)
    told_parts: int = 0
    by_node: dict[str, str] = field(default_factory=dict)
    """Node -> the message that it ended up in."""
    nodes: dict[str, _Node] = field(default_factory=dict)
    children: dict[str | None, list[str]] = field(default_factory=lambda: defaultdict(list))
    roles_ahead: dict[str, str] = field(default_factory=dict)
    """Of nodes that say nothing, what `_role_ahead` has found."""

    def draft(self) -> ConversationDraft:
        """The conversation. Raises RefusedImport."""
        place = self.place
        created_at = place.at("create_time").unix_moment(datetime.now(UTC))
        self._read(place.at("mapping"), created_at)
        self._walk()
        conversation_id = str(place.at("conversation_id").value or place.at("id").value or "")
        content = json.dumps([conversation_id, place.at("mapping").value], sort_keys=True)
        return ConversationDraft(
            title=place.at("title").text_or("").strip()[:200] or "Imported from ChatGPT",
            created_at=created_at,
            updated_at=place.at("update_time").unix_moment(created_at),
            messages=tuple(self._shown()),
            source=f"chatgpt {hashlib.sha256(content.encode()).hexdigest()}",
            columns={"title_source": Conversation.TitleSource.USER.value},
        )

    def _read(self, mapping: Place, created_at: datetime) -> None:
        known = mapping.mapping()
        if len(known) > MESSAGES_LIMIT:
            raise mapping.refuse(f"there are {len(known)} nodes; at most {MESSAGES_LIMIT} are taken.")
        for key in known:
            place = mapping.at(key)
            parent = place.at("parent").value
            # Each node has one parent, so whatever a file says, what hangs from a root is a tree.
            self.children[parent if isinstance(parent, str) and parent in known else None].append(key)
            self.nodes[key] = _node(place.at("message"), created_at) if place.has("message") else _Node("")

    def _walk(self) -> None:
        """Depth first without recursion: a long conversation is as deep as it is long."""
        waiting = [(key, _Way()) for key in reversed(self.children[None])]
        while waiting:
            key, way = waiting.pop()
            node = self.nodes[key]
            if node.role == Role.USER:
                way = self._ask(key, node, self._flushed(key, way))
            elif node.part is not None:
                begun_at = way.begun_at if way.run else node.created_at
                way = replace(way, run=_Run(node.part, way.run), begun_at=begun_at, model=node.model or way.model)
            below = self.children.get(key, [])
            asked = [child for child in below if self._role_ahead(child) == Role.USER]
            if not below or asked:
                # Questions that follow one answer are versions of each other; that answer is told once.
                flushed = self._flushed(key, way)
                if not below and flushed.last is not None and flushed.last.role == Role.USER:
                    self._answer(key, flushed)
            waiting += [(child, flushed if child in asked else way) for child in reversed(below)]

    def _role_ahead(self, key: str) -> str:
        """The role of the first node from here on that says something."""
        passed: list[str] = []
        while key not in self.roles_ahead and not self.nodes[key].role and self.children.get(key):
            passed.append(key)
            key = self.children[key][0]
        role = self.roles_ahead.get(key, self.nodes[key].role)
        # Each node is passed once, however many ask from above it.
        self.roles_ahead |= dict.fromkeys(passed, role)
        return role

    def _ask(self, key: str, node: _Node, way: _Way) -> _Way:
        if way.last is not None and way.last.role == Role.USER:
            way = self._answer(f"{key} before", way)
        parent = way.last.key if way.last else None
        return _Way(self._tell(question(key, parent, node.text, node.created_at), key))

    def _flushed(self, key: str, way: _Way) -> _Way:
        return self._answer(key, way) if way.run else way

    def _answer(self, key: str, way: _Way) -> _Way:
        """Tell what has come of an answer."""
        last = way.last
        if last is None or last.role != Role.USER:
            text = BEGINS_WITH_ANSWER
            last = self._tell(question(f"{key} question", last.key if last else None, text, way.begun_at), key)
        created_at = way.begun_at if way.run else last.created_at
        parts = way.run.parts() if way.run else ()
        told = answer(f"{key} answer", last.key, parts, created_at, model=way.model)
        return _Way(self._tell(told, key))

    def _tell(self, message: MessageDraft, node: str) -> MessageDraft:
        self.told.append(message)
        self.told_parts += len(message.parts)
        self.by_node[node] = message.key
        if len(self.told) > MESSAGES_LIMIT or self.told_parts > PARTS_LIMIT:
            raise self.place.refuse("this conversation has too many versions.")
        return message

    def _shown(self) -> Iterator[MessageDraft]:
        """The messages, those on the path to the current node in view."""
        by_key = {message.key: message for message in self.told}
        children: dict[str | None, list[str]] = defaultdict(list)
        for message in self.told:
            children[message.parent].append(message.key)
        current: str | None = self.by_node.get(self._current()) or (self.told[-1].key if self.told else None)
        shown: set[str] = set()
        below = current
        while below is not None:
            shown.add(below)
            below = children[below][-1] if children[below] else None
        while current is not None:
            shown.add(current)
            current = by_key[current].parent
        for message in self.told:
            is_shown = message.key in shown
            yield replace(message, is_shown=is_shown, last_shown=int(is_shown))

    def _current(self) -> str:
        """The node in view, or the nearest below it that was told."""
        key = str(self.place.at("current_node").value or "")
        passed: set[str] = set()
        # Nodes that hang from no root may hang from each other.
        while key in self.nodes and key not in self.by_node and key not in passed and self.children.get(key):
            passed.add(key)
            key = self.children[key][-1]
        return key


def _node(place: Place, created_at: datetime) -> _Node:
    role = place.at("author").at("role").text_or("")
    content = place.at("content")
    content_type = content.at("content_type").text_or("") if content.value is not None else ""
    metadata = place.at("metadata")
    is_hidden = metadata.value is not None and metadata.at("is_visually_hidden_from_conversation").value is True
    if role not in ("user", "assistant", "tool") or is_hidden or content_type in HIDDEN_TYPES or not content_type:
        return _Node("")
    moment = place.at("create_time").unix_moment(created_at)
    text = _text(content, content_type)
    if role == "user":
        return _Node(Role.USER.value, text=text, created_at=moment) if text else _Node("")
    part = _part(place, role, content_type, text)
    slug = metadata.at("model_slug").value if metadata.value is not None else None
    model = slug if isinstance(slug, str) else ""
    return _Node(Role.MODEL.value, part=part, created_at=moment, model=model) if part else _Node("")


def _part(place: Place, role: str, content_type: str, text: str) -> Part | None:
    if not text and content_type != "execution_output":
        return None
    if role == "tool":
        if content_type == "execution_output":
            is_failed = "Traceback (most recent call last)" in text
            return Part(PartKind.CODE_EXECUTION_RESULT, text=text, outcome=OUTCOME_FAILED if is_failed else OUTCOME_OK)
        return Part(PartKind.THOUGHT, text=text)
    recipient = place.at("recipient").text_or("all")
    if recipient == "python":
        return Part(PartKind.EXECUTABLE_CODE, text=text, language="PYTHON")
    if recipient != "all":
        # What it asks of other tools is no answer; it can be looked at, and is told to no model.
        return Part(PartKind.THOUGHT, text=f"`{recipient[:100].replace('`', '')}`\n\n{text}")
    if content_type in ("thoughts", "reasoning_recap"):
        return Part(PartKind.THOUGHT, text=text)
    if content_type == "code":
        return Part(PartKind.TEXT, text=f"```\n{text}\n```")
    return Part(PartKind.TEXT, text=text)


def _text(content: Place, content_type: str) -> str:
    """The words of a message, of whatever type."""
    if content_type == "thoughts":
        thoughts = content.at("thoughts").items(PARTS_LIMIT)
        return "\n\n".join(
            f"**{said.at('summary').text_or('')}**\n\n{said.at('content').text_or('')}" for said in thoughts
        )
    if content.has("parts"):
        return "\n\n".join(piece for said in content.at("parts").items(PARTS_LIMIT) if (piece := _piece(said)))
    for name in ("text", "result", "content"):
        if content.has(name):
            return content.at(name).text()
    return ""


def _piece(place: Place) -> str:
    if isinstance(place.value, str):
        return place.value
    if not isinstance(place.value, dict):
        return ""
    if isinstance(place.value.get("text"), str):
        return str(place.value["text"])
    kind = NOT_HERE.get(str(place.value.get("content_type")), "file")
    return f"({kind.capitalize()}: not in the export)"
