"""The JSON body of a request to the Responses API. Pure."""

from __future__ import annotations

from chat.providers.openai_compatible.body import NO_PARAMETERS, effort_of
from chat.providers.openai_compatible.contents import Form
from chat.providers.openai_compatible.dialects import Dialect
from chat.providers.openai_compatible.endpoint import ModelFacts
from chat.providers.openai_compatible.refusal_facts import EFFORT, INCLUDE, STORE, SUMMARY
from chat.providers.openai_compatible.responses.input_items import ItemWriter
from chat.providers.requests import FunctionTool, GenerateRequest, ToolChoice
from chat.vocabulary.parts import JSON, JSONObject

ENCRYPTED_REASONING = "reasoning.encrypted_content"


def request_body(request: GenerateRequest, dialect: Dialect, facts: ModelFacts) -> JSONObject:
    """Return the body. What the server refuses for this model is left out, except `store: false`."""
    form = Form(dialect, images=facts.images is not False)
    has_functions = bool(request.functions) and facts.functions is not False
    optional: JSONObject = {
        "instructions": request.system_instruction or None,
        INCLUDE: [ENCRYPTED_REASONING],
        "reasoning": _reasoning(request, dialect, facts),
        "temperature": request.temperature,
        "max_output_tokens": request.max_output_tokens,
        "tools": [_tool(function) for function in request.functions] if has_functions else None,
        # Leave out the default, because some servers refuse every value.
        "tool_choice": request.tool_choice.value
        if has_functions and request.tool_choice is not ToolChoice.AUTO
        else None,
    }
    return {
        "model": request.model,
        "input": list(ItemWriter(form, output_images=dialect.reads_output_images).write(request)),
        "stream": True,
        STORE: False,
        **{name: value for name, value in optional.items() if value is not None and name not in facts.refuses},
    }


def _tool(function: FunctionTool) -> JSON:
    """Return a function. Without `strict: false`, OpenAI makes each property required."""
    return {
        "type": "function",
        "name": function.name,
        "description": function.description,
        "parameters": dict(function.parameters) or NO_PARAMETERS,
        "strict": False,
    }


def _reasoning(request: GenerateRequest, dialect: Dialect, facts: ModelFacts) -> JSONObject | None:
    effort = effort_of(request.thinking)
    has_summary = dialect.summarises_reasoning and request.thinking.include_thoughts and effort != "none"
    wanted: dict[str, str | None] = {EFFORT: effort, SUMMARY: "auto" if has_summary else None}
    kept = {name: value for name, value in wanted.items() if value and name not in facts.refuses}
    return {name.removeprefix("reasoning."): value for name, value in kept.items()} or None
