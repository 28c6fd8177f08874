"""From a provider's events to the parts of an answer; pure, so that it can be run again from the log.

`Assembler.add` turns one event into changes and applies them to its `Answer`.

Rules kept here: text joins text of the same kind, but never across a thought signature; an empty text part
without a signature says nothing and is dropped; identical bytes are one attachment, shown where they came first.
"""

from __future__ import annotations

import hashlib
import mimetypes
from collections.abc import Callable, Iterator
from dataclasses import replace

from attachments.validation import UnreadableImage, inspect_image, safe_mime_type, safe_name
from chat.parts import (
    JSON,
    Part,
    PartKind,
    PartReceived,
    StreamEvent,
)
from chat.rendering.data_uris import extract_images
from chat.turns.answer import (
    DATA_URIS,
    Answer,
    AttachmentFound,
    Change,
    FoundAttachment,
    LeftOut,
    Noted,
    PartStarted,
    Restarted,
    TextAppended,
    Waited,
)
from chat.turns.sound import sound_event


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
        event = sound_event(event)
        changes = self._text_changes(event) or list(self._changes(event))
        for change in changes:
            self.answer.apply(change)
        return changes

    def _text_changes(self, event: StreamEvent) -> list[Change]:
        """What appends to the text that is open: nearly every event of a stream; empty for any other."""
        if isinstance(event, PartReceived) and event.part.is_open_text and event.part.text:
            parts = self.answer._parts
            if len(parts) > self._closed and parts[-1].kind is event.part.kind and parts[-1].is_open_text:
                return [TextAppended(len(parts) - 1, event.part.text)]
        return []

    def _changes(self, event: StreamEvent) -> Iterator[Change]:
        if not isinstance(event, PartReceived):
            yield Noted(event)
            return
        part = event.part
        index = len(self.answer._parts)
        if part.kind in (PartKind.TEXT, PartKind.THOUGHT):
            if part.text or not part.is_open_text:
                yield PartStarted(index, part)
        elif part.kind is PartKind.INLINE_DATA and part.data:
            yield from self._inline_changes(index, part)
        elif part.kind is PartKind.CODE_EXECUTION_RESULT and part.text:
            yield from self._result_changes(index, part)
        else:
            self._code_seen = self._code_seen or part.kind is PartKind.EXECUTABLE_CODE
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
