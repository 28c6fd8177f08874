"""Converts the events of one interaction to stream events. Pure.

`event_type` is the type of an event, and `index` names its step. The last event has no steps, so they are made of the
events that began them and of their deltas. Text is passed on as it arrives, everything else when its step ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from chat.providers.google.codec import FINISHES as FINISHES_BY_WORD
from chat.providers.google.errors import ReportedError
from chat.providers.google.interactions.steps import media_part, output_end, parts_of
from chat.providers.reasons import clean_reason
from chat.providers.untrusted_json import WireObject, as_object, as_objects, as_text
from chat.vocabulary.parts import JSON, JSONObject, Text, Thought
from chat.vocabulary.stream_events import (
    CONTINUATION_TOKEN,
    Finish,
    Finished,
    MetadataReported,
    PartReceived,
    ResponseIdentified,
    Source,
    SourcesReported,
    StreamEvent,
    Usage,
    UsageReported,
)

FINISHES = {
    "completed": Finish.STOP,
    "idle": Finish.STOP,
    "requires_action": Finish.STOP,
    "incomplete": Finish.LENGTH,
    "requires_continuation": Finish.CONTINUATION,
}
CUT = frozenset({"", "in_progress", "queued", "cancelled"})
"""Values of `status` with which an ended answer is incomplete."""
FAILED = "failed"
TOKEN_COUNTS = ("input", "tool_use", "thought", "output", "cached")
"""Names of token counts, in the order of the fields of `Usage`."""
MEDIA = frozenset({"image", "audio", "video", "document"})
STEP_OF_DELTA = {
    "text": "model_output",
    "text_annotation_delta": "model_output",
    "thought_summary": "thought",
    "thought_signature": "thought",
    "arguments_delta": "function_call",
    **dict.fromkeys(MEDIA, "model_output"),
}
"""Type of delta -> type of its step, if the two differ."""
STEPS_LIMIT = 1_000
REASON_LIMIT_CHARS = 200


@dataclass(slots=True)
class _Step:
    """A step that is being received."""

    wire: JSONObject
    """The fields of the step received so far, without the texts and files of a `model_output`."""
    pieces: list[str] = field(default_factory=list)
    """The pieces of the step's arguments, which are JSON."""
    annotations: list[JSON] = field(default_factory=list)


