"""Which tools may be combined in one request, as the real API accepts and refuses them."""

from __future__ import annotations

import pytest

from chat.emulator.generation_request import parse_generation_request
from chat.emulator.tool_checks import CONFIG_WITHOUT_FUNCTIONS, SERVER_SIDE_TOOLS
from chat.emulator.wire import WireError, WireObject

CODE: WireObject = {"codeExecution": {}}
SEARCH: WireObject = {"googleSearch": {}}
PAGES: WireObject = {"urlContext": {}}
FUNCTIONS: WireObject = {"functionDeclarations": [{"name": "run_python"}]}
FLAG: WireObject = {"includeServerSideToolInvocations": True}
AUTO: WireObject = {"functionCallingConfig": {"mode": "AUTO"}}


def refusal(model: str, tools: object, config: object) -> str:
    """Return the message with which a request is refused; empty if it is accepted."""
    body: WireObject = {"contents": [{"parts": [{"text": "hi"}]}], "tools": tools, "toolConfig": config}
    try:
        parse_generation_request(model, body, "id")
    except WireError as error:
        return str(error) if error.status == 400 else f"status {error.status}"
    return ""


@pytest.mark.parametrize(
    ("tools", "config", "message"),
    [
        ([FUNCTIONS], {}, ""),
        ([FUNCTIONS], AUTO, ""),
        ([CODE, SEARCH, PAGES], {}, ""),
        ([CODE, FUNCTIONS], FLAG, ""),
        ([CODE, SEARCH, PAGES, FUNCTIONS], FLAG, ""),
        ([CODE, FUNCTIONS], {}, SERVER_SIDE_TOOLS),
        ([{**CODE, **FUNCTIONS}], {}, SERVER_SIDE_TOOLS),
        ([SEARCH, FUNCTIONS], AUTO, SERVER_SIDE_TOOLS),
        ([CODE], AUTO, CONFIG_WITHOUT_FUNCTIONS),
        ([], [], ""),
        ([], 1, "Invalid value at 'tool_config', Root element must be a message."),
        ([1], {}, "Invalid value at 'tools' (type.googleapis.com/google.ai.generativelanguage.v1beta.Tool)"),
    ],
)
def test_gemini_3_combines_functions_with_its_own_tools_if_the_request_says_so(
    tools: object, config: object, message: str
) -> None:
    assert refusal("gemini-3.8-flash", tools, config) == message


@pytest.mark.parametrize(
    ("tools", "config", "message"),
    [
        ([CODE, SEARCH, PAGES], {}, ""),
        ([FUNCTIONS], AUTO, ""),
        ([CODE, FUNCTIONS], FLAG, "Tool call context circulation is not enabled for models/gemini-2.5-flash"),
        ([FUNCTIONS], FLAG, "Tool call context circulation is not enabled for models/gemini-2.5-flash"),
        (
            [SEARCH, CODE, FUNCTIONS],
            {},
            "Built-in tools ({google_search, code_execution}) and Custom tools (Function Calling) cannot be combined in"
            " the same request. Please choose one to continue.",
        ),
    ],
)
def test_gemini_2_combines_its_own_tools_but_no_functions(tools: object, config: object, message: str) -> None:
    assert refusal("gemini-2.5-flash", tools, config) == message
