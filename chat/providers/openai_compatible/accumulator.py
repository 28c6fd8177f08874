"""Turns the deltas of one response into stream events. Pure.

Text is passed on at once, function calls when the response has ended. Calls count whatever the finish reason is: some
servers send `stop` with calls. The rules for the pieces of a call hold for all recorded servers:
some repeat an index or an id, some send none, and some repeat the name in each piece.

Keys of `provider_data`:

    id                  the server's id of a function call
    fields              fields of a call that are not in the protocol, such as a signature
    raw_arguments       arguments that are not a JSON object, as received
    reasoning_details   reasoning that is sent back to OpenRouter unchanged
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from chat.providers.openai_compatible.call_pieces import CallInPieces, parse_arguments
from chat.providers.openai_compatible.chunks import (
    NATIVE_FINISHES,
    CallDelta,
    Delta,
    ErrorInStream,
    FinishReason,
    PartDelta,
    PictureDelta,
    ReasoningDetail,
    TextDelta,
)
from chat.providers.openai_compatible.pictures import Pictures, describe
from chat.providers.openai_compatible.text_marks import Piece as MarkedPiece
from chat.providers.openai_compatible.text_marks import TextMarks
from chat.providers.openai_compatible.text_pictures import Piece, TextPictures
from chat.vocabulary.parts import JSON, FunctionCall, JSONObject, Part, Text, Thought
from chat.vocabulary.stream_events import (
    Finish,
    Finished,
    MetadataReported,
    PartReceived,
    Report,
    ResponseIdentified,
    SourcesReported,
    StreamEvent,
    TextBecameThought,
)

FINISHES: Mapping[str, Finish] = {
    "stop": Finish.STOP,
    "completed": Finish.STOP,
    "end_turn": Finish.STOP,
    "eos": Finish.STOP,
    "tool_calls": Finish.STOP,
    "function_call": Finish.STOP,
    "length": Finish.LENGTH,
    "max_tokens": Finish.LENGTH,
    "max_output_tokens": Finish.LENGTH,
    "incomplete": Finish.LENGTH,
    "model_length": Finish.LENGTH,
    "content_filter": Finish.BLOCKED,
}
EMPTY = "Perhaps the conversation is longer than its server can read"
"""A guess for an empty answer: if a conversation is too long, some servers send no text and report no error."""
CALLS_LIMIT = 64
"""Maximum number of function calls of one response."""
DETAILS_LIMIT = 1_000
"""Maximum number of reasoning details of one response."""
KEPT_LIMIT_CHARS = 4 * 1024 * 1024
"""Maximum number of characters of the calls, the reasoning details and the provider data of one response."""
JOINED_FIELDS = frozenset({"text", "summary", "data"})
"""Fields of a reasoning detail that arrive in pieces. For other fields, the last value counts."""

CALL_AS_TEXT = re.compile(r"<tool_call>|\[TOOL_CALLS\]|```tool_code|<function=|<\|python_tag\|>")
"""Matches calls that a model wrote as text. A server that is set up for tool calling parses them instead."""
BARE_CALL = re.compile(r"\s*\{\s*\"(?:name|function)\"\s*:\s*\"")


@dataclass(slots=True)
class _Detail:
    """A reasoning detail that is being received. Later requests send it back unchanged."""

    fields: JSONObject = field(default_factory=dict)
    texts: dict[str, list[str]] = field(default_factory=dict)
    """The pieces of the fields in JOINED_FIELDS."""

    def append(self, piece: Mapping[str, JSON]) -> int:
        """Append a piece; return how many characters are kept of it."""
        kept = 0
        for name, value in piece.items():
            if name in JOINED_FIELDS and isinstance(value, str):
                self.fields[name] = ""
                if value:
                    self.texts.setdefault(name, []).append(value)
                kept += len(value)
            elif name not in self.fields or value not in (None, self.fields[name]):
                self.fields[name] = value
                self.texts.pop(name, None)
                kept += len(name) + len(str(value))
        return kept

    def joined(self) -> JSONObject:
        """Return the whole detail."""
        return self.fields | {name: "".join(texts) for name, texts in self.texts.items()}


class Accumulator:
    """Turns the deltas of one response into stream events."""

    def __init__(self, *, has_functions: bool) -> None:
        """`has_functions`: whether the request declares functions."""
        self._has_functions = has_functions
        self._marks = TextMarks()
        self._reasoning_marks = TextMarks(is_reasoning=True)
        self._pictures = Pictures()
        self._divided = {is_reasoning: TextPictures() for is_reasoning in (False, True)}
        """The parsers that divide the answer and the reasoning into text and embedded files."""
        self._is_reasoning = False
        self._calls: list[CallInPieces] = []
        """The calls in the order in which they began."""
        self._has_whole_call = False
        self._open: dict[int | None, CallInPieces] = {}
        """The last call of each index."""
        self._details: dict[tuple[str, str], _Detail] = {}
        self._kept_chars = 0
        self._texts: list[str] = []
        self._reports: dict[str, Report] = {}
        self._is_refusal = False
        self._identity = ResponseIdentified("", "")
        self._finish: Finished | None = None
        self.is_empty = True
        """Whether the response has no content so far: no text, no picture, no reasoning and no call."""

    def add(self, delta: Delta) -> Iterator[StreamEvent]:
        """Yield the events of one delta. The caller handles `ErrorInStream`."""
        match delta:
            case TextDelta():
                yield from self._text(delta)
            case PictureDelta(url):
                yield from self.flush()
                self.is_empty = False
                yield from map(PartReceived, self._pictures.parts_of(url))
            case PartDelta(part):
                yield from self._whole_part(part)
            case CallDelta():
                self._add_call(delta)
            case ReasoningDetail(detail):
                self._add_detail(detail)
            case FinishReason():
                self._finish = _finished(delta)
                yield self._finish
            case ErrorInStream():
                raise TypeError("an error has no events")
            case ResponseIdentified(response_id, model):
                identity = ResponseIdentified(
                    response_id or self._identity.response_id, model or self._identity.model_version
                )
                if identity != self._identity:
                    self._identity = identity
                    yield identity
            case report:
                yield from self._report(report)

    def close(self, *, is_done: bool) -> Iterator[StreamEvent]:
        """Yield the rest: held text, a finish if the server sent none, reasoning details, calls, a corrected finish.

        `is_done`: whether the server said that the stream is complete.
        """
        yield from self.flush()
        if self._finish is None and is_done:
            self._finish = Finished(Finish.STOP)
            yield self._finish
        if self._details:
            details: list[JSON] = [detail.joined() for detail in self._details.values()]
            yield PartReceived(Thought("", provider_data={"reasoning_details": details}))
        yield from (PartReceived(self._function_call(call)) for call in self._calls)
        if self._finish and self._finish.finish is Finish.STOP:
            if self.is_empty:
                yield replace(self._finish, message=EMPTY)
            elif self._wrote_call_as_text():
                yield Finished(Finish.CALL_AS_TEXT, self._finish.reason)

    def flush(self) -> Iterator[StreamEvent]:
        """Yield the text that was held back because it might have been the beginning of a mark or of a picture."""
        yield from self._divide(self._reasoning_marks.close())
        yield from self._divide(self._marks.close())
        yield from self._pieces(self._divided[self._is_reasoning].close())

    def _whole_part(self, part: Part) -> Iterator[StreamEvent]:
        yield from self.flush()
        self.is_empty = False
        self._has_whole_call = self._has_whole_call or isinstance(part, FunctionCall)
        self._count_kept(len(str(part.provider_data)))
        yield PartReceived(part)

    def _report(self, report: Report) -> Iterator[StreamEvent]:
        """Yield an event about the response, such as its usage. Some servers repeat it in each chunk; yield it once."""
        key = report.name if isinstance(report, MetadataReported | SourcesReported) else type(report).__name__
        if self._reports.get(key) != report:
            self._reports[key] = report
            yield report

    def _text(self, delta: TextDelta) -> Iterator[StreamEvent]:
        if delta.is_refusal and not self._is_refusal:
            self._is_refusal = True
            yield MetadataReported("refusal", True)
        if delta.is_reasoning or delta.is_refusal:
            # The server sends reasoning in a separate field, so tags in the text are text.
            yield from self._divide(self._marks.close())
            self._marks.settle()
        elif held := self._reasoning_marks.close():
            yield from self._divide(held)
        if delta.is_refusal:
            yield from self._divide([delta])
        else:
            marks = self._reasoning_marks if delta.is_reasoning else self._marks
            yield from self._divide(marks.feed(delta.text))

    def _divide(self, deltas: Iterable[MarkedPiece]) -> Iterator[StreamEvent]:
        """Yield texts, and the pictures in them, in their order."""
        for delta in deltas:
            if isinstance(delta, TextBecameThought):
                yield from self._pieces(self._divided[self._is_reasoning].close())
                # Code that began in the thought does not continue in the answer.
                self._divided[False] = TextPictures()
                self._texts.clear()
                yield delta
                continue
            self.is_empty = False
            if delta.is_reasoning != self._is_reasoning:
                yield from self._pieces(self._divided[self._is_reasoning].close())
                self._is_reasoning = delta.is_reasoning
            yield from self._pieces(self._divided[self._is_reasoning].feed(delta.text))

    def _pieces(self, pieces: Iterable[Piece]) -> Iterator[StreamEvent]:
        """Yield the events of pieces of a text. The answer's text is kept if it will be searched for calls."""
        for piece in pieces:
            if self._is_reasoning:
                words = piece if isinstance(piece, str) else piece.source or describe(piece.mime_type, piece.chars)
                yield PartReceived(Thought(words))
            elif isinstance(piece, str):
                if self._has_functions:
                    self._texts.append(piece)
                yield PartReceived(Text(piece))
            else:
                yield from map(PartReceived, self._pictures.parts_of_file(piece))

    def _add_call(self, delta: CallDelta) -> None:
        """Append to an open call, or begin a new one.

        A new id begins a new call, even at an index that was used before. Without ids, a call begins with another name,
        or with the same name if the arguments of the open call are complete.
        """
        self.is_empty = False
        index = delta.index
        call = self._open.get(index) or (self._calls[-1] if index is None and self._calls else None)
        if call is None or call.is_followed_by(delta):
            if len(self._calls) >= CALLS_LIMIT:
                raise ValueError(f"the response has more than {CALLS_LIMIT} function calls")
            call = CallInPieces()
            self._calls.append(call)
        self._open[index] = call
        self._count_kept(call.append(delta))

    def _function_call(self, call: CallInPieces) -> FunctionCall:
        text = call.text
        is_cut = self._finish is None or self._finish.finish is Finish.LENGTH
        # A function without parameters may be called with empty arguments.
        arguments = {} if not text.strip() and not is_cut else parse_arguments(text)
        data: JSONObject = {"id": call.id, "fields": call.fields, "raw_arguments": text if arguments is None else None}
        provider_data = {key: value for key, value in data.items() if value}
        return FunctionCall(call.name, arguments, call.id, provider_data=provider_data)

    def _add_detail(self, detail: Mapping[str, JSON]) -> None:
        """Join the pieces of a detail, which have the same index and type."""
        kept = self._details.setdefault((str(detail.get("index")), str(detail.get("type"))), _Detail())
        if len(self._details) > DETAILS_LIMIT:
            raise ValueError(f"the response has more than {DETAILS_LIMIT} reasoning details")
        self._count_kept(kept.append(detail))

    def _count_kept(self, chars: int) -> None:
        """Add to the number of characters that are kept. Raises ValueError if it is above KEPT_LIMIT_CHARS."""
        self._kept_chars += chars
        if self._kept_chars > KEPT_LIMIT_CHARS:
            raise ValueError("the function calls and the reasoning of the response hold too much")

    def _wrote_call_as_text(self) -> bool:
        if self._calls or self._has_whole_call or not self._has_functions:
            return False
        text = "".join(self._texts)
        has_call = self._marks.has_call or self._reasoning_marks.has_call
        return has_call or (CALL_AS_TEXT.search(text) or BARE_CALL.match(text)) is not None


def _finished(delta: FinishReason) -> Finished:
    """Return why the answer ended. If it is not complete, add the word of the service behind the server."""
    finish = NATIVE_FINISHES.get(delta.native) or FINISHES.get(delta.reason, Finish.UNKNOWN)
    is_said = finish is Finish.STOP or delta.native.lower() == delta.reason.lower()
    return Finished(finish, delta.reason, "" if is_said else delta.native)
