"""From a provider's events to the parts of an answer; pure, so that it can be run again from the log.

`Assembler.add` turns one event into changes and applies them to its `Answer`. Applying the same changes, read
back from the log, to an empty `Answer` gives an equal one: that is how a snapshot and a recovery see the turn.

Rules kept here: text joins text of the same kind, but never across a thought signature; an empty text part
without a signature says nothing and is dropped; identical bytes are one attachment, shown where they came first.
"""

from __future__ import annotations

import hashlib
import mimetypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from attachments.validation import UnreadableImage, inspect_image, safe_mime_type, safe_name
from chat.parts import (
    JSON,
    FinishReported,
    MetadataReported,
    Part,
    PartKind,
    PartReceived,
    PromptBlocked,
    ResponseDescribed,
    StreamEvent,
    Usage,
    UsageReported,
)
from chat.rendering.data_uris import extract_images
from chat.rendering.markers import Marker, join_text
from chat.turns.sound import sound_event

DATA_URIS = "dataUris"
"""Name in `Part.fields` of the images that were cut out of a result's output, so that it can be restored."""


@dataclass(frozen=True, slots=True)
class FoundAttachment:
    """Bytes that came in an answer for the first time; `data` is None when read back from the log."""

    index: int
    part_index: int
    attachment_id: str
    name: str
    mime_type: str
    size_bytes: int
    sha256: str
    width: int | None
    height: int | None
    is_graph: bool
    data: bytes | None = None

    @property
    def marker(self) -> Marker | None:
        """Its marker in the message's text; files that are no images have none."""
        if self.width is None:
            return None
        return Marker("GRAPH" if self.is_graph else "IMAGE", self.index)


@dataclass(frozen=True, slots=True)
class PartStarted:
    """A new part, whole so far; `attachment` is the index of its bytes."""

    index: int
    part: Part
    attachment: int | None = None


@dataclass(frozen=True, slots=True)
class TextAppended:
    """More text of the last part."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class AttachmentFound:
    """An attachment to be stored in the same commit."""

    attachment: FoundAttachment


@dataclass(frozen=True, slots=True)
class Noted:
    """A provider's word about the whole answer."""

    event: UsageReported | FinishReported | PromptBlocked | ResponseDescribed | MetadataReported


@dataclass(frozen=True, slots=True)
class Waited:
    """The provider could not answer; it is asked again in a moment. Shown until something comes."""

    sentence: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """So many of the oldest messages were not sent, as the conversation is longer than the model reads."""

    messages: int


@dataclass(frozen=True, slots=True)
class Restarted:
    """The provider is asked again, after an answer without anything to see: of its parts, the first `kept` stay."""

    kept: int


Change: TypeAlias = PartStarted | TextAppended | AttachmentFound | Noted | Waited | LeftOut | Restarted


@dataclass(slots=True)
class Answer:
    """A model message as far as it has come."""

    attachments: list[FoundAttachment] = field(default_factory=list)
    part_attachments: dict[int, int] = field(default_factory=dict)
    """Part index -> attachment index, of inline_data."""
    last_usage: Usage | None = None
    finish_reason: str = ""
    finish_message: str = ""
    block_reason: str = ""
    response_id: str = ""
    model_version: str = ""
    metadata: dict[str, JSON] = field(default_factory=dict)
    waiting: str = ""
    """What the reader is told while the provider is not answering."""
    left_out: int = 0
    _spent: Usage | None = None
    """Of attempts before the last one: they are paid for too."""
    _parts: list[Part] = field(default_factory=list)
    _tail: list[str] = field(default_factory=list)
    """Text of the last part that is not joined to it yet: joining at each chunk would cost O(n) each time."""

    def apply(self, change: Change) -> None:
        """Take one change; in log order."""
        match change:
            case PartStarted(index, part, attachment):
                self._settle()
                if index != len(self._parts):
                    raise ValueError(f"part {index} cannot follow {len(self._parts)} parts")
                self._parts.append(part)
                self.waiting = ""
                if attachment is not None:
                    self.part_attachments[index] = attachment
            case TextAppended(_, text):
                self._tail.append(text)
            case AttachmentFound(attachment):
                # The bytes are the store's from here on: an answer with many graphs must not hold them all.
                self.attachments.append(replace(attachment, data=None))
            case Noted(event):
                self._note(event)
            case Waited(sentence):
                self.waiting = sentence
            case LeftOut(messages):
                self.left_out = messages
            case Restarted(kept):
                self._restart(kept)

    def _restart(self, kept: int) -> None:
        self._settle()
        del self._parts[kept:]
        self._spent, self.last_usage = self.usage, None
        self.finish_reason = self.finish_message = self.block_reason = ""
        self.metadata.clear()

    @property
    def usage(self) -> Usage | None:
        """Tokens of all attempts together; of a single one, what its last snapshot said."""
        if self._spent is None or self.last_usage is None:
            return self.last_usage or self._spent
        return self._spent + self.last_usage

    @property
    def is_blank(self) -> bool:
        """Whether nothing came that a person would take for an answer."""
        return not any(part.is_answer for part in self.parts)

    def _note(
        self, event: UsageReported | FinishReported | PromptBlocked | ResponseDescribed | MetadataReported
    ) -> None:
        match event:
            case UsageReported(usage):
                self.last_usage = usage
            case FinishReported(reason, message):
                self.finish_reason, self.finish_message = reason, message
            case PromptBlocked(reason, message):
                self.block_reason, self.finish_message = reason, message
            case ResponseDescribed(response_id, model_version):
                self.response_id, self.model_version = response_id, model_version
            case MetadataReported(name, value):
                self.metadata[name] = value

    def _settle(self) -> None:
        if self._tail:
            last = self._parts[-1]
            self._parts[-1] = replace(last, text=(last.text or "") + "".join(self._tail))
            self._tail.clear()

    @property
    def parts(self) -> list[Part]:
        """All parts so far, whole."""
        self._settle()
        return self._parts

    @property
    def text(self) -> str:
        """The text parts joined, with a marker on a line of its own where an image came."""
        return join_text(self._pieces())[0]

    def _pieces(self) -> Iterator[str | Marker]:
        shown: dict[int, list[FoundAttachment]] = {}
        for attachment in self.attachments:
            shown.setdefault(attachment.part_index, []).append(attachment)
        for index, part in enumerate(self.parts):
            if part.kind is PartKind.TEXT and part.text:
                yield part.text
            for attachment in shown.get(index, ()):
                if attachment.marker:
                    yield attachment.marker


