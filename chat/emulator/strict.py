"""What the real API refuses and the emulator lets pass unless it is strict: tools, ids, order, thought signatures.

Refusals are in the API's own words where they are known.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, suppress

from chat.emulator import normal_form
from chat.emulator.call import Call
from chat.emulator.ledger import Ledger, Verdict
from chat.emulator.wire import Chunk, Raw, Reply, Step, WireError, WireObject

BUILT_IN_TOOLS = frozenset(
    {
        "codeExecution",
        "computerUse",
        "enterpriseWebSearch",
        "fileSearch",
        "googleMaps",
        "googleSearch",
        "googleSearchRetrieval",
        "urlContext",
    }
)
THINKING_LEVELS = frozenset({"THINKING_LEVEL_UNSPECIFIED", "MINIMAL", "LOW", "MEDIUM", "HIGH"})
WITHOUT_MINIMAL = re.compile(r"gemini-(3\.1-pro|3\.[78]-flash|4-)")
NAMED_BY: Mapping[str, str] = {
    "codeExecutionResult": "executableCode",
    "functionResponse": "functionCall",
    "toolResponse": "toolCall",
}
"""Which part must have named the id of which."""
REMEMBERED_REFUSALS = 1_000

CORRUPTED = "Corrupted thought signature."
SERVER_SIDE_TOOLS = (
    "Please enable tool_config.include_server_side_tool_invocations to use Built-in tools with Function calling."
)
CONFIG_WITHOUT_FUNCTIONS = "Function calling config is set without function_declarations."
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
OPEN_CODE = "contents[{position}] ends with executable_code that has no code_execution_result."


class Strict:
    """Checks requests against what was answered before."""

    def __init__(self) -> None:
        """Begin with no answers."""
        self._ledger = Ledger()
        self._corrupted: dict[str, None] = {}
        """Last user texts whose request was refused: without any signature it may be sent again."""

    def check(self, model: str, body: WireObject, contents: Sequence[WireObject]) -> None:
        """Raise WireError for what the real API would not take."""
        _check_tools(body)
        _check_thinking_level(model, body)
        _check_ids(contents)
        _check_function_order(contents)
        self._check_signatures(model, contents)

    async def listen(self, call: Call, steps: AsyncGenerator[Step, None]) -> AsyncGenerator[Step, None]:
        """Pass the steps of an answer on, and remember its parts."""
        answer = self._ledger.begin(call.model)
        raw = b""
        async with aclosing(steps):
            async for step in steps:
                match step:
                    case Chunk(response):
                        self._ledger.add(answer, _parts(response))
                    case Raw(data):
                        *lines, raw = (raw + data).split(b"\n")
                        for line in lines:
                            self._ledger.add(answer, parts_of_line(line))
                    case Reply(200, data):
                        self._ledger.add(answer, _parts(json.loads(data)))
                        answer.is_complete = True
                    case Reply(400, data) if CORRUPTED.encode() in data:
                        self._remember(_last_prompt_digest(call.contents))
                yield step
        answer.is_complete = True

    def _check_signatures(self, model: str, contents: Sequence[WireObject]) -> None:
        key = _last_prompt_digest(contents)
        is_stripped = not any(normal_form.has_signature(content["parts"]) for content in contents)
        turn = _start_of_turn(contents)
        for position, content in enumerate(contents):
            if content.get("role") != "model":
                continue
            parts = content["parts"]
            if normal_form.ends_with_code(parts):
                raise WireError(400, OPEN_CODE.format(position=position))
            verdict = self._ledger.judge(model, parts)
            if verdict is Verdict.CORRUPTED:
                self._remember(key)
                raise WireError(400, CORRUPTED)
            if is_stripped and key in self._corrupted:
                continue
            if verdict is Verdict.MISSING or (verdict is Verdict.FOREIGN and position >= turn):
                _check_first_call(position, parts)
            if verdict is Verdict.MISSING:
                raise WireError(400, MISSING.format(position=position))
        if not is_stripped:
            self._corrupted.pop(key, None)

    def _remember(self, key: str) -> None:
        self._corrupted[key] = None
        if len(self._corrupted) > REMEMBERED_REFUSALS:
            del self._corrupted[next(iter(self._corrupted))]


def _check_tools(body: WireObject) -> None:
    tools = body.get("tools") or []
    config = body.get("toolConfig") or {}
    if not isinstance(config, dict):
        raise WireError(400, "Invalid value at 'tool_config', Root element must be a message.")
    has_functions = any(tool.get("functionDeclarations") for tool in tools)
    has_built_in = any(tool.keys() & BUILT_IN_TOOLS for tool in tools)
    if has_functions and has_built_in and not config.get("includeServerSideToolInvocations"):
        raise WireError(400, SERVER_SIDE_TOOLS)
    if config.get("functionCallingConfig") and not has_functions:
        raise WireError(400, CONFIG_WITHOUT_FUNCTIONS)


def _check_thinking_level(model: str, body: WireObject) -> None:
    thinking = (body.get("generationConfig") or {}).get("thinkingConfig") or {}
    if "thinkingLevel" not in thinking:
        return
    level = thinking["thinkingLevel"]
    if not isinstance(level, str) or level.upper() not in THINKING_LEVELS:
        kind = "type.googleapis.com/google.ai.generativelanguage.v1beta.ThinkingConfig.ThinkingLevel"
        place = "generation_config.thinking_config.thinking_level"
        raise WireError(400, f"Invalid value at '{place}' ({kind}), {json.dumps(level)[:60]}")
    if level.upper() == "MINIMAL" and WITHOUT_MINIMAL.match(model):
        raise WireError(400, "Thinking level MINIMAL is not supported for this model.")


def _check_ids(contents: Sequence[WireObject]) -> None:
    named: dict[str, set[object]] = {name: set() for name in NAMED_BY.values()}
    for position, content in enumerate(contents):
        for number, part in enumerate(content["parts"]):
            for answering, naming in NAMED_BY.items():
                if naming in part:
                    named[naming].add(part[naming].get("id"))
                call_id = part.get(answering, {}).get("id")
                if call_id and call_id not in named[naming]:
                    place = f"contents[{position}].parts[{number}]"
                    raise WireError(400, f"The id {json.dumps(call_id)[:60]} of {place} was named by no {naming}.")


def _check_function_order(contents: Sequence[WireObject]) -> None:
    for position, content in enumerate(contents):
        calls = _count(content, "functionCall")
        before = contents[position - 1] if position else None
        responses = _count(content, "functionResponse")
        if calls and content.get("role") == "model":
            if before is None or before.get("role") == "model":
                raise WireError(400, CALL_ORDER)
            answered = _count(contents[position + 1], "functionResponse")
            if not answered:
                raise WireError(400, CALL_ORDER)
            if answered != calls:
                raise WireError(400, RESPONSE_COUNT)
        if responses and (before is None or before.get("role") != "model" or not _count(before, "functionCall")):
            raise WireError(400, RESPONSE_ORDER)


def _count(content: WireObject, name: str) -> int:
    """How many parts of a kind; a call whose arguments came in pieces is one, and only its first piece has a name."""
    return sum(name in part and (name != "functionCall" or "name" in part[name]) for part in content["parts"])


def _check_first_call(position: int, parts: Sequence[WireObject]) -> None:
    """Parallel calls bear one signature, on the first."""
    call = next((part for part in parts if "functionCall" in part), None)
    if call is not None and not normal_form.signature_of(call) and not normal_form.has_dummy(call):
        name = call["functionCall"].get("name", "")
        raise WireError(400, UNSIGNED_CALL.format(name=name, position=position + 1))


def _start_of_turn(contents: Sequence[WireObject]) -> int:
    """Where the last content stands that a person wrote: function responses go on with the turn."""
    for position in range(len(contents) - 1, -1, -1):
        content = contents[position]
        if content.get("role", "user") == "user" and not _count(content, "functionResponse"):
            return position
    return 0


def _last_prompt_digest(contents: Sequence[WireObject]) -> str:
    content = contents[_start_of_turn(contents)]
    said = "\n".join(part.get("text") or "" for part in content["parts"])
    return hashlib.sha256(said.encode(errors="surrogatepass")).hexdigest()


def _parts(response: object) -> Sequence[WireObject]:
    """The parts in a response; recordings may hold anything."""
    with suppress(KeyError, IndexError, TypeError, AttributeError):
        parts = response["candidates"][0]["content"]["parts"]  # type: ignore[index]
        return [part for part in parts if isinstance(part, dict)]
    return []


def parts_of_line(line: bytes) -> Sequence[WireObject]:
    """The parts in a line of a recorded stream; none where it is no event."""
    with suppress(ValueError):
        return _parts(json.loads(line.removeprefix(b"data: ")))
    return []
