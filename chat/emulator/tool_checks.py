"""Checks which tools a request combines, as the real API does. The messages are those of the real API."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chat.emulator.wire import WireError, WireObject

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
EARLIER_MODELS = re.compile(r"gemini-[12]\.")
"""Models before Gemini 3. They take functions or built-in tools, but not both in one request."""

SERVER_SIDE_TOOLS = (
    "Please enable tool_config.include_server_side_tool_invocations to use Built-in tools with Function calling."
)
NO_CIRCULATION = "Tool call context circulation is not enabled for models/{model}"
NOT_COMBINED = (
    "Built-in tools ({{{tools}}}) and Custom tools (Function Calling) cannot be combined in the same request. Please"
    " choose one to continue."
)
CONFIG_WITHOUT_FUNCTIONS = "Function calling config is set without function_declarations."


def requested_tools(body: WireObject) -> Sequence[WireObject]:
    """Return `tools` of a request body; raises WireError unless it is a list of objects."""
    tools = body.get("tools") or []
    if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
        raise WireError(400, "Invalid value at 'tools' (type.googleapis.com/google.ai.generativelanguage.v1beta.Tool)")
    return tools


def check_tools(model: str, body: WireObject) -> None:
    """Raise WireError if the model does not accept this combination of tools."""
    tools = requested_tools(body)
    config = body.get("toolConfig") or {}
    if not isinstance(config, dict):
        raise WireError(400, "Invalid value at 'tool_config', Root element must be a message.")
    has_functions = any(tool.get("functionDeclarations") for tool in tools)
    built_in = [name for tool in tools for name in tool if name in BUILT_IN_TOOLS]
    has_flag = bool(config.get("includeServerSideToolInvocations"))
    if EARLIER_MODELS.match(model):
        if has_flag:
            raise WireError(400, NO_CIRCULATION.format(model=model))
        if has_functions and built_in:
            raise WireError(400, NOT_COMBINED.format(tools=", ".join(map(_snake_case, built_in))))
    if has_functions and built_in and not has_flag:
        raise WireError(400, SERVER_SIDE_TOOLS)
    if config.get("functionCallingConfig") and not has_functions:
        raise WireError(400, CONFIG_WITHOUT_FUNCTIONS)


def _snake_case(name: str) -> str:
    return re.sub(r"[A-Z]", lambda match: f"_{match[0].lower()}", name)
