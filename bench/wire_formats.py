"""The bytes of the upstream's answers in the formats of four protocols, built once at import. Pure functions."""

from __future__ import annotations

import base64
import io
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from PIL import Image

from bench.answers import PIECES, RICH_PIECES, Answer

#: Bytes to send unchanged, or the bytes before and after a stamp.
Step = tuple[bytes, bytes] | bytes

#: Number of different graphs. The n-th graph of every answer is the same.
GRAPHS = 16

#: 142 x 142 x 3 bytes of noise, which cannot be compressed, make a PNG of 60 KB.
GRAPH_SIDE_PIXELS = 142

#: The answer to a prompt that is no `Answer`, because products ask the model for a conversation title.
TITLE = "A title"


@dataclass(frozen=True, slots=True)
class WireFormat:
    """The chunks of an answer in the format of one API."""

    texts: tuple[Step, ...]
    rich_texts: tuple[Step, ...]
    """Text chunks without stamps, for rich answers."""
    last_text: Step
    code: Step | None
    """The chunk with code; None if the API has no code, results and images."""
    result: Step | None
    """The chunk with the code's result; None if the API has none."""
    graphs: tuple[bytes, ...]
    end: bytes
    """Bytes after the last text chunk."""
    title: bytes
    """The answer to a prompt that is no `Answer`."""
    start: bytes = b""
    """Bytes before the first chunk."""

    def generate_steps(self, answer: Answer) -> Iterator[tuple[float, Step]]:
        """Yield each step of an answer with the time when it is due, in seconds from the start."""
        texts = self.rich_texts if answer.is_rich else self.texts
        positions = sorted(answer.compute_graph_positions()) if self.graphs else []
        if self.start:
            yield answer.compute_due_s(0), self.start
        for index in range(answer.chunks):
            due_s = answer.compute_due_s(index)
            if index in positions and self.code and self.result:
                yield due_s, self.code
                yield due_s, self.result
                yield due_s, self.graphs[positions.index(index) % GRAPHS]
            yield due_s, texts[index % len(texts)] if index < answer.chunks - 1 else self.last_text
        if self.end:
            yield answer.compute_due_s(answer.chunks - 1), self.end


def encode_json(value: dict[str, Any]) -> bytes:
    """Encode JSON as the APIs do: UTF-8 without blanks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def encode_gemini_event(*parts: dict[str, Any], tokens: int = 0, **candidate: str) -> bytes:
    """Encode one of Gemini's server-sent events; `tokens` counts the answer up to and including this event."""
    response = {
        "candidates": [{"content": {"parts": list(parts), "role": "model"}, **candidate, "index": 0}],
        "usageMetadata": {"promptTokenCount": 12, "candidatesTokenCount": tokens, "totalTokenCount": 12 + tokens},
        "modelVersion": "bench",
        "responseId": "bench-response",
    }
    return b"data: " + encode_json(response) + b"\r\n\r\n"


def encode_openai_event(text: str, finish_reason: str | None = None) -> bytes:
    """Encode one server-sent event of OpenAI's chat completions."""
    choice = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": finish_reason}
    chunk = {"id": "bench", "object": "chat.completion.chunk", "created": 1, "model": "bench", "choices": [choice]}
    return b"data: " + encode_json(chunk) + b"\n\n"


def encode_named_events(*events: dict[str, Any]) -> bytes:
    """Encode server-sent events of the Responses or the Interactions API."""
    kinds = [event.get("type") or event["event_type"] for event in events]
    return b"".join(
        b"event: %s\ndata: %s\n\n" % (kind.encode(), encode_json(event))
        for kind, event in zip(kinds, events, strict=True)
    )


def encode_responses_delta(text: str) -> bytes:
    """Encode a piece of text of the Responses API."""
    place = {"item_id": "bench", "output_index": 0, "content_index": 0}
    return encode_named_events({"type": "response.output_text.delta", **place, "delta": text})


def encode_interactions_delta(text: str) -> bytes:
    """Encode a piece of text of the Interactions API."""
    return encode_named_events({"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": text}})


