"""What an answer is made of as it comes: changes, and the answer that they make; pure.

Applying the same changes, read back from the log, to an empty `Answer` gives an equal one: that is how a snapshot and a
recovery see the turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from chat.parts import (
    JSON,
    FinishReported,
    MetadataReported,
    Part,
    PartKind,
    PromptBlocked,
    ResponseDescribed,
    Usage,
    UsageReported,
)
from chat.rendering.markers import Marker, join_text

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
        # What comes with each chunk first.
        match change:
            case TextAppended(_, text):
                self._tail.append(text)
            case Noted(event):
                self._note(event)
            case PartStarted(index, part, attachment):
                self._settle()
                if index != len(self._parts):
                    raise ValueError(f"part {index} cannot follow {len(self._parts)} parts")
                self._parts.append(part)
                self.waiting = ""
                if attachment is not None:
                    self.part_attachments[index] = attachment
            case AttachmentFound(attachment):
                # The bytes are the store's from here on: an answer with many graphs must not hold them all.
                self.attachments.append(replace(attachment, data=None))
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
