"""Converts the events of one response to the normal form of `chunks`. Pure.

The item in `response.output_item.done` is the valid one; deltas only show it earlier. Other copies differ: the item in
`added` is an early state, and the list in the last event may be empty. Items are known by their `output_index`, because
some servers give an item another id in each event. If a server sends no index, ids are used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from chat.providers.openai_compatible.accumulator import FINISHES
from chat.providers.openai_compatible.chunks import (
    METADATA_LIMIT_CHARS,
    WORD_LIMIT_CHARS,
    Delta,
    ErrorInStream,
    FinishReason,
    PartDelta,
    TextDelta,
    sources_of,
)
from chat.providers.openai_compatible.responses.output_items import parts_of, reasoning_of, text_of, thought_of
from chat.providers.openai_compatible.usage import usage_reports
from chat.providers.reasons import clean_reason
from chat.providers.untrusted_json import WireObject, as_object, as_objects, as_text
from chat.vocabulary.parts import JSON, JSONObject, Text
from chat.vocabulary.stream_events import MetadataReported, ResponseIdentified, SourcesReported

BEGINNINGS = ("response.created", "response.in_progress", "response.queued")
ENDS = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")
TEXT_TYPES = {"output_text": "response.output_text.delta", "refusal": "response.refusal.delta"}
SUMMARY, RAW = "response.reasoning_summary_text.delta", "response.reasoning_text.delta"
REASONING_FIELDS = {SUMMARY: "summary", RAW: "content"}
ITEM_EVENTS = frozenset(
    {
        *("response.output_item.added", "response.output_item.done", "response.output_text.annotation.added"),
        *(*TEXT_TYPES.values(), *REASONING_FIELDS),
    }
)
"""The types of the events of an item that are read. Other types are skipped."""
ITEMS_LIMIT = 1_000
CALLS_LIMIT = 64
METADATA = ("service_tier", "content_filters")
"""Fields of a response that are kept with the answer."""
BREAK = "\n\n"
"""Separates two texts that follow each other. It is not sent back."""


@dataclass(slots=True)
class _Item:
    """An item that is being received."""

    number: int
    type: str = ""
    phase: str = ""
    is_done: bool = False
    shown: dict[str, int] = field(default_factory=dict)
    """Type of the delta -> number of characters that were shown."""
    paragraph: object = None
    """The index of the summary or the content to which the last delta of the item's reasoning belongs."""


