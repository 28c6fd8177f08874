"""Scenarios of abnormal endings of an answer."""

from __future__ import annotations

from collections.abc import Iterator

from chat.emulator import wire
from chat.emulator.chunk_builder import ChunkBuilder
from chat.emulator.wire import Step
from tests.gemini_emulator.gemini_2_5 import Gemini25ChunkBuilder
from tests.gemini_emulator.scenarios.registry import ScenarioCall, scenario
from tests.gemini_emulator.scenarios.text import PLAIN

RATINGS = [
    {"category": "HARM_CATEGORY_HATE_SPEECH", "probability": "HIGH", "blocked": True},
    {"category": "HARM_CATEGORY_HARASSMENT", "probability": "NEGLIGIBLE"},
]


@scenario("unknown-finish")
def _unknown_finish(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Text with a finish reason that no client knows."""
    yield from builder.text_chunks(PLAIN)
    yield builder.last_chunk("NEWLY_INVENTED")


@scenario("max-tokens")
def _max_tokens(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Text cut off by MAX_TOKENS."""
    yield from builder.text_chunks(PLAIN[:90], finish="MAX_TOKENS")


@scenario("max-tokens-without-text")
def _max_tokens_without_text(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Thoughts that use the whole token budget, then MAX_TOKENS without text."""
    yield builder.chunk(wire.thought_part("**Thinking for long**\n\nThere is so much to consider.\n\n\n"))
    yield builder.chunk(finish="MAX_TOKENS")


@scenario("safety")
def _safety(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Some text, then SAFETY with ratings and no parts."""
    yield from builder.text_chunks(PLAIN[:60])
    yield builder.candidate_chunk({"content": {}}, finish="SAFETY", safetyRatings=RATINGS)


@scenario("recitation")
def _recitation(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Some text, then RECITATION without content."""
    yield from builder.text_chunks(PLAIN[:60])
    yield builder.candidate_chunk({}, finish="RECITATION")


@scenario("prompt-blocked")
def _prompt_blocked(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """A blocked prompt: one chunk without candidates."""
    yield builder.response_chunk({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT", "safetyRatings": RATINGS}})


@scenario("model-armor")
def _model_armor(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """A prompt blocked by Model Armor: one chunk without candidates."""
    message = "Blocked by Model Armor: the prompt violated a filter."
    yield builder.response_chunk({"promptFeedback": {"blockReason": "MODEL_ARMOR", "blockReasonMessage": message}})


@scenario("spii")
def _spii(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Some text, then SPII without content."""
    yield from builder.text_chunks(PLAIN[:60])
    yield builder.candidate_chunk({}, finish="SPII")


@scenario("image-safety")
def _image_safety(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """An image model's IMAGE_SAFETY with a message, without parts."""
    message = "Unable to show the generated image. The image may violate a policy."
    yield builder.candidate_chunk({"content": {}}, finish="IMAGE_SAFETY", finishMessage=message)


@scenario("escalation")
def _escalation(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Some text, then ESCALATION."""
    yield from builder.text_chunks(PLAIN[:60], finish="ESCALATION")


@scenario("continuation")
def _continuation(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Text cut off by CONTINUATION with a token. A request with a token gets the rest."""
    if "continuationToken" in builder.request.body:
        yield from builder.text_chunks(PLAIN[90:])
        yield builder.last_chunk()
        return
    yield from builder.text_chunks(PLAIN[:90])
    yield builder.chunk(finish="CONTINUATION", continuationToken=builder.new_signature())


@scenario("unexpected-tool-call")
def _unexpected_tool_call(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """UNEXPECTED_TOOL_CALL as the only chunk, without content."""
    yield builder.candidate_chunk(
        {}, finish="UNEXPECTED_TOOL_CALL", finishMessage="Unexpected tool call: google_search."
    )


@scenario("malformed-function-call")
def _malformed_function_call(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """MALFORMED_FUNCTION_CALL as the only chunk, without content."""
    message = "Malformed function call: print(default_api.plot("
    yield builder.candidate_chunk({}, finish="MALFORMED_FUNCTION_CALL", finishMessage=message)


@scenario("too-many-tool-calls")
def _too_many_tool_calls(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """TOO_MANY_TOOL_CALLS after failing code, or text if code execution is off."""
    if not builder.request.has_code_execution:
        yield from builder.text_chunks(PLAIN)
        yield builder.last_chunk()
        return
    for number in range(3):
        code_id = builder.new_id()
        yield builder.chunk(wire.code_part(f"print(data[{number}])", code_id, builder.new_signature()))
        failure = f"NameError: name 'data' is not defined (attempt {number + 1})\n"
        yield builder.chunk(wire.result_part("OUTCOME_FAILED", failure, code_id), after_s=0.5)
    yield builder.candidate_chunk({}, finish="TOO_MANY_TOOL_CALLS", finishMessage="Too many tool calls.")


@scenario("empty-answer")
def _empty_answer(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """One empty text part and STOP."""
    yield builder.chunk(wire.text_part(""), finish="STOP")


@scenario("empty-response")
def _empty_response(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Status 200 and a chunk with token counts only: no candidate, no finish reason."""
    yield builder.response_chunk({})


@scenario("thoughts-only")
def _thoughts_only(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """A thought, a part that holds only a signature, a part that holds nothing, and STOP."""
    yield builder.chunk(wire.thought_part("**Thinking it over**\n\nThis needs some care.\n\n\n"))
    yield builder.chunk({"thoughtSignature": builder.new_signature()}, {}, finish="STOP")


@scenario("signature-only")
def _signature_only(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Only a part that holds nothing but a signature, and STOP."""
    yield builder.chunk({"thoughtSignature": builder.new_signature()}, finish="STOP")


@scenario("signature-in-text")
def _signature_in_text(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Text that parts with only a signature, or nothing, cut in the middle of a word."""
    yield builder.chunk(wire.text_part("This is **impor"))
    yield builder.chunk({"thoughtSignature": builder.new_signature()}, {})
    yield builder.chunk(wire.text_part("tant**."), finish="STOP")


@scenario("search-only")
def _search_only(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """A server-side search and its result, and no answer."""
    search = {"toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["longest river"]}, "id": builder.new_id()}
    found = {"toolType": "GOOGLE_SEARCH_WEB", "response": {"search_suggestions": "<b>rivers</b>"}, "id": search["id"]}
    yield builder.chunk({"toolCall": search, "thoughtSignature": builder.new_signature()})
    yield builder.chunk({"toolResponse": found, "thoughtSignature": builder.new_signature()}, finish="STOP")


@scenario("last-chunk-without-parts", builder_class=Gemini25ChunkBuilder)
def _last_chunk_without_parts(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Text, then a last content without parts."""
    yield from builder.text_chunks(PLAIN)
    yield builder.chunk(finish="STOP")


@scenario("without-finish")
def _without_finish(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """A stream that ends in the middle of a sentence without any finish reason."""
    yield from builder.text_chunks(PLAIN[:100])