class Assembler:
    """Turns events into changes of one answer."""

    def __init__(self, *, code_execution: bool, new_id: Callable[[], str]) -> None:
        """`code_execution`: whether the tool was offered; an image then counts as a graph even without code seen.

        `new_id` names each attachment.
        """
        self.answer = Answer()
        self._new_id = new_id
        self._code_seen = code_execution
        self._by_hash: dict[str, int] = {}
        self._closed = 0
        """How many of the parts belong to attempts before this one."""

    def note(self, change: Waited | LeftOut) -> list[Change]:
        """Apply a word of our own."""
        self.answer.apply(change)
        return [change]

    def restart(self) -> list[Change]:
        """Begin anew after a blank answer: thoughts that were shown stay."""
        parts = self.answer.parts
        kept = next((index for index, part in enumerate(parts) if part.kind is not PartKind.THOUGHT), len(parts))
        change = Restarted(kept)
        self.answer.apply(change)
        # What another attempt says joins nothing of this one.
        self._closed = kept
        return [change]

    def add(self, event: StreamEvent) -> list[Change]:
        """Apply one event; the changes belong together and must be stored in one commit."""
        changes: list[Change] = list(self._changes(sound_event(event)))
        for change in changes:
            self.answer.apply(change)
        return changes

    def _changes(self, event: StreamEvent) -> Iterator[Change]:
        if not isinstance(event, PartReceived):
            yield Noted(event)
            return
        part = event.part
        index = len(self.answer._parts)
        if part.kind in (PartKind.TEXT, PartKind.THOUGHT):
            yield from self._text_changes(index, part)
        elif part.kind is PartKind.INLINE_DATA and part.data:
            yield from self._inline_changes(index, part)
        elif part.kind is PartKind.CODE_EXECUTION_RESULT and part.text:
            yield from self._result_changes(index, part)
        else:
            self._code_seen = self._code_seen or part.kind is PartKind.EXECUTABLE_CODE
            yield PartStarted(index, part)

    def _text_changes(self, index: int, part: Part) -> Iterator[Change]:
        parts = self.answer._parts
        if part.is_open_text:
            if not part.text:
                return
            if len(parts) > self._closed and parts[-1].kind is part.kind and parts[-1].is_open_text:
                yield TextAppended(index - 1, part.text)
                return
        yield PartStarted(index, part)

    def _inline_changes(self, index: int, part: Part) -> Iterator[Change]:
        data = part.data or b""
        number, found = self._attachment(index, data, part.mime_type, _display_name(part))
        yield PartStarted(index, replace(part, data=None), number)
        if found:
            yield AttachmentFound(found)

    def _result_changes(self, index: int, part: Part) -> Iterator[Change]:
        extraction = extract_images(part.text or "")
        if not extraction.images:
            yield PartStarted(index, part)
            return
        places: list[JSON] = []
        found: list[Change] = []
        for image in extraction.images:
            number, attachment = self._attachment(index, image.data, image.mime_type, "", extra=len(found))
            place: dict[str, JSON] = {"offset": image.offset, "header": image.header, "line_chars": image.line_chars}
            places.append(place | {"attachment": number})
            if attachment:
                found.append(AttachmentFound(attachment))
        yield PartStarted(index, replace(part, text=extraction.text, fields={**part.fields, DATA_URIS: places}))
        yield from found

    def _attachment(
        self, part_index: int, data: bytes, mime_type: str, name: str, *, extra: int = 0
    ) -> tuple[int, FoundAttachment | None]:
        """Index of these bytes, and the attachment if they are new; `extra`: found in this event, not applied yet."""
        sha256 = hashlib.sha256(data).hexdigest()
        if sha256 in self._by_hash:
            return self._by_hash[sha256], None
        number = len(self.answer.attachments) + extra
        self._by_hash[sha256] = number
        width: int | None = None
        height: int | None = None
        try:
            image = inspect_image(data)
            mime_type, width, height = image.mime_type, image.width, image.height
        except UnreadableImage:
            # Kept whole, as a file to download: never shown, as a browser would only show a broken picture.
            if mime_type.startswith("image/"):
                mime_type = "application/octet-stream"
        is_graph = width is not None and self._code_seen
        kind = "graph" if is_graph else "image" if width is not None else "file"
        default_name = f"{kind}-{number + 1}{mimetypes.guess_extension(mime_type) or '.bin'}"
        return number, FoundAttachment(
            index=number,
            part_index=part_index,
            attachment_id=self._new_id(),
            name=safe_name(name or default_name, default_name),
            mime_type=safe_mime_type(mime_type),
            size_bytes=len(data),
            sha256=sha256,
            width=width,
            height=height,
            is_graph=is_graph,
            data=data,
        )


def _display_name(part: Part) -> str:
    name = part.fields.get("displayName", "")
    return name if isinstance(name, str) else ""
