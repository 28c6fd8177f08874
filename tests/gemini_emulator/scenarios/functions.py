"""Scenarios of function calls, for clients that run the functions and send the results back.

They call the functions that the request declares, in order of declaration. The arguments are `{"value": N}`, where N
is the number of the call in its turn. Without declared functions they answer with a text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from chat.emulator.chunk_builder import ChunkBuilder
from chat.emulator.generation_request import GenerationRequest
from chat.emulator.wire import Step, WireObject, text_part
from tests.gemini_emulator.scenarios.registry import ScenarioCall, scenario

FAILING_FUNCTION = "fail"
UNDECLARED_FUNCTION = "undeclared_function"


def declared_functions(request: GenerationRequest) -> list[str]:
    """Return the names of the declared functions, in order of declaration."""
    tools = request.body.get("tools") or []
    return [declaration["name"] for tool in tools for declaration in tool.get("functionDeclarations") or []]


def calls_in_turn(request: GenerationRequest) -> int:
    """Return the number of function calls since the last content without function responses from the user."""
    calls = 0
    for content in reversed(request.contents):
        if content.get("role") == "model":
            calls += sum("functionCall" in part for part in content["parts"])
        elif not _responses_in(content):
            break
    return calls


def _responses_in(content: WireObject) -> list[WireObject]:
    return [part["functionResponse"] for part in content["parts"] if "functionResponse" in part]


def _calls(builder: ChunkBuilder, names: Sequence[str], arguments: Sequence[object] = ()) -> Iterator[Step]:
    """Yield parallel calls. As in Gemini 3, each has an id and only the first has a signature."""
    first = calls_in_turn(builder.request) + 1
    for index, name in enumerate(names):
        args = arguments[index] if arguments else {"value": first + index}
        part: WireObject = {"functionCall": {"name": name, "args": args, "id": builder.new_id()}}
        if index == 0:
            part["thoughtSignature"] = builder.new_signature()
        yield builder.chunk(part)
    yield builder.chunk(text_part(""), finish="STOP")


def _quote_responses(builder: ChunkBuilder) -> Iterator[Step]:
    """Yield a text that quotes the JSON of each function response in the last content."""
    lines = [
        f"`{response.get('name')}` returned `{json.dumps(response.get('response'), ensure_ascii=False)}`."
        for response in _responses_in(builder.request.contents[-1])
    ]
    yield from builder.text_chunks("\n".join(lines) or "The request declares no function that I could call.")
    yield builder.last_chunk()


def _call_once(builder: ChunkBuilder, names: Sequence[str], arguments: Sequence[object] = ()) -> Iterator[Step]:
    """Call these functions, or quote the responses if the last content has any."""
    if names and not _responses_in(builder.request.contents[-1]):
        yield from _calls(builder, names, arguments)
    else:
        yield from _quote_responses(builder)


@scenario("function-call")
def _function_call(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """One call of the first declared function, then a text that quotes its response."""
    yield from _call_once(builder, declared_functions(builder.request)[:1])


@scenario("function-calls", amount=2)
def _function_calls(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Two parallel calls (or the number given) of the declared functions in turn, then a text."""
    declared = declared_functions(builder.request)
    names = [declared[number % len(declared)] for number in range(call.amount)] if declared else []
    yield from _call_once(builder, names)


@scenario("function-unknown")
def _function_unknown(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """One call of a function that the request does not declare, then a text."""
    yield from _call_once(builder, [UNDECLARED_FUNCTION] if declared_functions(builder.request) else [])


@scenario("function-args-invalid")
def _function_args_invalid(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """One call whose arguments are a string instead of an object, then a text."""
    yield from _call_once(builder, declared_functions(builder.request)[:1], ["value=1"])


@scenario("function-forever")
def _function_forever(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Another call of the first declared function after every response, without end."""
    names = declared_functions(builder.request)[:1]
    yield from _calls(builder, names) if names else _quote_responses(builder)


@scenario("function-failing")
def _function_failing(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """One call of the declared function `fail`, then a text that quotes its error."""
    names = [name for name in declared_functions(builder.request) if name == FAILING_FUNCTION]
    yield from _call_once(builder, names)
