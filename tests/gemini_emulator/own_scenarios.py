"""Scenarios that only Gemini's protocol has: its finish reasons, its parts, and its refusals."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from chat.emulator import wire
from chat.emulator.chunk_builder import ChunkBuilder
from chat.emulator.tool_checks import NO_CIRCULATION
from chat.emulator.wire import WireObject
from tests.gemini_emulator.request_checks import CORRUPTED, DUMMY_SIGNATURES
from tests.gemini_emulator.steps import RawBytes
from tests.scenarios.asked import Asked
from tests.scenarios.calls import numbered
from tests.scenarios.faults import BEGINNING
from tests.scenarios.steps import Calls, Chart, Code, End, HttpError, Image, Step, Text, Thought
from tests.scenarios.texts import PLAIN, PLOT, PRODUCT, TRACEBACK

AnyStep: TypeAlias = Step | wire.Step
OwnScript: TypeAlias = Callable[[ChunkBuilder, Asked], Iterable[AnyStep]]

ANSWER: Sequence[Step] = (Text(PLAIN), End())
TOKENS_AT_ONCE = 90
TOKENS = (None, "b25l", "dHdv")
"""Continuation tokens in the requests for the three responses of a long answer."""
THINKING = Thought("**Thinking it over**\n\nThis needs some care.\n\n\n")
RATINGS = [
    {"category": "HARM_CATEGORY_HATE_SPEECH", "probability": "HIGH", "blocked": True},
    {"category": "HARM_CATEGORY_HARASSMENT", "probability": "NEGLIGIBLE"},
]
BAD_CALL = "Malformed function call: print(default_api.plot("
ARMOR = "Blocked by Model Armor: the prompt violated a filter."
DEBUG = {"@type": "type.googleapis.com/google.rpc.DebugInfo", "detail": "[ORIGINAL ERROR] generic::cancelled: "}
CANCELLED = wire.error_body(499, "The operation was cancelled.", "CANCELLED", [DEBUG])
NO_IMAGE = "Unable to show the generated image. The image may violate a policy."
SEARCH: WireObject = {"toolType": "GOOGLE_SEARCH_WEB", "id": "search01"}


def signed(builder: ChunkBuilder, part: WireObject) -> WireObject:
    """Return the part with a new signature."""
    return {**part, "thoughtSignature": builder.new_signature()}


def ended(finish: str, *steps: Step, message: str = "") -> OwnScript:
    """Return a script that ends with a finish reason and no content."""
    fields: WireObject = {"finishMessage": message} if message else {}
    return lambda builder, asked: [*steps, builder.candidate_chunk({}, finish=finish, **fields)]


def ended_once(finish: str, *steps: Step, message: str = "") -> OwnScript:
    """Return a script that answers the first request as `ended` does, and a repeated request with a text."""
    script = ended(finish, *steps, message=message)
    return lambda builder, asked: ANSWER if asked.repetition else script(builder, asked)


def refused_later(refusal: HttpError, is_bad: Callable[[WireObject], bool], *first: Step) -> OwnScript:
    """Return a script that refuses every later turn as long as an earlier answer contains a bad part."""

    def script(builder: ChunkBuilder, asked: Asked) -> Iterable[Step]:
        answers = [content for content in builder.request.contents if content.get("role") == "model"]
        if not answers:
            return first
        return [refusal] if any(is_bad(part) for content in answers for part in content["parts"]) else ANSWER

    return script


def too_many_tool_calls(builder: ChunkBuilder, asked: Asked) -> Iterator[AnyStep]:
    """Fail three times, or answer if code execution is off."""
    if not asked.runs_code:
        yield from ANSWER
        return
    for number in range(3):
        failure = f"NameError: name 'data' is not defined (attempt {number + 1})\n"
        yield Code(f"print(data[{number}])", failure, "OUTCOME_FAILED")
    yield builder.candidate_chunk({}, finish="TOO_MANY_TOOL_CALLS", finishMessage="Too many tool calls.")


def context_limit(builder: ChunkBuilder, asked: Asked) -> Iterable[Step]:
    """Refuse contents with more characters than the amount."""
    length, limit = sum(len(part.get("text") or "") for part in builder.request.parts()), asked.amount
    message = f"The input token count ({length}) exceeds the maximum number of tokens allowed ({limit})."
    return [HttpError(400, "INVALID_ARGUMENT", message)] if length > limit else ANSWER


def file_refused_once(builder: ChunkBuilder, asked: Asked) -> Iterable[Step]:
    """Refuse the first request with a file of the Files API."""
    uris = [part["fileData"]["fileUri"] for part in builder.request.parts() if "fileData" in part]
    if not uris or asked.repetition:
        return ANSWER
    name = uris[0].rpartition("/")[2]
    message = f"You do not have permission to access the File {name} or it may not exist."
    return [HttpError(403, "PERMISSION_DENIED", message)]


def document_refused(builder: ChunkBuilder, asked: Asked) -> Iterable[Step]:
    """Refuse contents with a file."""
    has_file = any("inlineData" in part for part in builder.request.parts())
    return [HttpError(400, "INVALID_ARGUMENT", "The document has no pages.")] if has_file else ANSWER


def tools_not_combined(builder: ChunkBuilder, asked: Asked) -> Iterable[Step]:
    """Refuse functions beside built-in tools, as models before Gemini 3 do."""
    if (builder.request.body.get("toolConfig") or {}).get("includeServerSideToolInvocations"):
        return [HttpError(400, "INVALID_ARGUMENT", NO_CIRCULATION.format(model=builder.request.model))]
    return [Text("Without functions, I can answer."), End()]


def no_tools(builder: ChunkBuilder, asked: Asked) -> Iterable[Step]:
    """Refuse every request that offers tools."""
    if builder.request.body.get("tools"):
        model = builder.request.model.removeprefix("models/")
        return [HttpError(400, "INVALID_ARGUMENT", f"Code execution is not enabled for models/{model}")]
    return [Text("I answer without tools."), End()]


def other_model(builder: ChunkBuilder, asked: Asked) -> Iterable[Step]:
    """Answer as a version of the model `scenario-text`, as Google does after the end of a model."""
    builder.request = replace(builder.request, model="models/scenario-text-001")
    return ANSWER


def search(builder: ChunkBuilder, found: str, finish: str = "") -> Iterator[wire.Step]:
    """Send a search by the service, and its result."""
    yield builder.chunk(signed(builder, {"toolCall": {**SEARCH, "args": {"queries": ["longest river"]}}}))
    response = {"toolResponse": {**SEARCH, "response": {"search_suggestions": found}}}
    yield builder.chunk(signed(builder, response), finish=finish, after_s=1.0)


def two_finishes(builder: ChunkBuilder, asked: Asked) -> Iterator[AnyStep]:
    """Send a finish reason with the second code, and the answer after it."""
    yield from (Code(PRODUCT, "42\n"), Text("The first number is 42.\n\nSecond run:\n"))
    yield builder.chunk(wire.code_part("print(product + 100)"), finish="STOP")
    yield builder.chunk(wire.result_part("OUTCOME_OK", "142\n"))
    yield Text("The second number is 142.", "STOP")


def two_results(builder: ChunkBuilder, asked: Asked) -> Iterator[AnyStep]:
    """Send two results of one block of code, which prints and then raises."""
    yield builder.chunk(signed(builder, wire.code_part("print('ok')\n1 / 0", "printed1")), wire.text_part(""))
    yield builder.chunk(wire.result_part("OUTCOME_OK", "ok\n", "printed1"))
    yield builder.chunk(wire.result_part("OUTCOME_FAILED", TRACEBACK, "printed1"))
    yield from (Text("It printed `ok`, then it failed."), End())


def unknown_outcome(builder: ChunkBuilder, asked: Asked) -> Iterator[AnyStep]:
    """Send an outcome and a language that no client knows."""
    code = {"language": "JULIA", "code": "println(42)", "id": "unknown1"}
    yield builder.chunk(signed(builder, {"executableCode": code}))
    yield builder.chunk(wire.result_part("OUTCOME_PAUSED", "42\n", "unknown1"))
    yield End()


def image_shared_chunk(builder: ChunkBuilder, asked: Asked) -> Iterator[AnyStep]:
    """Send a graph in the same chunk as the result of its code."""
    yield builder.chunk(signed(builder, wire.code_part(PLOT, "drawn001")), wire.text_part(""))
    yield builder.chunk(wire.result_part("OUTCOME_OK", "done\n", "drawn001"), wire.image_part(Chart(seed=2).data))
    yield from (Text("The points follow a sine curve."), End())


def image_in_output(builder: ChunkBuilder, asked: Asked) -> Iterable[AnyStep]:
    """Print a graph as a data URL, between two lines."""
    url = "data:image/png;base64," + base64.b64encode(Chart(400, 250, seed=6).data).decode()
    return [Code(PLOT, f"before\n{url}\nafter\n"), Text("The graph came inside the output."), End()]


def image_invalid(builder: ChunkBuilder, asked: Asked) -> Iterator[AnyStep]:
    """Send bytes with the type of an image that are none."""
    yield Code(PLOT)
    yield builder.chunk(wire.image_part(b"<svg onload=alert(1)>this is no PNG"))
    yield from (Text("The graph is broken."), End())


def continuation(builder: ChunkBuilder, asked: Asked) -> Iterable[AnyStep]:
    """Send a text in three responses, each with the token for the next. With an amount, refuse every token."""
    token = builder.request.body.get("continuationToken")
    if token not in TOKENS or (token and asked.amount):
        return [HttpError(400, "INVALID_ARGUMENT", "The continuation token is not valid.")]
    number = TOKENS.index(token)
    text = PLAIN[number * TOKENS_AT_ONCE :]
    if number == len(TOKENS) - 1:
        return [Text(text), End()]
    following = builder.chunk(finish="CONTINUATION", continuationToken=TOKENS[number + 1])
    return [Text(text[:TOKENS_AT_ONCE]), following]


OWN_SCENARIOS: Mapping[str, OwnScript] = {
    # Finish reasons of the service.
    "unknown-finish": lambda builder, asked: [Text(PLAIN), End("NEWLY_INVENTED")],
    "continuation": continuation,
    "continuation-after-call": lambda builder, asked: (
        continuation(builder, asked) if asked.results else [Calls(numbered(asked, asked.functions[:1]))]
    ),
    "safety": lambda builder, asked: [
        Text(BEGINNING),
        builder.candidate_chunk({"content": {}}, finish="SAFETY", safetyRatings=RATINGS),
    ],
    "recitation": ended("RECITATION", Text(BEGINNING)),
    "spii": ended("SPII", Text(BEGINNING)),
    "escalation": lambda builder, asked: [Text(BEGINNING, "ESCALATION")],
    "image-safety": ended("IMAGE_SAFETY", message=NO_IMAGE),
    "prompt-blocked": lambda builder, asked: [
        builder.response_chunk({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT", "safetyRatings": RATINGS}})
    ],
    "model-armor": lambda builder, asked: [
        builder.response_chunk({"promptFeedback": {"blockReason": "MODEL_ARMOR", "blockReasonMessage": ARMOR}})
    ],
    "unexpected-tool-call": ended("UNEXPECTED_TOOL_CALL", message="Unexpected tool call: google_search."),
    "too-many-tool-calls": too_many_tool_calls,
    # Faults of the model, and answers without content.
    "malformed-function-call": ended("MALFORMED_FUNCTION_CALL", message=BAD_CALL),
    "malformed-function-call-once": ended_once("MALFORMED_FUNCTION_CALL", message=BAD_CALL),
    "malformed-response-once": ended_once("MALFORMED_RESPONSE", message="Malformed response."),
    "missing-signature": ended_once("MISSING_THOUGHT_SIGNATURE"),
    "empty-answer": lambda builder, asked: [builder.chunk(wire.text_part(""), finish="STOP")],
    "empty-answer-once": ended_once("STOP"),
    "empty-answer-thoughts-once": ended_once("STOP", THINKING),
    "empty-response": lambda builder, asked: [builder.response_chunk({})],
    "empty-response-once": lambda builder, asked: ANSWER if asked.repetition else [],
    "thoughts-only": lambda builder, asked: [THINKING, builder.chunk(signed(builder, {}), {}, finish="STOP")],
    "signature-only": lambda builder, asked: [builder.chunk(signed(builder, {}), finish="STOP")],
    "signature-in-text": lambda builder, asked: [
        Text("This is **impor", whole=True),
        builder.chunk(signed(builder, {}), {}),
        Text("tant**.", "STOP", whole=True),
    ],
    "search-only": lambda builder, asked: search(builder, "<b>rivers</b>", finish="STOP"),
    "last-chunk-without-parts": lambda builder, asked: [Text(PLAIN), builder.chunk(finish="STOP")],
    # Faults inside a stream. A bare error is a JSON object over several lines.
    "error-in-stream-bare": lambda builder, asked: [Text(BEGINNING), RawBytes(wire.serialize_indented(CANCELLED))],
    "malformed-json": lambda builder, asked: [
        Text(BEGINNING),
        RawBytes(b'data: {"candidates": [{"content": oops\r\n\r\n'),
    ],
    # Code and images.
    "code-without-ids": lambda builder, asked: [
        *(Text("I will calculate this. "), Code(PRODUCT, "42\n")),
        Text("The product of 6 and 7 is **42**.", "STOP"),
    ],
    "code-without-result": lambda builder, asked: [
        builder.chunk(wire.code_part('print(file_search.query(query="rivers"))')),
        Text("The file says nothing of rivers.", "STOP"),
    ],
    "code-unknown-outcome": unknown_outcome,
    "two-finishes": two_finishes,
    "two-results": two_results,
    "image-shared-chunk": image_shared_chunk,
    "image-in-output": image_in_output,
    "image-invalid": image_invalid,
    "image-only": lambda builder, asked: [Image(Chart(640, 640, seed=21)), builder.chunk(finish="STOP")],
    # Other parts.
    "tool-call": lambda builder, asked: [
        *search(builder, "Volga, 3530 km"),
        *(Text("The longest river in Europe is the **Volga** with about 3,530 km."), End()),
    ],
    "undeclared-function-calls": lambda builder, asked: [
        builder.chunk(signed(builder, wire.call_part("get_weather", {"city_name": "Oslo"}, builder.new_id(), ""))),
        builder.chunk(wire.call_part("get_weather", {"city_name": "Rome"}, builder.new_id(), "")),
        builder.chunk(wire.text_part(""), finish="STOP"),
    ],
    "unknown-part": lambda builder, asked: [
        Text("Before the new kind. "),
        builder.chunk(signed(builder, {"hologram": {"depth": 3, "points": [1, 2, 3]}})),
        *(Text("After the new kind."), End()),
    ],
    "citations": lambda builder, asked: [
        Text("To be, or not to be, ", whole=True),
        builder.chunk(
            wire.text_part("that is the question."),
            citationMetadata={"citations": [{"endIndex": 41, "uri": "https://example.org/hamlet"}]},
        ),
        End(),
    ],
    "other-model": other_model,
    # Requests that are refused until they are changed.
    "corrupted-signature-once": refused_later(
        HttpError(400, "INVALID_ARGUMENT", CORRUPTED),
        lambda part: part.get("thoughtSignature", DUMMY_SIGNATURES[0]) not in DUMMY_SIGNATURES,
        *(Code(PRODUCT, "42\n"), Text("The product of 6 and 7 is **42**."), End()),
    ),
    "images-refused": refused_later(
        HttpError(400, "INVALID_ARGUMENT", "Unable to process input image."),
        lambda part: "inlineData" in part,
        *(Code(PLOT, "done\n", images=(Chart(seed=7),)), Text("The points follow a sine curve."), End()),
    ),
    "context-limit": context_limit,
    "file-refused-once": file_refused_once,
    "document-refused": document_refused,
    "tools-not-combined": tools_not_combined,
    "no-tools": no_tools,
}
"""Name of the scenario -> script."""
GEMINI_2_5 = ("code-without-ids", "two-finishes", "code-without-result", "last-chunk-without-parts")
"""Scenarios in the form that Gemini 2.5 sends."""
