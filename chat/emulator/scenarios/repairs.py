"""Scenarios that fail until the client does what it should: wait, ask again, strip signatures, leave something out.

"First equal call" means: no call with the same model and contents came before.
"""

from __future__ import annotations

from collections.abc import Iterator

from chat.emulator import normal_form, wire
from chat.emulator.scenarios import drawing
from chat.emulator.scenarios.code import PLOT, PRODUCT, code_round
from chat.emulator.scenarios.faults import overloaded
from chat.emulator.scenarios.registry import scenario
from chat.emulator.scenarios.texts import PLAIN
from chat.emulator.voice import Voice
from chat.emulator.wire import Step


def _plain(voice: Voice) -> Iterator[Step]:
    yield from voice.say(PLAIN)
    yield voice.end()


def _is_first_turn(voice: Voice) -> bool:
    return not any(content.get("role") == "model" for content in voice.call.contents)


@scenario("unavailable-once")
def _unavailable_once(voice: Voice, amount: int) -> Iterator[Step]:
    """503 to the first equal call, text to every later one."""
    yield from _unavailable_times(voice, 1)


@scenario("unavailable-times", amount=2)
def _unavailable_times(voice: Voice, amount: int) -> Iterator[Step]:
    """503 to the first two equal calls (or the number given), text to every later one."""
    if voice.call.number < amount:
        yield overloaded()
        return
    yield from _plain(voice)


@scenario("empty-answer-once")
def _empty_answer_once(voice: Voice, amount: int) -> Iterator[Step]:
    """An empty answer to the first equal call, text to every later one."""
    if voice.call.number == 0:
        yield voice.chunk(finish="STOP")
        return
    yield from _plain(voice)


@scenario("empty-answer-thoughts-once")
def _empty_answer_thoughts_once(voice: Voice, amount: int) -> Iterator[Step]:
    """A thought and nothing else to the first equal call, text to every later one."""
    if voice.call.number == 0:
        yield voice.chunk(wire.thought("**Thinking it over**\n\nThis needs some care.\n\n\n"))
        yield voice.chunk(finish="STOP")
        return
    yield from _plain(voice)


@scenario("malformed-function-call-once")
def _malformed_function_call_once(voice: Voice, amount: int) -> Iterator[Step]:
    """MALFORMED_FUNCTION_CALL without content to the first equal call, text to every later one."""
    if voice.call.number == 0:
        message = "Malformed function call: print(default_api.plot("
        yield voice.respond({}, finish="MALFORMED_FUNCTION_CALL", finishMessage=message)
        return
    yield from _plain(voice)


@scenario("malformed-response-once")
def _malformed_response_once(voice: Voice, amount: int) -> Iterator[Step]:
    """MALFORMED_RESPONSE without content to the first equal call, text to every later one."""
    if voice.call.number == 0:
        yield voice.respond({}, finish="MALFORMED_RESPONSE", finishMessage="Malformed response.")
        return
    yield from _plain(voice)


@scenario("missing-signature")
def _missing_signature(voice: Voice, amount: int) -> Iterator[Step]:
    """MISSING_THOUGHT_SIGNATURE without parts to the first equal call, text to every later one."""
    if voice.call.number == 0:
        yield voice.chunk(finish="MISSING_THOUGHT_SIGNATURE")
        return
    yield from _plain(voice)


@scenario("corrupted-signature-once")
def _corrupted_signature_once(voice: Voice, amount: int) -> Iterator[Step]:
    """Signed code in the first turn; later 400 for any signature that is no dummy, and text without them."""
    if _is_first_turn(voice):
        yield from code_round(voice, PRODUCT, output="42\n")
        yield from voice.say("The product of 6 and 7 is **42**.")
        yield voice.end()
        return
    if normal_form.has_signature(voice.call.parts()):
        yield wire.refusal(400, "Corrupted thought signature.", "INVALID_ARGUMENT")
        return
    yield from _plain(voice)


@scenario("context-limit", amount=1000)
def _context_limit(voice: Voice, amount: int) -> Iterator[Step]:
    """400 for contents of more than 1,000 characters of text (or the number given), else text."""
    length = sum(len(part.get("text") or "") for part in voice.call.parts())
    if length > amount:
        message = f"The input token count ({length}) exceeds the maximum number of tokens allowed ({amount})."
        yield wire.refusal(400, message, "INVALID_ARGUMENT")
        return
    yield from _plain(voice)


@scenario("images-refused")
def _images_refused(voice: Voice, amount: int) -> Iterator[Step]:
    """Code and a graph in the first turn; later 400 as long as a graph comes back, and text without one."""
    if _is_first_turn(voice):
        yield from code_round(voice, PLOT, output="done\n", images=(drawing.chart(seed=7),))
        yield from voice.say("The points follow a sine curve.")
        yield voice.end()
        return
    answers = [content for content in voice.call.contents if content.get("role") == "model"]
    if any("inlineData" in part for content in answers for part in content["parts"]):
        yield wire.refusal(400, "Unable to process input image.", "INVALID_ARGUMENT")
        return
    yield from _plain(voice)


@scenario("file-refused-once")
def _file_refused_once(voice: Voice, amount: int) -> Iterator[Step]:
    """403 to the first equal call that has a file of the Files API, whatever its URI; text to every later one."""
    uris = [part["fileData"].get("fileUri", "") for part in voice.call.parts() if "fileData" in part]
    if uris and voice.call.number == 0:
        name = uris[0].rpartition("/")[2]
        message = f"You do not have permission to access the File {name} or it may not exist."
        yield wire.refusal(403, message, "PERMISSION_DENIED")
        return
    yield from _plain(voice)
