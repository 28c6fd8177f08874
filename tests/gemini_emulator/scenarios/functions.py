"""Scenarios of function calls, for clients that run the functions and send the results back.

They call the functions that the request declares, in order of declaration. The arguments are `{"value": N}`, where N
is the number of the call in its turn, or `{"code": "…"}` with code that prints N times 11. Without declared functions
they answer with a text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from chat.emulator.chunk_builder import ChunkBuilder
from chat.emulator.generation_request import NOTE, GenerationRequest
from chat.emulator.tool_checks import NO_CIRCULATION
from chat.emulator.wire import Step, WireObject, code_part, result_part, text_part, thought_part
from tests.gemini_emulator.scenarios.registry import ScenarioCall, scenario
from tests.gemini_emulator.steps import http_error

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


def _calls(
    builder: ChunkBuilder, names: Sequence[str], arguments: Sequence[object] = (), thought: str = ""
) -> Iterator[Step]:
    """Yield parallel calls, and a thought. As in Gemini 3, each has an id and only the first has a signature."""
    first = calls_in_turn(builder.request) + 1
    for index, name in enumerate(names):
        args = arguments[index] if arguments else {"value": first + index}
        part: WireObject = {"functionCall": {"name": name, "args": args, "id": builder.new_id()}}
        if index == 0:
            part["thoughtSignature"] = builder.new_signature()
        yield builder.chunk(part)
    if thought:
        yield builder.chunk(thought_part(thought))
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


@scenario("function-call-thought")
def _function_call_thought(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """One call of the first declared function and a thought after it, then a text that quotes its response."""
    names = declared_functions(builder.request)[:1]
    if names and not _responses_in(builder.request.contents[-1]):
        yield from _calls(builder, names, thought="What will it return?")
    else:
        yield from _quote_responses(builder)


@scenario("function-calls", amount=2)
def _function_calls(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Two parallel calls (or the number given) of the declared functions in turn, then a text."""
    declared = declared_functions(builder.request)
    names = [declared[number % len(declared)] for number in range(call.amount)] if declared else []
    yield from _call_once(builder, names)


@scenario("function-code", amount=1)
def _function_code(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """One call (or the number given) of the first declared function with code, then a text that quotes the results."""
    names = declared_functions(builder.request)[:1] * call.amount
    codes = [{"code": f"number = {index + 1}\nprint(number * 11)"} for index in range(call.amount)]
    yield from _call_once(builder, names, codes)


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


# --- code in a Python session ---------------------------------------------------------------------------------------


def scripted_calls(question: str, round_number: int) -> list[tuple[str, WireObject]]:
    """Return the calls that a question lists for one round: name and arguments.

    Lines of `===` separate rounds, lines of `---` the calls of a round. A call is `%name {arguments}`, or else code for
    `run_python`.
    """
    rounds = question.split("\n===\n")
    if round_number >= len(rounds):
        return []
    calls: list[tuple[str, WireObject]] = []
    for block in rounds[round_number].split("\n---\n"):
        if block.startswith("%"):
            name, _, arguments = block[1:].partition(" ")
            calls.append((name, json.loads(arguments or "{}")))
        else:
            calls.append(("run_python", {"code": block}))
    return calls


def _is_question(content: WireObject, part: WireObject) -> bool:
    text = part.get("text") or ""
    return content.get("role", "user") == "user" and bool(text) and not text.startswith(NOTE)


def _rounds_in_turn(request: GenerationRequest) -> int:
    """Return how often the client has sent results since its last text.

    The results of an answer that was interrupted stand in one content with the next question.
    """
    rounds = 0
    for content in reversed(request.contents):
        if content.get("role", "user") == "user":
            if not _responses_in(content) or any(_is_question(content, part) for part in content["parts"]):
                break
            rounds += 1
    return rounds


@scenario("function-script")
def _function_script(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """The calls that the question lists, round by round, then a text that quotes the last results."""
    contents = builder.request.contents
    texts = [part["text"] for content in contents for part in content["parts"] if _is_question(content, part)]
    # The question follows sentences about its files.
    calls = scripted_calls(texts[-1], _rounds_in_turn(builder.request))
    if calls and declared_functions(builder.request):
        yield from _calls(builder, [name for name, _ in calls], [arguments for _, arguments in calls])
    else:
        yield from _quote_responses(builder)


@scenario("code-then-session", amount=1)
def _code_then_session(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Code that runs out of time (1), lacks a module (2), or fails otherwise (3); then a call of run_python."""
    if not builder.request.has_code_execution:
        yield from _call_once(builder, ["run_python"], [{"code": "print(6 * 7)"}])
        return
    outcome, output = {
        1: ("OUTCOME_DEADLINE_EXCEEDED", ""),
        2: ("OUTCOME_FAILED", "ModuleNotFoundError: No module named 'xgboost'"),
        3: ("OUTCOME_FAILED", "ZeroDivisionError: division by zero"),
    }[call.amount]
    code_id = builder.new_id()
    yield builder.chunk(code_part("compute()", code_id, builder.new_signature()), text_part(""))
    yield builder.chunk(result_part(outcome, output, code_id))
    yield from builder.text_chunks("The code did not work.")
    yield builder.last_chunk()


@scenario("code-beside-session")
def _code_beside_session(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """Code that runs at the service and a call of run_python in one response, then a text that quotes its result."""
    if _responses_in(builder.request.contents[-1]) or not declared_functions(builder.request):
        yield from _quote_responses(builder)
        return
    code_id = builder.new_id()
    yield builder.chunk(code_part("print(6)", code_id, builder.new_signature()), text_part(""))
    yield builder.chunk(result_part("OUTCOME_OK", "6\n", code_id))
    yield from _calls(builder, ["run_python"], [{"code": "print(6 * 7)"}])


@scenario("tools-not-combined")
def _tools_not_combined(builder: ChunkBuilder, call: ScenarioCall) -> Iterator[Step]:
    """400 to functions beside built-in tools, as models before Gemini 3 answer; else a text."""
    config = builder.request.body.get("toolConfig") or {}
    if config.get("includeServerSideToolInvocations"):
        yield http_error(400, NO_CIRCULATION.format(model=builder.request.model), "INVALID_ARGUMENT")
        return
    yield from builder.text_chunks("Without functions, I can answer.")
    yield builder.last_chunk()
