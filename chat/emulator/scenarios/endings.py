"""Scenarios of how an answer ends when it does not end well."""

from __future__ import annotations

from collections.abc import Iterator

from chat.emulator import wire
from chat.emulator.scenarios.registry import scenario
from chat.emulator.scenarios.texts import PLAIN
from chat.emulator.voice import Form, Voice
from chat.emulator.wire import Step

RATINGS = [
    {"category": "HARM_CATEGORY_HATE_SPEECH", "probability": "HIGH", "blocked": True},
    {"category": "HARM_CATEGORY_HARASSMENT", "probability": "NEGLIGIBLE"},
]


@scenario("unknown-finish")
def _unknown_finish(voice: Voice, amount: int) -> Iterator[Step]:
    """A finishReason that nobody knows yet."""
    yield from voice.say(PLAIN)
    yield voice.end("NEWLY_INVENTED")


@scenario("max-tokens")
def _max_tokens(voice: Voice, amount: int) -> Iterator[Step]:
    """Text cut off by MAX_TOKENS."""
    yield from voice.say(PLAIN[:90], finish="MAX_TOKENS")


@scenario("max-tokens-without-text")
def _max_tokens_without_text(voice: Voice, amount: int) -> Iterator[Step]:
    """Thoughts that ate the whole budget."""
    yield voice.chunk(wire.thought("**Thinking for long**\n\nThere is so much to consider.\n\n\n"))
    yield voice.chunk(finish="MAX_TOKENS")


@scenario("safety")
def _safety(voice: Voice, amount: int) -> Iterator[Step]:
    """Some text, then SAFETY with ratings and no parts."""
    yield from voice.say(PLAIN[:60])
    yield voice.respond({"content": {}}, finish="SAFETY", safetyRatings=RATINGS)


@scenario("recitation")
def _recitation(voice: Voice, amount: int) -> Iterator[Step]:
    """Some text, then RECITATION without content."""
    yield from voice.say(PLAIN[:60])
    yield voice.respond({}, finish="RECITATION")


@scenario("prompt-blocked")
def _prompt_blocked(voice: Voice, amount: int) -> Iterator[Step]:
    """The prompt is refused: one chunk without candidates."""
    yield voice.envelope({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT", "safetyRatings": RATINGS}})


@scenario("model-armor")
def _model_armor(voice: Voice, amount: int) -> Iterator[Step]:
    """The prompt is refused by the project's own filter: one chunk without candidates."""
    message = "Blocked by Model Armor: the prompt violated a filter."
    yield voice.envelope({"promptFeedback": {"blockReason": "MODEL_ARMOR", "blockReasonMessage": message}})


@scenario("spii")
def _spii(voice: Voice, amount: int) -> Iterator[Step]:
    """Some text, then SPII without content."""
    yield from voice.say(PLAIN[:60])
    yield voice.respond({}, finish="SPII")


@scenario("image-safety")
def _image_safety(voice: Voice, amount: int) -> Iterator[Step]:
    """An image model's IMAGE_SAFETY with a message, without parts."""
    message = "Unable to show the generated image. The image may violate a policy."
    yield voice.respond({"content": {}}, finish="IMAGE_SAFETY", finishMessage=message)


@scenario("escalation")
def _escalation(voice: Voice, amount: int) -> Iterator[Step]:
    """Some text, then ESCALATION."""
    yield from voice.say(PLAIN[:60], finish="ESCALATION")


@scenario("continuation")
def _continuation(voice: Voice, amount: int) -> Iterator[Step]:
    """Text cut off by CONTINUATION with a token; a call with a token gets the rest."""
    if voice.call.is_continuation:
        yield from voice.say(PLAIN[90:])
        yield voice.end()
        return
    yield from voice.say(PLAIN[:90])
    yield voice.chunk(finish="CONTINUATION", continuationToken=voice.signature())


@scenario("unexpected-tool-call")
def _unexpected_tool_call(voice: Voice, amount: int) -> Iterator[Step]:
    """UNEXPECTED_TOOL_CALL as the only chunk, without content."""
    yield voice.respond({}, finish="UNEXPECTED_TOOL_CALL", finishMessage="Unexpected tool call: google_search.")


@scenario("malformed-function-call")
def _malformed_function_call(voice: Voice, amount: int) -> Iterator[Step]:
    """MALFORMED_FUNCTION_CALL as the only chunk, without content."""
    message = "Malformed function call: print(default_api.plot("
    yield voice.respond({}, finish="MALFORMED_FUNCTION_CALL", finishMessage=message)


@scenario("too-many-tool-calls")
def _too_many_tool_calls(voice: Voice, amount: int) -> Iterator[Step]:
    """The server's tool loop gave up: code parts and no answer; without code execution, text."""
    if not voice.call.code_execution:
        yield from voice.say(PLAIN)
        yield voice.end()
        return
    for number in range(3):
        call_id = voice.call_id()
        yield voice.chunk(wire.code(f"print(data[{number}])", call_id, voice.signature()))
        failure = f"NameError: name 'data' is not defined (attempt {number + 1})\n"
        yield voice.chunk(wire.result("OUTCOME_FAILED", failure, call_id), after_s=0.5)
    yield voice.respond({}, finish="TOO_MANY_TOOL_CALLS", finishMessage="Too many tool calls.")


@scenario("empty-answer")
def _empty_answer(voice: Voice, amount: int) -> Iterator[Step]:
    """One empty text part and STOP."""
    yield voice.chunk(wire.text(""), finish="STOP")


@scenario("last-chunk-without-parts", form=Form.GEMINI_2_5)
def _last_chunk_without_parts(voice: Voice, amount: int) -> Iterator[Step]:
    """Text, then a last content without parts."""
    yield from voice.say(PLAIN)
    yield voice.chunk(finish="STOP")


@scenario("without-finish")
def _without_finish(voice: Voice, amount: int) -> Iterator[Step]:
    """The stream ends cleanly in the middle of a sentence, with no finishReason at all."""
    yield from voice.say(PLAIN[:100])
