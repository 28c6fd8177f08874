"""Builds the chunks of one answer with the envelope, the token counts and the pauses of Gemini 3.

The token counts are invented (four characters a token) but consistent: the total of each chunk is the sum of its terms.
"""

from __future__ import annotations

import base64
import random
from collections.abc import Iterator

from chat.emulator import wire
from chat.emulator.generation_request import GenerationRequest
from chat.emulator.wire import Chunk, WireObject

FIRST_CHUNK_PAUSE_S = 0.45
"""Pause before the first chunk at pace 1. Gemini takes 0.5 to 2 s; the demo is faster on purpose."""
CHUNK_PAUSE_S = 0.06
"""Pause between text chunks at pace 1. Gemini sends 5 to 30 chunks a second."""
IMAGE_TOKENS = 258
TEXT_CHUNK_CHARS = (5, 70)
"""The shortest and the longest text chunk."""


class ChunkBuilder:
    """Builds the chunks of one answer and counts its tokens."""

    def __init__(self, request: GenerationRequest) -> None:
        """Equal response ids give equal ids, signatures and chunk borders."""
        self.request = request
        self._random = random.Random(request.response_id)
        self._prompt_tokens = sum(_tokens(part) for part in request.parts()) or 1
        self._candidates_tokens = 0
        self._thoughts_tokens = 0
        self._tool_use_tokens = 0
        self._has_started = False

    def chunk(self, *parts: WireObject, finish: str = "", after_s: float | None = None, **fields: object) -> Chunk:
        """Return a chunk with these parts. Without parts its content has no `parts`. `fields` go to the candidate."""
        content: WireObject = {"parts": list(parts), "role": "model"} if parts else {"role": "model"}
        return self.candidate_chunk({"content": content}, finish=finish, after_s=after_s, **fields)

    def candidate_chunk(
        self, candidate: WireObject, *, finish: str = "", after_s: float | None = None, **fields: object
    ) -> Chunk:
        """Return a chunk with this candidate, for candidates without a usual content."""
        parts = candidate.get("content", {}).get("parts", [])
        for part in parts:
            self._count(part)
        is_bare = self.is_bare_result(parts)
        candidate = dict(candidate)
        if finish:
            candidate["finishReason"] = finish
        if not is_bare:
            candidate["index"] = 0
        usage = self.prompt_usage() if is_bare else self.usage(is_last=bool(finish))
        return self.response_chunk({"candidates": [{**candidate, **fields}]}, usage, after_s)

    def response_chunk(
        self, response: WireObject, usage: WireObject | None = None, after_s: float | None = None
    ) -> Chunk:
        """Return a chunk with any response, to which usageMetadata, modelVersion and responseId are added."""
        if after_s is None:
            after_s = CHUNK_PAUSE_S if self._has_started else FIRST_CHUNK_PAUSE_S
        self._has_started = True
        envelope = {
            "usageMetadata": usage or self.prompt_usage(),
            "modelVersion": self.request.model,
            "responseId": self.request.response_id,
        }
        return Chunk({**response, **envelope}, after_s)

    def text_chunks(self, text: str, *, finish: str = "") -> Iterator[Chunk]:
        """Yield a text in chunks of `TEXT_CHUNK_CHARS`, cut anywhere as in real streams. The last one has `finish`."""
        start = 0
        while start < len(text):
            end = start + self._random.randint(*TEXT_CHUNK_CHARS)
            yield self.chunk(wire.text_part(text[start:end]), finish=finish if end >= len(text) else "")
            start = end

    def last_chunk(self, finish: str = "STOP") -> Chunk:
        """Return the last chunk: an empty text part with the last signature and the finish reason."""
        return self.chunk(wire.text_part("", self.new_signature()), finish=finish)

    def new_id(self) -> str:
        """Return an id for a code part and its result, or for a function call."""
        return "".join(self._random.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=8))

    def new_signature(self) -> str:
        """Return a thought signature: random bytes of a usual length in base64."""
        return base64.b64encode(self._random.randbytes(self._random.randint(150, 470))).decode()

    def is_bare_result(self, parts: list[WireObject]) -> bool:
        """Return whether the chunk has a code execution result: then it lacks the index and all counts but one."""
        return any("codeExecutionResult" in part for part in parts)

    def prompt_usage(self) -> WireObject:
        """Return a usageMetadata that counts the prompt only."""
        return self._usage_of({"promptTokenCount": self._prompt_tokens})

    def usage(self, *, is_last: bool) -> WireObject:
        """Return the usageMetadata so far. Only the last chunk counts the tokens of tool use."""
        return self._usage_of(
            {
                "promptTokenCount": self._prompt_tokens,
                "candidatesTokenCount": self._candidates_tokens,
                "thoughtsTokenCount": self._thoughts_tokens,
                "toolUsePromptTokenCount": self._tool_use_tokens if is_last else 0,
            }
        )

    def _usage_of(self, counts: WireObject) -> WireObject:
        present = {name: count for name, count in counts.items() if count}
        return {
            **present,
            "totalTokenCount": sum(present.values()),
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": self._prompt_tokens}],
        }

    def _count(self, part: WireObject) -> None:
        if "codeExecutionResult" in part or "inlineData" in part:
            self._tool_use_tokens += _tokens(part)
        elif part.get("thought"):
            self._thoughts_tokens += _tokens(part)
        else:
            self._candidates_tokens += _tokens(part)
            if "executableCode" in part:
                self._tool_use_tokens += self._prompt_tokens + _tokens(part)


def _tokens(part: WireObject) -> int:
    if "inlineData" in part or "fileData" in part:
        return IMAGE_TOKENS
    text = part.get("text") or ""
    for kind, field in (("executableCode", "code"), ("codeExecutionResult", "output")):
        text += part.get(kind, {}).get(field) or ""
    return -(-len(text) // 4)
