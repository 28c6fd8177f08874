"""The JSON body of a request to the Interactions API. Pure.

Source: ai.google.dev/api/interactions-api, and the types of google-genai (`google.genai.interactions`).
"""

from __future__ import annotations

import json

from chat.providers.google.codec import STANDARD_TIER
from chat.providers.google.interactions.input_steps import StepWriter
from chat.providers.requests import BuiltInTool, FunctionTool, GenerateRequest, ToolChoice
from chat.vocabulary.built_in_tools import CODE_EXECUTION, URL_CONTEXT, WEB_SEARCH
from chat.vocabulary.parts import JSON, JSONObject

BUILT_IN_TOOLS = {CODE_EXECUTION: "code_execution", WEB_SEARCH: "google_search", URL_CONTEXT: "url_context"}
TOOL_CHOICES = {ToolChoice.NONE: "none", ToolChoice.REQUIRED: "any"}
TEXT_AND_IMAGE: list[JSON] = [{"type": "text"}, {"type": "image"}]


def request_body(request: GenerateRequest, *, service_tier: str = STANDARD_TIER) -> bytes:
    """Return the JSON body. The API stores requests by default, so each one says that it must not.

    Fields that change from request to request come last, so that the beginning can be cached.
    """
    optional: JSONObject = {
        "system_instruction": request.system_instruction or None,
        "tools": [_tool(tool) for tool in request.tools] or None,
        "generation_config": _generation_config(request) or None,
        "response_format": TEXT_AND_IMAGE if request.image_output else None,
        "service_tier": service_tier if service_tier != STANDARD_TIER else None,
    }
    body = {
        "model": request.model,
        **{name: value for name, value in optional.items() if value is not None},
        "stream": True,
        "store": False,
        "input": StepWriter().write(request),
        **({"continuation_token": request.continuation_token} if request.continuation_token else {}),
    }
    return json.dumps(body).encode()


def _tool(tool: BuiltInTool | FunctionTool) -> JSON:
    if isinstance(tool, BuiltInTool):
        return {"type": BUILT_IN_TOOLS[tool.name]}
    declaration: JSONObject = {"type": "function", "name": tool.name, "description": tool.description}
    if tool.parameters:
        # The API refuses an empty list of required parameters.
        schema = {name: value for name, value in tool.parameters.items() if (name, value) != ("required", [])}
        declaration["parameters"] = schema
    return declaration


def _generation_config(request: GenerateRequest) -> JSONObject:
    """Return the fields that the request sets. A budget of 0 becomes the lowest level: there are no budgets."""
    thinking = request.thinking
    level = thinking.level.value if thinking.level else "minimal" if thinking.budget_tokens == 0 else None
    has_summaries = thinking.include_thoughts and not request.image_output and thinking.budget_tokens != 0
    config: JSONObject = {
        "temperature": request.temperature,
        "max_output_tokens": request.max_output_tokens,
        "thinking_level": level,
        "thinking_summaries": "auto" if has_summaries else None,
        "tool_choice": TOOL_CHOICES.get(request.tool_choice) if request.functions else None,
    }
    return {name: value for name, value in config.items() if value is not None}