class ResponseEvents:
    """Decodes the events of one response. `reader.Decoder` says what a decoder is."""

    done_completes = False

    def __init__(self) -> None:
        self.is_done = False
        self._items: dict[int, _Item] = {}
        self._numbers: dict[str, int] = {}
        """Id of an item or a call -> number of the item, for servers that send no index."""
        self._last: _Item | None = None
        """The item whose text was shown last, if nothing else has followed."""
        self._message: _Item | None = None
        """The message whose text was shown last, if nothing visible followed. Encrypted reasoning is not visible."""
        self._calls = 0
        self._has_failed = False
        self._citations: list[WireObject] = []

    def deltas_of(self, value: WireObject) -> Iterator[Delta]:
        """Yield the content of one event, or of a whole response."""
        kind = as_text(value.get("type"))
        if kind == "error" or (not kind and value.get("object") != "response"):
            yield ErrorInStream(value.get("error") or dict(value))
        elif not kind:
            yield from self._end(value, as_text(value.get("status")))
        elif kind in ENDS:
            response = as_object(value.get("response"))
            status = as_text(response.get("status"))
            yield from self._end(response, status if f"response.{status}" in ENDS else kind.removeprefix("response."))
        elif kind in BEGINNINGS:
            yield from _identity(as_object(value.get("response")))
        elif kind in ITEM_EVENTS:
            yield from self._item_deltas(kind, value)

    def rest(self) -> Iterator[Delta]:
        """Yield the end of the last message, and an error if the response has failed without a reason."""
        yield from self._end_text()
        if self._has_failed:
            yield ErrorInStream("The server ended the answer with the status “failed”, and gave no reason.")

    def _item_deltas(self, kind: str, event: WireObject) -> Iterator[Delta]:
        wire = as_object(event.get("item"))
        item = self._item(event, wire)
        match kind:
            case "response.output_item.added":
                item.type, item.phase = as_text(wire.get("type")), as_text(wire.get("phase"))[:WORD_LIMIT_CHARS]
            case "response.output_item.done":
                yield from self._finish(item, wire)
            case "response.output_text.annotation.added":
                yield from self._cite([as_object(event.get("annotation"))])
            case "response.output_text.delta" | "response.refusal.delta":
                yield from self._text(item, kind, as_text(event.get("delta")))
            case _:
                paragraph = event.get("summary_index" if kind == SUMMARY else "content_index")
                yield from self._reasoning(item, kind, as_text(event.get("delta")), paragraph)

    def _item(self, event: WireObject, wire: WireObject) -> _Item:
        number = event.get("output_index")
        if not isinstance(number, int):
            number = self._number_by_ids(event, wire)
        if number not in self._items:
            if len(self._items) >= ITEMS_LIMIT:
                raise ValueError(f"the response has more than {ITEMS_LIMIT} items")
            self._items[number] = _Item(number)
        return self._items[number]

    def _number_by_ids(self, event: WireObject, wire: WireObject) -> int:
        """Return the number of an item without an index. Without a known id, it is the newest item, or a new one."""
        ids = [text for text in map(as_text, (wire.get("id"), wire.get("call_id"), event.get("item_id"))) if text]
        known = [self._numbers[one] for one in ids if one in self._numbers]
        if not known and event.get("type") == "response.output_item.done":
            known = [one.number for one in self._items.values() if not one.is_done and one.type == wire.get("type")]
        number = known[0] if known else max(self._items, default=-1 if wire else 0) + (1 if wire else 0)
        if wire:
            self._numbers.update(dict.fromkeys(ids, number))
        return number

    # --- text

    def _text(self, item: _Item, kind: str, text: str) -> Iterator[Delta]:
        if not text:
            return
        if self._last is not item:
            is_next = self._last is None and self._message not in (None, item)
            yield from self._end_text(is_followed=True)
            if is_next:
                # Separate two messages that have only invisible items between them.
                yield PartDelta(_message_end(item.number, BREAK))
        self._last = self._message = item
        item.shown[kind] = item.shown.get(kind, 0) + len(text)
        yield TextDelta(text, is_refusal=kind == TEXT_TYPES["refusal"])

    def _reasoning(self, item: _Item, kind: str, text: str, paragraph: object) -> Iterator[Delta]:
        """Yield reasoning. If an item has a summary and the raw text, only the one that arrives first is shown."""
        if not text or item.shown.keys() - {kind}:
            return
        if self._last is not item:
            is_reasoning = self._last is not None and bool(self._last.shown.keys() & REASONING_FIELDS.keys())
            yield from self._end_text()
            if is_reasoning:
                yield TextDelta(BREAK, is_reasoning=True)
        shown = item.shown.get(kind, 0)
        if shown and paragraph != item.paragraph:
            yield TextDelta(BREAK, is_reasoning=True)
            shown += len(BREAK)
        self._last, self._message, item.paragraph = item, None, paragraph
        item.shown[kind] = shown + len(text)
        yield TextDelta(text, is_reasoning=True)

    def _end_text(self, following: _Item | None = None, *, is_followed: bool = False) -> Iterator[Delta]:
        """Yield a part that marks the end of the last message, if later requests need it.

        They need it to send the message apart from the next one, with its `phase`, or in order: `following` is the next
        item, which may have a lower number. `is_followed`: whether another message begins.
        """
        item, self._last = self._last, None
        if item is None or not item.shown.keys() & set(TEXT_TYPES.values()):
            return
        is_early = following is not None and following.number < item.number
        if not (item.phase or is_followed or is_early):
            return
        yield PartDelta(_message_end(item.number, BREAK if is_followed else "", item.phase))

    # --- items that are done

    def _finish(self, item: _Item, wire: WireObject) -> Iterator[Delta]:
        if item.is_done:
            return
        item.is_done, item.type = True, as_text(wire.get("type"))
        if item.type == "message":
            item.phase = as_text(wire.get("phase"))[:WORD_LIMIT_CHARS] or item.phase
            raw = text_of(wire, "reasoning_text")
            yield from self._reasoning(item, RAW, raw[item.shown.get(RAW, 0) :], item.paragraph)
            for content_type, kind in TEXT_TYPES.items():
                yield from self._text(item, kind, text_of(wire, content_type)[item.shown.get(kind, 0) :])
            contents = as_objects(wire.get("content"))
            yield from self._cite([one for content in contents for one in as_objects(content.get("annotations"))])
        elif item.type == "reasoning":
            for kind, name in REASONING_FIELDS.items():
                text = reasoning_of(wire, name)[item.shown.get(kind, 0) :]
                yield from self._reasoning(item, kind, text, item.paragraph)
            if thought := thought_of(wire, item.number):
                yield from self._end_text(item)
                yield PartDelta(thought)
        else:
            self._calls += item.type in ("function_call", "custom_tool_call")
            if self._calls > CALLS_LIMIT:
                raise ValueError(f"the response has more than {CALLS_LIMIT} function calls")
            yield from self._end_text(item)
            self._message = None
            yield from parts_of(wire, item.number)

    def _cite(self, annotations: list[WireObject]) -> Iterator[Delta]:
        """Yield all citations so far. Web pages become sources; files of the server are kept as metadata."""
        new = [one for one in annotations if one and one not in self._citations]
        if not new or len(self._citations) + len(new) > ITEMS_LIMIT:
            return
        self._citations += new
        pages = sources_of([one for one in self._citations if one.get("type") == "url_citation"])
        if pages:
            yield SourcesReported("annotations", tuple({page.url: page for page in reversed(pages)}.values())[::-1])
        files: list[JSON] = [dict(one) for one in self._citations if one.get("type") != "url_citation"]
        if files and len(str(files)) <= METADATA_LIMIT_CHARS:
            yield MetadataReported("annotations", files)

    # --- the end

    def _end(self, response: WireObject, status: str) -> Iterator[Delta]:
        """Yield the end of the response: items that no event has completed, token counts, and why it ended."""
        yield from _identity(response)
        for number, wire in enumerate(as_objects(response.get("output"))):
            known = self._items.get(number)
            if known is None or (not known.is_done and known.type in ("", wire.get("type"))):
                yield from self._finish(known or self._item({"output_index": number}, wire), wire)
        yield from self._end_text()
        yield from _reports(response)
        if error := response.get("error"):
            yield ErrorInStream(error)
        elif status == "failed":
            # Report no error yet, because a separate event may follow with the reason.
            self._has_failed = True
        else:
            yield from self._finish_reason(response, status)
            self.is_done = True

    def _finish_reason(self, response: WireObject, status: str) -> Iterator[Delta]:
        """Yield why the answer ended; nothing if it was cancelled, so that it counts as incomplete."""
        reason = clean_reason(as_text(as_object(response.get("incomplete_details")).get("reason")))
        if status == "incomplete":
            yield FinishReason(reason) if reason in FINISHES else FinishReason(status, reason)
        elif status != "cancelled":
            yield FinishReason("max_output_tokens" if self._is_cut(response) else "completed")

    def _is_cut(self, response: WireObject) -> bool:
        """Return whether an answer has reached its token limit. Some servers report such an answer as complete."""
        limit, count = response.get("max_output_tokens"), as_object(response.get("usage")).get("output_tokens")
        return not self._calls and isinstance(limit, int) and isinstance(count, int) and 0 < limit <= count


def _message_end(number: int, text: str, phase: str = "") -> Text:
    fields: JSONObject = {"phase": phase} if phase else {}
    return Text(text, provider_data={"item": {"type": "message", **fields}, "index": number})


def _identity(response: WireObject) -> Iterator[Delta]:
    names = [as_text(response.get(name))[:WORD_LIMIT_CHARS] for name in ("id", "model")]
    if any(names):
        yield ResponseIdentified(*names)


def _reports(response: WireObject) -> Iterator[Delta]:
    for name in METADATA:
        if response.get(name) and len(str(response[name])) <= METADATA_LIMIT_CHARS:
            yield MetadataReported(name, response[name])
    yield from usage_reports(as_object(response.get("usage")))
