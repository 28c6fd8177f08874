"""Rejects requests that the real API rejects: wrong combinations of tools, ids, order of parts, thought signatures.

Error messages are those of the real API where they are known.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, suppress

from chat.emulator.generation_request import GenerationRequest
from chat.emulator.wire import Chunk, Step, WireError, WireObject
from tests.gemini_emulator import content_digest
from tests.gemini_emulator.signature_checks import SentAnswers, Verdict
from tests.gemini_emulator.steps import JsonReply, RawBytes

THINKING_LEVELS = frozenset({"THINKING_LEVEL_UNSPECIFIED", "MINIMAL", "LOW", "MEDIUM", "HIGH"})
MODELS_WITHOUT_MINIMAL = re.compile(r"gemini-(3\.1-pro|3\.[78]-flash|4-)")
REQUEST_KINDS: Mapping[str, str] = {
    "codeExecutionResult": "executableCode",
    "functionResponse": "functionCall",
    "toolResponse": "toolCall",
}
"""For each kind of result, the kind of the part that must have the same id."""
REFUSALS_LIMIT = 1_000

CORRUPTED = "Corrupted thought signature."
CALL_ORDER = (
    "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
)
RESPONSE_ORDER = "Please ensure that function response turn comes immediately after a function call turn."
RESPONSE_COUNT = (
    "Please ensure that the number of function response parts is equal to the number of function call parts of the "
    "function call turn."
)
UNSIGNED_CALL = (
    "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, "
    "and missing thought_signature may lead to degraded model performance. Additional data, function call "
    "`default_api:{name}` , position {position}."
)
MISSING = (
    "Thought signature is missing in a part of contents[{position}]: send each part back with the thought_signature "
    "that it came with."
)
CODE_WITHOUT_RESULT = "contents[{position}] ends with executable_code that has no code_execution_result."


class StrictMode:
    """Checks requests, and compares their history with the answers that were sent."""

    def __init__(self) -> None:
        """Start without answers."""
        self._sent_answers = SentAnswers()
        self._refused_prompts: dict[str, None] = {}
        """Digests of prompts that were refused for a corrupted signature. They may come again without signatures."""

    def check(self, request: GenerationRequest) -> None:
        """Raise WireError if the real API would reject the request."""
        _check_thinking_level(request.model, request.body)
        _check_ids(request.contents)
        _check_function_order(request.contents)
        self._check_signatures(request.model, request.contents)

    async def observe(
        self, request: GenerationRequest, steps: AsyncGenerator[Step, None]
    ) -> AsyncGenerator[Step, None]:
        """Yield the steps of an answer, and remember its parts before they are sent."""
        answer = self._sent_answers.start(request.model)
        incomplete_line = b""
        async with aclosing(steps):
            async for step in steps:
                match step:
                    case Chunk(response):
                        self._sent_answers.add(answer, _parts_of(response))
                    case RawBytes(data):
                        *lines, incomplete_line = (incomplete_line + data).split(b"\n")
                        for line in lines:
                            self._sent_answers.add(answer, parts_of_line(line))
                    case JsonReply(200, data):
                        self._sent_answers.add(answer, _parts_of(json.loads(data)))
                        answer.is_complete = True
                    case JsonReply(400, data) if CORRUPTED.encode() in data:
                        self._remember_refusal(_prompt_digest(request.contents))
                yield step
        # The last line of a recording may have no line feed.
        self._sent_answers.add(answer, parts_of_line(incomplete_line))
        answer.is_complete = True

    def _check_signatures(self, model: str, contents: Sequence[WireObject]) -> None:
        prompt = _prompt_digest(contents)
        is_stripped = not any(content_digest.has_signature(content["parts"]) for content in contents)
        turn_start = _turn_start(contents)
        for position, content in enumerate(contents):
            if content.get("role") != "model":
                continue
            parts = content["parts"]
            if content_digest.ends_with_code(parts):
                raise WireError(400, CODE_WITHOUT_RESULT.format(position=position))
            verdict = self._sent_answers.check(model, parts)
            if verdict is Verdict.CORRUPTED:
                self._remember_refusal(prompt)
                raise WireError(400, CORRUPTED)
            if is_stripped and prompt in self._refused_prompts:
                continue
            if verdict is Verdict.MISSING or (verdict is Verdict.FOREIGN and position >= turn_start):
                _check_first_call(position, parts)
            if verdict is Verdict.MISSING:
                raise WireError(400, MISSING.format(position=position))
        if not is_stripped:
            self._refused_prompts.pop(prompt, None)

    def _remember_refusal(self, prompt: str) -> None:
        self._refused_prompts[prompt] = None
        if len(self._refused_prompts) > REFUSALS_LIMIT:
            del self._refused_prompts[next(iter(self._refused_prompts))]


def _check_thinking_level(model: str, body: WireObject) -> None:
    thinking = (body.get("generationConfig") or {}).get("thinkingConfig") or {}
    if "thinkingLevel" not in thinking:
        return
    level = thinking["thinkingLevel"]
    if not isinstance(level, str) or level.upper() not in THINKING_LEVELS:
        type_name = "type.googleapis.com/google.ai.generativelanguage.v1beta.ThinkingConfig.ThinkingLevel"
        path = "generation_config.thinking_config.thinking_level"
        raise WireError(400, f"Invalid value at '{path}' ({type_name}), {json.dumps(level)[:60]}")
    if level.upper() == "MINIMAL" and MODELS_WITHOUT_MINIMAL.match(model):
        raise WireError(400, "Thinking level MINIMAL is not supported for this model.")


def _check_ids(contents: Sequence[WireObject]) -> None:
    known_ids: dict[str, set[object]] = {kind: set() for kind in REQUEST_KINDS.values()}
    for position, content in enumerate(contents):
        for number, part in enumerate(content["parts"]):
            for result_kind, request_kind in REQUEST_KINDS.items():
                if request_kind in part:
                    known_ids[request_kind].add(part[request_kind].get("id"))
                result_id = part.get(result_kind, {}).get("id")
                if result_id and result_id not in known_ids[request_kind]:
                    path = f"contents[{position}].parts[{number}]"
                    raise WireError(
                        400, f"The id {json.dumps(result_id)[:60]} of {path} was named by no {request_kind}."
                    )


def _check_function_order(contents: Sequence[WireObject]) -> None:
    for position, content in enumerate(contents):
        calls = _count(content, "functionCall")
        before = contents[position - 1] if position else None
        responses = _count(content, "functionResponse")
        if calls and content.get("role") == "model":
            if before is None or before.get("role") == "model":
                raise WireError(400, CALL_ORDER)
            # A model content is never the last one: `parse_contents` rejects that.
            following_responses = _count(contents[position + 1], "functionResponse")
            if not following_responses:
                raise WireError(400, CALL_ORDER)
            if following_responses != calls:
                raise WireError(400, RESPONSE_COUNT)
        if responses and (before is None or before.get("role") != "model" or not _count(before, "functionCall")):
            raise WireError(400, RESPONSE_ORDER)


def _count(content: WireObject, kind: str) -> int:
    """Return the number of parts of a kind. Of a call whose arguments came in pieces, only the first has a name."""
    return sum(kind in part and (kind != "functionCall" or "name" in part[kind]) for part in content["parts"])


def _check_first_call(position: int, parts: Sequence[WireObject]) -> None:
    """Raise WireError if the first call has no signature. Further parallel calls have none."""
    call = next((part for part in parts if "functionCall" in part), None)
    if call is None:
        return
    if not content_digest.signature_digest(call) and not content_digest.has_dummy_signature(call):
        name = call["functionCall"].get("name", "")
        raise WireError(400, UNSIGNED_CALL.format(name=name, position=position + 1))


def _turn_start(contents: Sequence[WireObject]) -> int:
    """Return the position of the last content from a person. Function responses belong to the same turn."""
    for position in range(len(contents) - 1, -1, -1):
        content = contents[position]
        if content.get("role", "user") == "user" and not _count(content, "functionResponse"):
            return position
    return 0


def _prompt_digest(contents: Sequence[WireObject]) -> str:
    content = contents[_turn_start(contents)]
    text = "\n".join(part.get("text") or "" for part in content["parts"])
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def parts_of_line(line: bytes) -> Sequence[WireObject]:
    """Return the parts in a line of a recorded stream, or none if the line is not an event."""
    with suppress(ValueError):
        return _parts_of(json.loads(line.removeprefix(b"data: ")))
    return []


def _parts_of(response: WireObject) -> Sequence[WireObject]:
    """Return the parts in a response, or none if it has another structure."""
    with suppress(KeyError, IndexError, TypeError, AttributeError):
        parts = response["candidates"][0]["content"]["parts"]
        return [part for part in parts if isinstance(part, dict)]
    return []
