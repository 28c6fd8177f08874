"""Makes the chunks of one answer: part by part, with the envelope and the token counts of the real API.

Token counts are made up (four characters a token) but consistent: the last chunk's total is the sum of its terms.
"""

from __future__ import annotations

import base64
import hashlib
import random
from collections.abc import Iterator
from enum import Enum

from chat.emulator import wire
from chat.emulator.call import Call
from chat.emulator.wire import Chunk, WireObject

FIRST_S = 0.45
"""Pause before the first chunk at pace 1; real first chunks take 0.5 to 2 s, a demo should not."""
STEP_S = 0.06
"""Pause between text chunks at pace 1; real streams give 5 to 30 chunks a second."""
IMAGE_TOKENS = 258


class Form(Enum):
    """Which generation of models the envelope follows."""

    GEMINI_3 = "ids, signatures, counts that fall back on result chunks, a final empty signed text part"
    GEMINI_2_5 = "no ids, no signatures, an index on every chunk"


class Voice:
    """Speaks one answer; keeps what the envelope needs from chunk to chunk."""

    def __init__(self, call: Call, form: Form = Form.GEMINI_3) -> None:
        """Answer `call` in the given form."""
        self.call = call
        self.form = form
        self._random = random.Random(call.response_id)
        self._prompt = sum(_tokens(part) for part in call.parts()) or 1
        self._candidates = 0
        self._thoughts = 0
        self._tool_use = 0
        self._spoke = False

    def chunk(self, *parts: WireObject, finish: str = "", after_s: float | None = None, **candidate: object) -> Chunk:
        """A chunk with these parts; without any, its content has no `parts` field. `candidate` adds fields."""
        content: WireObject = {"parts": list(parts), "role": "model"} if parts else {"role": "model"}
        return self.respond({"content": content}, finish=finish, after_s=after_s, **candidate)

    def respond(
        self, base: WireObject, *, finish: str = "", after_s: float | None = None, **candidate: object
    ) -> Chunk:
        """A chunk whose candidate starts from `base`; `chunk` is the usual way."""
        parts = base.get("content", {}).get("parts", [])
        for part in parts:
            self._count(part)
        has_result = any("codeExecutionResult" in part for part in parts)
        gemini_3_result = has_result and self.form is Form.GEMINI_3
        body = dict(base)
        if finish:
            body["finishReason"] = finish
        if not gemini_3_result:
            body["index"] = 0
        return self.envelope({"candidates": [{**body, **candidate}]}, self._usage(finish, gemini_3_result), after_s)

    def envelope(self, response: WireObject, usage: WireObject | None = None, after_s: float | None = None) -> Chunk:
        """Any response with usageMetadata, modelVersion and responseId."""
        pause_s = after_s if after_s is not None else STEP_S if self._spoke else FIRST_S
        self._spoke = True
        envelope = {
            "usageMetadata": usage or self._usage("", True),
            "modelVersion": self.call.model,
            "responseId": self.call.response_id,
        }
        return Chunk({**response, **envelope}, pause_s)

    def say(self, value: str, *, finish: str = "") -> Iterator[Chunk]:
        """Stream a text in chunks of 5 to 70 characters; a finish stands on the last of them."""
        pieces = list(self.pieces(value, 5, 70))
        for number, piece in enumerate(pieces):
            yield self.chunk(wire.text(piece), finish=finish if number == len(pieces) - 1 else "")

    def pieces(self, value: str, shortest: int, longest: int) -> Iterator[str]:
        """Cut a text anywhere, as the real API does, into pieces of so many characters."""
        at = 0
        while at < len(value):
            length = self._random.randint(shortest, longest)
            yield value[at : at + length]
            at += length

    def end(self, finish: str = "STOP") -> Chunk:
        """The last chunk: in the Gemini 3 form an empty text part with the last signature."""
        if self.form is Form.GEMINI_3:
            return self.chunk(wire.text("", self.signature()), finish=finish)
        return self.chunk(wire.text(""), finish=finish)

    def call_id(self) -> str:
        """An id for a code part and its result; empty in the 2.5 form."""
        if self.form is Form.GEMINI_2_5:
            return ""
        return "".join(self._random.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=8))

    def signature(self) -> str:
        """A thought signature: opaque bytes of a usual size, in base64; empty in the 2.5 form."""
        if self.form is Form.GEMINI_2_5:
            return ""
        return base64.b64encode(self._random.randbytes(self._random.randint(150, 470))).decode()

    def _count(self, part: WireObject) -> None:
        if "codeExecutionResult" in part or "inlineData" in part:
            self._tool_use += _tokens(part)
        elif part.get("thought"):
            self._thoughts += _tokens(part)
        else:
            self._candidates += _tokens(part)
            if "executableCode" in part:
                self._tool_use += self._prompt + _tokens(part)

    def _usage(self, finish: str, prompt_only: bool) -> WireObject:
        counts = {"promptTokenCount": self._prompt}
        if not prompt_only:
            counts["candidatesTokenCount"] = self._candidates
            counts["thoughtsTokenCount"] = self._thoughts
            if finish or self.form is Form.GEMINI_2_5:
                counts["toolUsePromptTokenCount"] = self._tool_use
        counts = {name: count for name, count in counts.items() if count}
        return {
            **counts,
            "totalTokenCount": sum(counts.values()),
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": self._prompt}],
        }


def response_id(model: str, body: bytes, number: int) -> str:
    """An id for an answer; equal calls of one server differ by their number."""
    digest = hashlib.sha256(f"{model}\0{number}\0".encode() + body).digest()
    return base64.urlsafe_b64encode(digest).decode()[:23]


def _tokens(part: WireObject) -> int:
    if "inlineData" in part or "fileData" in part:
        return IMAGE_TOKENS
    said = part.get("text") or ""
    for name, field in (("executableCode", "code"), ("codeExecutionResult", "output")):
        said += part.get(name, {}).get(field) or ""
    return -(-len(said) // 4)