class InteractionDecoder:
    """Decodes the events of one interaction."""

    def __init__(self, api_key: str = "") -> None:
        """`api_key`: the key, which is removed from finish messages of the API."""
        self._api_key = api_key
        self._open: dict[int, _Step] = {}
        self._count = 0
        self._last = 0
        """The index of the newest step."""
        self._follows_output = False
        """Whether the last parts are of an ended `model_output` without a mark of its end. A second would join it."""
        self._citations: list[JSON] = []
        self._step_error: WireObject = {}
        self._failure: WireObject | None = None

    def decode(self, event: WireObject) -> Iterator[StreamEvent]:
        """Yield the stream events of one event, or of a whole interaction."""
        kind = as_text(event.get("event_type"))
        metadata = as_object(event.get("metadata"))
        if usage := as_object(metadata.get("total_usage") or metadata.get("usage")):
            yield _usage(usage)
        match kind:
            case "step.start":
                yield from self._start(event.get("index"), as_object(event.get("step")))
            case "step.delta":
                yield from self._delta(event.get("index"), as_object(event.get("delta")))
            case "step.stop":
                yield from self._stop(event.get("index"), is_whole=True)
            case "interaction.created":
                yield from _identity(as_object(event.get("interaction")))
            case "interaction.completed":
                yield from self._complete(as_object(event.get("interaction")))
            case "" if event.get("object") == "interaction" or "status" in event:
                yield from self._complete(event)

    def end(self) -> Iterator[StreamEvent]:
        """Yield the rest of steps that have not ended. Raises ReportedError if the server reported an error."""
        for index in list(self._open):
            yield from self._stop(index, is_whole=False)
        if self._failure is not None:
            message = as_text(self._failure.get("message")) or "The answer has failed, and no reason was given."
            code = as_text(self._failure.get("code")) or "internal_error"
            raise ReportedError(code, {"error": {"code": code, "message": message}})

    # --- steps

    def _start(self, index: object, step: WireObject) -> Iterator[StreamEvent]:
        """Begin a step, which may already have all its contents."""
        number = index if isinstance(index, int) else self._last + (self._count > 0)
        yield from self._stop(number, is_whole=False)
        opened = self._begin(number, step)
        kind = as_text(step.get("type"))
        if kind == "model_output" and self._follows_output:
            self._follows_output = False
            yield PartReceived(output_end({"type": kind}))
        for content in as_objects(step.get("summary" if kind == "thought" else "content")):
            if kind == "thought":
                yield from self._add(opened, {"type": "thought_summary", "content": content})
            elif kind == "model_output":
                yield from self._add(opened, content)
                yield from self._cite(opened, content)

    def _begin(self, number: int, step: WireObject) -> _Step:
        self._count += 1
        if self._count > STEPS_LIMIT:
            raise ValueError(f"the answer has more than {STEPS_LIMIT} steps")
        texts = {"thought": "summary", "model_output": "content"}.get(as_text(step.get("type")))
        self._open[number] = _Step({name: value for name, value in step.items() if value not in ("", None)})
        self._open[number].wire.pop(texts or "", None)
        self._last = number
        return self._open[number]

    def _delta(self, index: object, delta: WireObject) -> Iterator[StreamEvent]:
        number = index if isinstance(index, int) else self._last
        if number not in self._open:
            # The event that starts the step is missing, so start the step here.
            kind = as_text(delta.get("type"))
            yield from self._start(number, {"type": STEP_OF_DELTA.get(kind, kind)})
        yield from self._add(self._open[number], delta)

    def _add(self, step: _Step, delta: WireObject) -> Iterator[StreamEvent]:
        match as_text(delta.get("type")):
            case "text":
                yield from _shown(Text(as_text(delta.get("text"))))
            case "thought_summary":
                content = as_object(delta.get("content"))
                before = step.wire.get("summary")
                step.wire["summary"] = [*(before if isinstance(before, list) else []), dict(content)]
                yield from _shown(Thought(as_text(content.get("text"))))
            case "thought_signature":
                # Empty signatures may precede the real one.
                step.wire["signature"] = as_text(delta.get("signature")) or step.wire.get("signature")
            case "arguments_delta":
                step.pieces.append(as_text(delta.get("arguments")))
            case "text_annotation_delta":
                yield from self._cite(step, delta)
            case kind if kind in MEDIA:
                yield PartReceived(media_part(delta))
            case _:
                for name, value in delta.items():
                    if name != "type" and value not in ("", None):
                        step.wire[name] = _joined(step.wire.get(name), value) if name == "result" else value

    def _stop(self, index: object, *, is_whole: bool) -> Iterator[StreamEvent]:
        number = index if isinstance(index, int) else self._last
        step = self._open.pop(number, None)
        if step is None:
            return
        wire: JSONObject = {**step.wire, "arguments": "".join(step.pieces)} if step.pieces else step.wire
        if step.annotations:
            wire["annotations"] = step.annotations
        if error := as_object(wire.pop("error", None)):
            self._step_error = error
        parts = list(parts_of(wire, is_whole=is_whole))
        if wire.get("type") == "model_output" or parts:
            self._follows_output = not parts
        yield from map(PartReceived, parts)
        yield from _searches(wire, number)

    def _cite(self, step: _Step, holder: WireObject) -> Iterator[StreamEvent]:
        """Yield all citations so far. Cited web pages become sources; other citations are kept as they are."""
        new = [dict(one) for one in as_objects(holder.get("annotations"))]
        if not new or len(self._citations) + len(new) > STEPS_LIMIT:
            return
        step.annotations += new
        self._citations += new
        cited = as_objects(self._citations)
        pages = [one for one in cited if one.get("type") == "url_citation" and as_text(one.get("url"))]
        sources = {as_text(one["url"]): Source(as_text(one["url"]), as_text(one.get("title"))) for one in pages}
        if sources:
            yield SourcesReported("annotations", tuple(sources.values()))
        if others := [dict(one) for one in cited if one.get("type") != "url_citation"]:
            yield MetadataReported("annotations", list[JSON](others))

    # --- the end

    def _complete(self, interaction: WireObject) -> Iterator[StreamEvent]:
        """Yield the end of the answer: the steps if it came as a whole, token counts, and why it ended."""
        if not self._count:
            yield from _identity(interaction)
            for number, step in enumerate(as_objects(interaction.get("steps"))):
                yield from self._start(number, step)
                yield from self._stop(number, is_whole=True)
        for index in list(self._open):
            yield from self._stop(index, is_whole=False)
        if usage := as_object(interaction.get("usage")):
            yield _usage(usage)
        if token := as_text(interaction.get("continuation_token")):
            yield MetadataReported(CONTINUATION_TOKEN, token)
        status = as_text(interaction.get("status"))
        if status == FAILED:
            yield from self._fail(as_objects(interaction.get("errors")))
        elif status not in CUT:
            yield Finished(FINISHES.get(status, Finish.UNKNOWN), status[:REASON_LIMIT_CHARS])

    def _fail(self, errors: list[WireObject]) -> Iterator[StreamEvent]:
        """Yield the end of an answer that Google's rules ended. `end` raises any other failure."""
        for error in errors:
            word = str(error.get("code") or "").rpartition("/")[2]
            if finish := FINISHES_BY_WORD.get(word.upper()):
                message = clean_reason(as_text(error.get("message")), self._api_key)
                yield Finished(finish, word[:REASON_LIMIT_CHARS], message)
                return
        self._failure = next(iter(errors), self._step_error)


def _shown(part: Text | Thought) -> Iterator[StreamEvent]:
    if part.text:
        yield PartReceived(part)


def _joined(before: JSON, value: JSON) -> JSON:
    """Return the result of a step with its next piece appended. A piece of another type replaces it."""
    if isinstance(before, str) and isinstance(value, str):
        return before + value
    return [*before, *value] if isinstance(before, list) and isinstance(value, list) else value


def _searches(step: WireObject, number: int) -> Iterator[StreamEvent]:
    """Yield the queries of a web search, or the pages that were read."""
    queries = as_object(step.get("arguments")).get("queries") if step.get("type") == "google_search_call" else None
    if isinstance(queries, list):
        yield SourcesReported(f"google_search {number}", (), tuple(filter(None, map(as_text, queries))))
    if step.get("type") == "url_context_result":
        pages = [one for one in as_objects(step.get("result")) if one.get("status") == "success"]
        found = tuple(Source(as_text(one.get("url"))) for one in pages if as_text(one.get("url")))
        yield SourcesReported(f"url_context {number}", found)


def _identity(interaction: WireObject) -> Iterator[StreamEvent]:
    names = [as_text(interaction.get(name))[:REASON_LIMIT_CHARS] for name in ("id", "model")]
    if any(names):
        yield ResponseIdentified(*names)


def _usage(wire: WireObject) -> UsageReported:
    counts = [wire.get(f"total_{name}_tokens") for name in TOKEN_COUNTS]
    numbers = [count if type(count) is int else None for count in (*counts, wire.get("total_tokens"))]
    return UsageReported(Usage(*numbers), dict(wire))
