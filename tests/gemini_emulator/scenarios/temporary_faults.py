"""Scenarios that fail until the client reacts correctly: waits, repeats the request, or leaves out parts of it.

"The first request" is the first one with its model and contents.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from chat.emulator import wire
from chat.emulator.chunk_builder import ChunkBuilder
from chat.emulator.wire import Step
from tests.gemini_emulator.content_digest import has_signature
from tests.gemini_emulator.scenarios.chart_image import draw_chart
from tests.gemini_emulator.scenarios.code import PLOT, PRODUCT, code_round
from tests.gemini_emulator.scenarios.faults import overloaded_error
from tests.gemini_emulator.scenarios.registry import ScenarioCall, scenario
from tests.gemini_emulator.scenarios.text import PLAIN
from tests.gemini_emulator.steps import http_error


def _text_answer(builder: ChunkBuilder) -> Iterator[Step]:
    yield from builder.text_chunks(PLAIN)
    yield builder.last_chunk()


def _is_first_turn(builder: ChunkBuilder) -> bool:
    return not any(content.get("role") == "model" for content in builder.request.contents)


@scenario("unavailable-once")
def _unavailable_once(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """503 for the first request, text if it is repeated."""
    yield from _unavailable_times(builder, replace(call, amount=1))


@scenario("unavailable-times", amount=2)
def _unavailable_times(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """503 for the first two equal requests (or the number given), then text."""
    if call.repetition < call.amount:
        yield overloaded_error()
        return
    yield from _text_answer(builder)


@scenario("empty-answer-once")
def _empty_answer_once(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """An empty answer for the first request, text if it is repeated."""
    if call.is_first:
        yield builder.chunk(finish="STOP")
        return
    yield from _text_answer(builder)


@scenario("empty-response-once")
def _empty_response_once(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Status 200 without any chunk for the first request, text if it is repeated."""
    if not call.is_first:
        yield from _text_answer(builder)


@scenario("empty-answer-thoughts-once")
def _empty_answer_thoughts_once(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Only a thought for the first request, text if it is repeated."""
    if call.is_first:
        yield builder.chunk(wire.thought_part("**Thinking it over**\n\nThis needs some care.\n\n\n"))
        yield builder.chunk(finish="STOP")
        return
    yield from _text_answer(builder)


@scenario("malformed-function-call-once")
def _malformed_function_call_once(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """MALFORMED_FUNCTION_CALL without content for the first request, text if it is repeated."""
    if call.is_first:
        message = "Malformed function call: print(default_api.plot("
        yield builder.candidate_chunk({}, finish="MALFORMED_FUNCTION_CALL", finishMessage=message)
        return
    yield from _text_answer(builder)


@scenario("malformed-response-once")
def _malformed_response_once(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """MALFORMED_RESPONSE without content for the first request, text if it is repeated."""
    if call.is_first:
        yield builder.candidate_chunk({}, finish="MALFORMED_RESPONSE", finishMessage="Malformed response.")
        return
    yield from _text_answer(builder)


@scenario("missing-signature")
def _missing_signature(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """MISSING_THOUGHT_SIGNATURE without parts for the first request, text if it is repeated."""
    if call.is_first:
        yield builder.chunk(finish="MISSING_THOUGHT_SIGNATURE")
        return
    yield from _text_answer(builder)


@scenario("corrupted-signature-once")
def _corrupted_signature_once(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Signed code in the first turn. Later turns get 400 if they contain signatures, else text."""
    if _is_first_turn(builder):
        yield from code_round(builder, PRODUCT, output="42\n")
        yield from builder.text_chunks("The product of 6 and 7 is **42**.")
        yield builder.last_chunk()
        return
    if has_signature(builder.request.parts()):
        yield http_error(400, "Corrupted thought signature.", "INVALID_ARGUMENT")
        return
    yield from _text_answer(builder)


@scenario("context-limit", amount=1000)
def _context_limit(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """400 for contents with more than 1,000 characters (or the number given), else text."""
    length = sum(len(part.get("text") or "") for part in builder.request.parts())
    if length > call.amount:
        message = f"The input token count ({length}) exceeds the maximum number of tokens allowed ({call.amount})."
        yield http_error(400, message, "INVALID_ARGUMENT")
        return
    yield from _text_answer(builder)


@scenario("images-refused")
def _images_refused(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Code and a graph in the first turn. Later turns get 400 if they contain the graph, else text."""
    if _is_first_turn(builder):
        yield from code_round(builder, PLOT, output="done\n", images=(draw_chart(seed=7),))
        yield from builder.text_chunks("The points follow a sine curve.")
        yield builder.last_chunk()
        return
    answers = [content for content in builder.request.contents if content.get("role") == "model"]
    if any("inlineData" in part for content in answers for part in content["parts"]):
        yield http_error(400, "Unable to process input image.", "INVALID_ARGUMENT")
        return
    yield from _text_answer(builder)


@scenario("file-refused-once")
def _file_refused_once(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """403 for the first request with a file of the Files API, text if it is repeated with any file URI."""
    uris = [part["fileData"].get("fileUri", "") for part in builder.request.parts() if "fileData" in part]
    if uris and call.is_first:
        name = uris[0].rpartition("/")[2]
        message = f"You do not have permission to access the File {name} or it may not exist."
        yield http_error(403, message, "PERMISSION_DENIED")
        return
    yield from _text_answer(builder)


@scenario("document-refused")
def _document_refused(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """400 for contents with a file, else text."""
    if any("inlineData" in part for part in builder.request.parts()):
        yield http_error(400, "The document has no pages.", "INVALID_ARGUMENT")
        return
    yield from _text_answer(builder)
