"""Hypothesis strategies of Gemini's wire format."""

from __future__ import annotations

import base64

from hypothesis import strategies as st

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
BYTES = st.binary(max_size=12).map(lambda data: base64.b64encode(data).decode())
ARGUMENTS = st.dictionaries(WORDS, st.integers() | WORDS, max_size=2)
CODE = st.fixed_dictionaries({"code": WORDS, "language": st.just("PYTHON")}, optional={"id": WORDS})
RESULT = st.fixed_dictionaries(
    {"outcome": st.sampled_from(["OUTCOME_OK", "OUTCOME_FAILED"])}, optional={"output": WORDS, "id": WORDS}
)
CALL = st.fixed_dictionaries({"name": WORDS}, optional={"args": ARGUMENTS, "id": WORDS})
BLOB = st.fixed_dictionaries({"mimeType": WORDS, "data": BYTES}, optional={"displayName": WORDS})
TOOL_CALL = st.fixed_dictionaries({"toolType": st.just("GOOGLE_SEARCH_WEB"), "args": ARGUMENTS, "id": WORDS})

PARTS = st.one_of(
    st.fixed_dictionaries({"text": WORDS}, optional={"thought": st.booleans(), "thoughtSignature": BYTES}),
    st.fixed_dictionaries({"executableCode": CODE}, optional={"thoughtSignature": BYTES}),
    st.fixed_dictionaries({"codeExecutionResult": RESULT}),
    st.fixed_dictionaries({"inlineData": BLOB}),
    st.fixed_dictionaries({"fileData": st.fixed_dictionaries({"mimeType": WORDS, "fileUri": WORDS})}),
    st.fixed_dictionaries({"functionCall": CALL}, optional={"thoughtSignature": BYTES}),
    st.fixed_dictionaries({"thoughtSignature": BYTES}),
)
"""Parts that both APIs know."""
DEVELOPER_API_PARTS = PARTS | st.one_of(
    st.fixed_dictionaries({"text": WORDS, "partMetadata": st.dictionaries(WORDS, WORDS, max_size=2)}),
    st.fixed_dictionaries({"toolCall": TOOL_CALL}, optional={"thoughtSignature": BYTES}),
)
"""Parts that the Developer API knows. For Vertex AI the SDK refuses some of them."""

COUNTS = (
    "promptTokenCount",
    "toolUsePromptTokenCount",
    "thoughtsTokenCount",
    "candidatesTokenCount",
    "cachedContentTokenCount",
    "totalTokenCount",
)
CANDIDATE = st.fixed_dictionaries(
    {},
    optional={
        "content": st.fixed_dictionaries(
            {"role": st.just("model")}, optional={"parts": st.lists(DEVELOPER_API_PARTS, max_size=3)}
        ),
        "finishReason": st.sampled_from(["STOP", "MAX_TOKENS"]),
        "index": st.just(0),
    },
)
CHUNKS = st.fixed_dictionaries(
    {},
    optional={
        "responseId": WORDS,
        "modelVersion": WORDS,
        "promptFeedback": st.fixed_dictionaries({"blockReason": st.sampled_from(["SAFETY", "OTHER"])}),
        "candidates": st.lists(CANDIDATE, max_size=2),
        "usageMetadata": st.fixed_dictionaries({}, optional={name: st.integers(0, 10**6) for name in COUNTS}),
    },
)
