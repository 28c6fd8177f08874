"""Scenarios of function calls, for clients that run the functions and send the results back.

They call the functions that the request declares, in order of declaration. The arguments are `{"value": N}`, where N
is the number of the call in its turn, or `{"code": "…"}` with code that prints N times 11. Without declared functions
they answer with a text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import cycle, islice

from tests.scenarios.asked import Asked, Script
from tests.scenarios.private_questions import answer_from_output
from tests.scenarios.steps import Calls, Code, End, Steps, Text, Thought

UNDECLARED_FUNCTION = "undeclared_function"
CODE_ENDS = {
    1: ("OUTCOME_DEADLINE_EXCEEDED", ""),
    2: ("OUTCOME_FAILED", "ModuleNotFoundError: No module named 'xgboost'"),
    3: ("OUTCOME_FAILED", "ZeroDivisionError: division by zero"),
}


def quote_results(asked: Asked) -> Steps:
    """Quote the result of each function."""
    lines = [f"`{name}` returned `{text}`." for name, text in asked.results]
    lines += [f"The image begins with {asked.colour}."] if asked.colour else []
    return [Text("\n".join(lines) or "The request declares no function that I could call."), End()]


def numbered(asked: Asked, names: Sequence[str]) -> Sequence[tuple[str, object]]:
    """Return calls of these functions with their numbers."""
    return [(name, {"value": asked.calls + number}) for number, name in enumerate(names, start=1)]


def call_once(asked: Asked, calls: Sequence[tuple[str, object]], thought: str = "") -> Steps:
    """Call these functions, or quote the results if there are any."""
    return [Calls(calls, thought)] if calls and asked.functions and not asked.results else quote_results(asked)


def scripted_calls(question: str, round_number: int) -> list[tuple[str, object]]:
    """Return the calls that a question lists for one round: name and arguments.

    Lines of `===` separate rounds, lines of `---` the calls of a round. A call is `%name {arguments}`, or else code for
    `run_python`.
    """
    calls: list[tuple[str, object]] = []
    for block in "".join(question.split("\n===\n")[round_number : round_number + 1]).split("\n---\n"):
        if block.startswith("%"):
            name, _, arguments = block[1:].partition(" ")
            calls.append((name, json.loads(arguments or "{}")))
        elif block:
            calls.append(("run_python", {"code": block}))
    return calls


def function_script(asked: Asked) -> Steps:
    """Make the calls that the question lists, round by round, then quote the last results."""
    calls = scripted_calls(asked.question, asked.rounds)
    return [Calls(calls)] if calls and asked.functions else quote_results(asked)


def script_with_end(asked: Asked) -> Steps:
    """Make the calls that the question lists, round by round, then end, whatever their results are."""
    calls = scripted_calls(asked.question, asked.rounds)
    return [Calls(calls)] if calls else [Text("Those were all calls."), End()]


def function_forever(asked: Asked) -> Steps:
    """Call again after every result."""
    return [Calls(numbered(asked, asked.functions[:1]))] if asked.functions else quote_results(asked)


def code_then_session(asked: Asked) -> Steps:
    """Run code that runs out of time (1), lacks a module (2), or fails otherwise (3); then call run_python."""
    if not asked.runs_code:
        return call_once(asked, [("run_python", {"code": "print(6 * 7)"})])
    outcome, output = CODE_ENDS[asked.amount or 1]
    return [Code("compute()", output, outcome), Text("The code did not work."), End()]


def code_beside_session(asked: Asked) -> Steps:
    """Run code at the service and call run_python in one response."""
    if asked.results or not asked.functions:
        return quote_results(asked)
    return [Code("print(6)", "6\n"), Calls([("run_python", {"code": "print(6 * 7)"})])]


CALLS: Mapping[str, Script] = {
    "function-call": lambda asked: call_once(asked, numbered(asked, asked.functions[:1])),
    "function-thought": lambda asked: [
        *([] if asked.results else [Thought("What will it return?")]),
        *call_once(asked, numbered(asked, asked.functions[:1])),
    ],
    "function-call-thought": lambda asked: call_once(
        asked, numbered(asked, asked.functions[:1]), "What will it return?"
    ),
    "function-calls": lambda asked: call_once(
        asked, numbered(asked, list(islice(cycle(asked.functions), asked.amount or 2)))
    ),
    "function-code": lambda asked: call_once(
        asked,
        [
            (asked.functions[0], {"code": f"number = {number}\nprint(number * 11)"})
            for number in range(1, (asked.amount or 1) + 1)
        ]
        if asked.functions
        else [],
    ),
    "function-unknown": lambda asked: call_once(asked, numbered(asked, [UNDECLARED_FUNCTION])),
    "function-args-invalid": lambda asked: call_once(asked, [(name, "value=1") for name in asked.functions[:1]]),
    "function-failing": lambda asked: call_once(
        asked, numbered(asked, [name for name in asked.functions if name == "fail"])
    ),
    "function-forever": function_forever,
    "function-script": function_script,
    "answer-from-output": answer_from_output,
    "script-with-end": script_with_end,
    "code-then-session": code_then_session,
    "code-beside-session": code_beside_session,
}
"""Name of the scenario -> script."""
