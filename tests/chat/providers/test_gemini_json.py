"""Our own reading of a chunk equals the SDK's for all that the SDK knows; recordings are read both ways elsewhere."""

from __future__ import annotations

import base64
import json
from typing import Any

from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from chat.parts import StreamEvent
from chat.providers.gemini_json import events_of_json
from chat.providers.gemini_sse import StreamParser
from chat.providers.gemini_wire import events_of

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
BYTES = st.binary(max_size=12).map(lambda data: base64.b64encode(data).decode())
ID = st.fixed_dictionaries({}, optional={"id": WORDS})
CODE = st.fixed_dictionaries({"code": WORDS, "language": st.just("PYTHON")}, optional={"id": WORDS})
RESULT = st.fixed_dictionaries(
    {"outcome": st.sampled_from(["OUTCOME_OK", "OUTCOME_FAILED"])}, optional={"output": WORDS, "id": WORDS}
)
CALL = st.fixed_dictionaries({"name": WORDS, "args": st.dictionaries(WORDS, st.integers() | WORDS, max_size=2)})
PARTS = st.one_of(
    st.fixed_dictionaries({"text": WORDS}, optional={"thought": st.booleans(), "thoughtSignature": BYTES}),
    st.fixed_dictionaries({"executableCode": CODE}, optional={"thoughtSignature": BYTES}),
    st.fixed_dictionaries({"codeExecutionResult": RESULT}),
    st.fixed_dictionaries({"inlineData": st.fixed_dictionaries({"mimeType": WORDS, "data": BYTES})}),
    st.fixed_dictionaries({"fileData": st.fixed_dictionaries({"mimeType": WORDS, "fileUri": WORDS})}),
    st.fixed_dictionaries({"functionCall": CALL}, optional={"thoughtSignature": BYTES}),
    st.fixed_dictionaries({"thoughtSignature": BYTES}),
)
COUNTS = [
    "promptTokenCount",
    "toolUsePromptTokenCount",
    "thoughtsTokenCount",
    "candidatesTokenCount",
    "totalTokenCount",
]
CHUNKS = st.fixed_dictionaries(
    {},
    optional={
        "responseId": WORDS,
        "modelVersion": WORDS,
        "promptFeedback": st.fixed_dictionaries({"blockReason": st.sampled_from(["SAFETY", "OTHER"])}),
        "candidates": st.lists(
            st.fixed_dictionaries(
                {},
                optional={
                    "content": st.fixed_dictionaries({"role": st.just("model")}, optional={"parts": st.lists(PARTS)}),
                    "finishReason": st.sampled_from(["STOP", "MAX_TOKENS"]),
                    "index": st.just(0),
                },
            ),
            max_size=2,
        ),
        "usageMetadata": st.fixed_dictionaries({}, optional={name: st.integers(0, 10**6) for name in COUNTS}),
    },
)


def by_the_sdk(chunk: dict[str, Any]) -> list[StreamEvent]:
    """What the SDK's models say of a chunk."""
    return list(events_of(types.GenerateContentResponse.model_validate(chunk)))


@given(CHUNKS)
def test_any_chunk_says_the_same_either_way(chunk: dict[str, Any]) -> None:
    assert events_of_json(chunk) == by_the_sdk(chunk)


@given(st.lists(CHUNKS, max_size=4), st.data())
def test_stream_cut_anywhere_gives_the_same_events(chunks: list[dict[str, Any]], data: st.DataObject) -> None:
    body = b"".join(b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\r\n\r\n" for chunk in chunks)
    parser = StreamParser()
    found: list[dict[str, Any]] = []
    while body:
        size = data.draw(st.integers(1, len(body)))
        found += parser.feed(body[:size])
        body = body[size:]
    found += parser.close()
    assert found == chunks
