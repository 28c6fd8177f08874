"""The bytes of the upstream's answers, in Gemini's form and in OpenAI's, built once; pure.

A step is bytes to send as they are, or a pair of bytes to send around a stamp.
"""

from __future__ import annotations

import base64
import io
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from PIL import Image

from bench.answers import PIECES, RICH_PIECES, Answer

Step = tuple[bytes, bytes] | bytes

GRAPHS = 16
"""Different ones; the n-th graph of every answer is the same."""

#: Noise does not compress: 142 x 142 x 3 bytes are 60 KB of PNG.
GRAPH_SIDE_PIXELS = 142

TITLE = "A title"
"""What is answered to a prompt that orders nothing: products ask the model to name a conversation."""


@dataclass(frozen=True, slots=True)
class Form:
    """How one API writes an answer."""

    texts: tuple[Step, ...]
    rich_texts: tuple[Step, ...]
    """Without stamps."""
    last_text: Step
    code: Step | None
    """None: this API has no code, results and images."""
    result: Step | None
    graphs: tuple[bytes, ...]
    end: bytes
    """After the last text."""

    def steps(self, answer: Answer) -> Iterator[tuple[float, Step]]:
        """What to send, and when it is due, in seconds from the start."""
        texts = self.rich_texts if answer.is_rich else self.texts
        places = sorted(answer.graph_places()) if self.graphs else []
        for index in range(answer.chunks):
            due_s = answer.due_s(index)
            if index in places and self.code and self.result:
                yield due_s, self.code
                yield due_s, self.result
                yield due_s, self.graphs[places.index(index) % GRAPHS]
            yield due_s, texts[index % len(texts)] if index < answer.chunks - 1 else self.last_text
        if self.end:
            yield answer.due_s(answer.chunks - 1), self.end


def dumped(value: dict[str, Any]) -> bytes:
    """JSON as services write it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def gemini_event(*parts: dict[str, Any], tokens: int = 0, **candidate: str) -> bytes:
    """One server-sent event as Gemini writes it; `tokens` of the answer so far."""
    response = {
        "candidates": [{"content": {"parts": list(parts), "role": "model"}, **candidate, "index": 0}],
        "usageMetadata": {"promptTokenCount": 12, "candidatesTokenCount": tokens, "totalTokenCount": 12 + tokens},
        "modelVersion": "bench",
        "responseId": "bench-response",
    }
    return b"data: " + dumped(response) + b"\r\n\r\n"


def openai_event(text: str, finish_reason: str | None = None) -> bytes:
    """One server-sent event as OpenAI's chat completions write it."""
    choice = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": finish_reason}
    chunk = {"id": "bench", "object": "chat.completion.chunk", "created": 1, "model": "bench", "choices": [choice]}
    return b"data: " + dumped(chunk) + b"\n\n"


def around_stamp(data: bytes) -> tuple[bytes, bytes]:
    """What comes before and after the stamp's digits."""
    before, after = data.split(b"@")
    return before + "⟨".encode(), "⟩".encode() + after


def graph_event(seed: int) -> bytes:
    """A chunk with a PNG of 60 KB."""
    side = GRAPH_SIDE_PIXELS
    image = Image.frombytes("RGB", (side, side), random.Random(seed).randbytes(side * side * 3))
    png = io.BytesIO()
    image.save(png, "PNG")
    return gemini_event({"inlineData": {"mimeType": "image/png", "data": base64.b64encode(png.getvalue()).decode()}})


GEMINI = Form(
    # As on the wire, no two neighbours tell the same usage.
    texts=tuple(
        around_stamp(gemini_event({"text": piece}, tokens=5 * number)) for number, piece in enumerate(PIECES, start=1)
    ),
    rich_texts=tuple(
        gemini_event({"text": piece}, tokens=5 * number) for number, piece in enumerate(RICH_PIECES, start=1)
    ),
    last_text=around_stamp(gemini_event({"text": "@ done."}, finishReason="STOP")),
    code=around_stamp(
        gemini_event({"executableCode": {"language": "PYTHON", "code": "# @\nplt.plot(range(9))\nplt.show()"}})
    ),
    result=around_stamp(gemini_event({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "@\n"}})),
    graphs=tuple(graph_event(seed) for seed in range(GRAPHS)),
    end=b"",
)
GEMINI_TITLE = gemini_event({"text": TITLE}, finishReason="STOP")

OPENAI = Form(
    texts=tuple(around_stamp(openai_event(piece)) for piece in PIECES),
    rich_texts=tuple(openai_event(piece) for piece in RICH_PIECES),
    last_text=around_stamp(openai_event("@ done.", "stop")),
    code=None,
    result=None,
    graphs=(),
    end=b"data: [DONE]\n\n",
)
OPENAI_TITLE = openai_event(TITLE, "stop") + OPENAI.end
OPENAI_TITLE_WHOLE = dumped(
    {
        "id": "bench",
        "object": "chat.completion",
        "created": 1,
        "model": "bench",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": TITLE}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 2, "total_tokens": 14},
    }
)
OPENAI_MODELS = dumped(
    {"object": "list", "data": [{"id": "bench", "object": "model", "created": 1, "owned_by": "bench"}]}
)
