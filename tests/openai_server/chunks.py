"""Builds the chunks of a stream in the form of a profile's server."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.openai_server.profiles import CallForm, Profile
from tests.openai_server.shape import DONE, events

PIECES = re.compile(r"\S+\s*|\s+")
CALL_PIECE_CHARS = 5


@dataclass(frozen=True, slots=True)
class Call:
    """A function call of an answer."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ChunkWriter:
    """Writes the chunks of one answer."""

    profile: Profile
    model: str
    number: int
    """Number of the request. It makes ids unique."""
    asks_for_usage: bool
    usage: Mapping[str, int]

    def chunk(self, delta: Mapping[str, Any], finish: str | None = None, **fields: object) -> bytes:
        """Return a chunk with one choice."""
        choice = {"index": 0, "delta": dict(delta), "finish_reason": finish}
        return self._event([choice], **fields)

    def start(self) -> bytes:
        """Return the first chunk, which has no content."""
        return self.chunk({"role": "assistant", "content": ""})

    def text(self, text: str) -> Iterator[bytes]:
        """Yield one chunk for each word."""
        for piece in PIECES.findall(text):
            yield self.chunk({"content": piece})

    def reasoning(self, text: str) -> Iterator[bytes]:
        """Yield one chunk for each word of the reasoning; none if this server does not show it."""
        for piece in PIECES.findall(text):
            if self.profile.reasoning_field:
                yield self.chunk({self.profile.reasoning_field: piece})
            elif self.profile.name == "mistral":
                thinking = {"type": "thinking", "thinking": [{"type": "text", "text": piece}]}
                yield self.chunk({"content": [thinking]})

    def calls(self, calls: Sequence[Call]) -> Iterator[bytes]:
        """Yield the chunks of function calls, and the end of the answer."""
        match self.profile.call_form:
            case CallForm.ONE_CHUNK:
                deltas = [self._whole_call(index, call) for index, call in enumerate(calls)]
                for delta in deltas:
                    del delta["type"]
                yield from self.end("tool_calls", {"tool_calls": deltas})
                return
            case CallForm.WHOLE:
                for index, call in enumerate(calls):
                    yield self.chunk({"content": "", "tool_calls": [self._whole_call(index, call)]})
            case CallForm.PIECES:
                for index, call in enumerate(calls):
                    yield from self._call_in_pieces(index, call)
        yield from self.end("tool_calls")

    def end(self, finish: str, delta: Mapping[str, Any] | None = None) -> Iterator[bytes]:
        """Yield the finish reason, the usage and the end of the stream."""
        if self.profile.usage_on_finish:
            yield self.chunk(delta or {}, finish, usage=dict(self.usage))
        else:
            yield self.chunk(delta or {}, finish)
            if self.asks_for_usage:
                yield self._event([], usage=dict(self.usage))
        yield DONE

    def _event(self, choices: list[dict[str, Any]], **fields: object) -> bytes:
        head = {"id": f"chatcmpl-{self.number}", "object": "chat.completion.chunk", "created": 1760000000}
        return events({**head, "model": self.model, "choices": choices, **fields}, is_ascii=False)

    def _whole_call(self, index: int, call: Call) -> dict[str, Any]:
        function = {"name": call.name, "arguments": call.arguments}
        return {"index": index, "id": self._call_id(index), "type": "function", "function": function}

    def _call_in_pieces(self, index: int, call: Call) -> Iterator[bytes]:
        yield self.chunk({"tool_calls": [self._whole_call(index, Call(call.name, ""))]})
        for start in range(0, len(call.arguments), CALL_PIECE_CHARS):
            piece = call.arguments[start : start + CALL_PIECE_CHARS]
            yield self.chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})

    def _call_id(self, index: int) -> str:
        number = 0 if self.profile.repeats_call_ids else self.number
        digest = hashlib.sha256(f"{number} {index}".encode()).hexdigest()
        return self.profile.call_id_form.format(digest=digest, number=index)