def split_at_stamp(data: bytes) -> tuple[bytes, bytes]:
    """Return the bytes before and after the stamp's digits; the stamp replaces the only @ in `data`."""
    before, after = data.split(b"@")
    return before + "⟨".encode(), "⟩".encode() + after


def make_graph_event(seed: int) -> bytes:
    """Return a Gemini event with a PNG of 60 KB."""
    side = GRAPH_SIDE_PIXELS
    image = Image.frombytes("RGB", (side, side), random.Random(seed).randbytes(side * side * 3))
    png = io.BytesIO()
    image.save(png, "PNG")
    data = base64.b64encode(png.getvalue()).decode()
    return encode_gemini_event({"inlineData": {"mimeType": "image/png", "data": data}})


GEMINI = WireFormat(
    # Consecutive events carry different token counts, as Gemini's do.
    texts=tuple(
        split_at_stamp(encode_gemini_event({"text": piece}, tokens=5 * number))
        for number, piece in enumerate(PIECES, start=1)
    ),
    rich_texts=tuple(
        encode_gemini_event({"text": piece}, tokens=5 * number) for number, piece in enumerate(RICH_PIECES, start=1)
    ),
    last_text=split_at_stamp(encode_gemini_event({"text": "@ done."}, finishReason="STOP")),
    code=split_at_stamp(
        encode_gemini_event({"executableCode": {"language": "PYTHON", "code": "# @\nplt.plot(range(9))\nplt.show()"}})
    ),
    result=split_at_stamp(encode_gemini_event({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "@\n"}})),
    graphs=tuple(make_graph_event(seed) for seed in range(GRAPHS)),
    end=b"",
    title=encode_gemini_event({"text": TITLE}, finishReason="STOP"),
)


def make_text_format(encode: Callable[[str], bytes], *, end: bytes, start: bytes = b"") -> WireFormat:
    """Return the format of a protocol without code, results and images. `encode` encodes a piece of text."""
    return WireFormat(
        texts=tuple(split_at_stamp(encode(piece)) for piece in PIECES),
        rich_texts=tuple(encode(piece) for piece in RICH_PIECES),
        last_text=split_at_stamp(encode("@ done.")),
        code=None,
        result=None,
        graphs=(),
        end=end,
        title=start + encode(TITLE) + end,
        start=start,
    )


OPENAI = make_text_format(encode_openai_event, end=encode_openai_event("", "stop") + b"data: [DONE]\n\n")

RESPONSE = {"id": "bench", "object": "response", "created_at": 1, "model": "bench", "output": []}
ITEM = {"id": "bench", "type": "message", "role": "assistant", "status": "in_progress", "content": []}
RESPONSES = make_text_format(
    encode_responses_delta,
    start=encode_named_events(
        {"type": "response.created", "response": {**RESPONSE, "status": "in_progress"}},
        {"type": "response.output_item.added", "output_index": 0, "item": ITEM},
    ),
    end=encode_named_events({"type": "response.completed", "response": {**RESPONSE, "status": "completed"}}),
)

INTERACTION = {"id": "bench", "object": "interaction", "model": "bench"}
INTERACTIONS = make_text_format(
    encode_interactions_delta,
    start=encode_named_events(
        {"event_type": "interaction.created", "interaction": {**INTERACTION, "status": "in_progress"}},
        {"event_type": "step.start", "index": 0, "step": {"type": "model_output"}},
    ),
    end=encode_named_events(
        {"event_type": "step.stop", "index": 0},
        {"event_type": "interaction.completed", "interaction": {**INTERACTION, "status": "completed"}},
    )
    + b"event: done\ndata: [DONE]\n\n",
)

FORMATS = {"/chat/completions": OPENAI, "/responses": RESPONSES, "/interactions": INTERACTIONS}
"""End of a request's path -> format. All other paths have Gemini's format."""

#: The title as the response to a request without `stream`.
OPENAI_TITLE_RESPONSE = encode_json(
    {
        "id": "bench",
        "object": "chat.completion",
        "created": 1,
        "model": "bench",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": TITLE}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 2, "total_tokens": 14},
    }
)
OPENAI_MODELS = encode_json(
    {"object": "list", "data": [{"id": "bench", "object": "model", "created": 1, "owned_by": "bench"}]}
)
