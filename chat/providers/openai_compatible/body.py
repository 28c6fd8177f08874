"""The JSON body of a request, in the dialect of its server. Pure."""

from __future__ import annotations

from chat.providers.openai_compatible.contents import Form
from chat.providers.openai_compatible.dialects import Dialect
from chat.providers.openai_compatible.endpoint import ModelFacts
from chat.providers.openai_compatible.messages import MessageWriter
from chat.providers.openai_compatible.refusal_facts import EFFORT_NONE, OTHER_LIMIT_FIELD, REASONING, STORE
from chat.providers.requests import FunctionTool, GenerateRequest, Thinking, ToolChoice
from chat.vocabulary.parts import JSON, JSONObject

NO_PARAMETERS: JSONObject = {"type": "object", "properties": {}}


def request_body(
    request: GenerateRequest, dialect: Dialect, facts: ModelFacts, *, may_store: bool = False
) -> JSONObject:
    """Return the body. What the server refuses for this model is left out.

    `may_store`: whether a server that stores requests by default may do so.
    """
    demands_reasoning = REASONING in facts.demands
    form = Form(
        dialect,
        images=facts.images is not False,
        system_role="system" not in facts.refuses,
        reasoning_field="reasoning_content" if demands_reasoning else dialect.reasoning_field,
    )
    has_functions = bool(request.functions) and facts.functions is not False
    optional: JSONObject = {
        "stream_options": {"include_usage": True} if dialect.sends_usage_option else None,
        "temperature": request.temperature,
        "reasoning_effort": "none" if has_functions and EFFORT_NONE in facts.demands else effort_of(request.thinking),
        "tools": [_tool(function) for function in request.functions] if has_functions else None,
        # Leave out the default, because some servers refuse every value.
        "tool_choice": request.tool_choice.value
        if has_functions and request.tool_choice is not ToolChoice.AUTO
        else None,
        STORE: False if dialect.stores_requests and not may_store else None,
    }
    if request.max_output_tokens is not None:
        name = dialect.max_tokens_field
        optional[OTHER_LIMIT_FIELD[name] if name in facts.refuses else name] = request.max_output_tokens
    return {
        "model": request.model,
        "messages": list(MessageWriter(form).write(request)),
        "stream": True,
        **{name: value for name, value in optional.items() if value is not None and name not in facts.refuses},
    }


def _tool(function: FunctionTool) -> JSON:
    declaration: JSONObject = {
        "name": function.name,
        "description": function.description,
        "parameters": dict(function.parameters) or NO_PARAMETERS,
    }
    return {"type": "function", "function": declaration}


def effort_of(thinking: Thinking) -> str | None:
    """Return how much a model is to think, in OpenAI's words; `None`: as it does by default."""
    if thinking.level:
        return thinking.level.value
    return "none" if thinking.budget_tokens == 0 else None
