"""Translates requests of the Interactions API to requests of `generateContent`, so that one model answers both. Pure.

Steps, ids and signatures are checked as the real API does. The messages are those of the real API where they are known.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from chat.emulator.wire import WireError, WireObject

FIELDS = frozenset(
    {
        *("model", "input", "system_instruction", "tools", "generation_config", "response_format", "stream", "store"),
        *("continuation_token", "service_tier"),
    }
)
PLAIN_FIELDS = {"continuation_token": "continuationToken", "service_tier": "serviceTier"}
"""Fields with the same values in both protocols, and their names in `generateContent`."""
CONFIG_FIELDS = frozenset(
    {"temperature", "max_output_tokens", "thinking_level", "thinking_summaries", "tool_choice", "seed"}
)
TOOLS = {"code_execution": "codeExecution", "google_search": "googleSearch", "url_context": "urlContext"}
INVALID = "Request contains an invalid argument."
FROM_USER = frozenset({"user_input", "function_result"})


def generation_body(data: bytes) -> tuple[WireObject, WireObject]:
    """Return the body as it was sent, and its translation to a body of `generateContent`.

    Raises WireError if it is invalid.
    """
    try:
        body = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise WireError(400, f"Invalid JSON payload received. {error}") from error
    if not isinstance(body, dict) or not isinstance(body.get("model"), str):
        raise WireError(400, INVALID)
    for name in body:
        if name not in FIELDS:
            raise WireError(400, f"Unknown parameter '{name}'.")
    if body.get("stream") is not True or body.get("store") is not False:
        raise WireError(400, "This emulator only streams interactions, and stores none.")
    try:
        return body, {
            "contents": _contents(body["input"]),
            **_instruction(body),
            **_tools(body.get("tools") or []),
            "generationConfig": _config(body),
            **{name: body[own] for own, name in PLAIN_FIELDS.items() if own in body},
        }
    except (AttributeError, LookupError, TypeError) as error:
        raise WireError(400, INVALID) from error


def _instruction(body: WireObject) -> WireObject:
    instruction = body.get("system_instruction")
    return {"systemInstruction": {"parts": [{"text": instruction}], "role": "user"}} if instruction else {}


def _tools(tools: Sequence[WireObject]) -> WireObject:
    """Return `tools` and `toolConfig`, with the flag that `generateContent` needs to combine functions and tools."""
    functions = [_declaration(tool) for tool in tools if tool["type"] == "function"]
    wire: list[WireObject] = [{TOOLS[tool["type"]]: {}} for tool in tools if tool["type"] != "function"]
    if functions:
        wire.append({"functionDeclarations": functions})
    if not wire:
        return {}
    return {"tools": wire, "toolConfig": {"includeServerSideToolInvocations": True}}


def _declaration(tool: WireObject) -> WireObject:
    parameters = tool.get("parameters") or {}
    if parameters.get("required") == []:
        raise WireError(400, INVALID)
    return {"name": tool["name"], "description": tool["description"], "parametersJsonSchema": parameters}


def _config(body: WireObject) -> WireObject:
    config = body.get("generation_config") or {}
    for name in config:
        if name not in CONFIG_FIELDS:
            raise WireError(400, f"Unknown parameter 'generation_config.{name}'.")
    wire: WireObject = {"thinkingConfig": {"includeThoughts": config.get("thinking_summaries") == "auto"}}
    if any(one["type"] == "image" for one in body.get("response_format") or []):
        wire["responseModalities"] = ["TEXT", "IMAGE"]
    return wire


def _contents(steps: Sequence[WireObject]) -> list[WireObject]:
    """Return the steps as contents. Consecutive steps of one speaker become one content."""
    contents: list[WireObject] = []
    names: dict[str, str] = {}
    signature = ""
    for step in steps:
        if step["type"] == "function_call" and not step.get("signature"):
            # The signature of a call may be in the thought before it.
            step = {**step, "signature": signature}
        signature = str(step.get("signature") or "") if step["type"] == "thought" else ""
        names.update({step["id"]: step["name"]} if step["type"] == "function_call" else {})
        role = "user" if step["type"] in FROM_USER else "model"
        parts = list(_parts(step, names))
        if contents and contents[-1]["role"] == role:
            contents[-1]["parts"] += parts
        else:
            contents.append({"role": role, "parts": parts})
    return contents


def _parts(step: WireObject, names: dict[str, str]) -> Iterator[WireObject]:
    """Yield the parts of a step. `names`: the names of called functions, by the id of the call."""
    signature = {"thoughtSignature": step["signature"]} if step.get("signature") else {}
    match step["type"]:
        case "user_input" | "model_output":
            if not step["content"]:
                raise WireError(400, INVALID)
            yield from map(_content_part, step["content"])
        case "thought":
            if not signature:
                raise WireError(400, INVALID)
            yield {"text": "", **signature}
        case "code_execution_call":
            arguments = step["arguments"]
            code = {"language": arguments["language"].upper(), "code": arguments["code"], "id": step["id"]}
            yield {"executableCode": code, **signature}
        case "code_execution_result":
            yield from _result_parts(step)
        case "function_call":
            yield {"functionCall": {"name": step["name"], "args": step["arguments"], "id": step["id"]}, **signature}
        case "function_result":
            yield from _response_parts(step, names)
        case kind if kind.endswith("_call"):
            call = {"toolType": kind.removesuffix("_call").upper(), "args": step["arguments"], "id": step["id"]}
            yield {"toolCall": call, **signature}
        case kind if kind.endswith("_result"):
            result = {"toolType": kind.removesuffix("_result").upper(), "id": step["call_id"]}
            yield {"toolResponse": {**result, "response": {"result": step.get("result")}}, **signature}
        case _:
            # A step of an unknown type, which a scenario may send.
            yield {"text": "", **signature}


def _result_parts(step: WireObject) -> Iterator[WireObject]:
    result = step.get("result") or ""
    contents = [{"type": "text", "text": result}] if isinstance(result, str) else result
    output = "".join(one["text"] for one in contents if one["type"] == "text")
    outcome = "OUTCOME_FAILED" if step.get("is_error") else "OUTCOME_OK"
    yield {"codeExecutionResult": {"outcome": outcome, "output": output, "id": step["call_id"]}}
    yield from (_content_part(one) for one in contents if one["type"] != "text")


def _response_parts(step: WireObject, names: dict[str, str]) -> Iterator[WireObject]:
    """Yield the result of a function, and the texts that it has beside its JSON."""
    result = step["result"]
    texts = [one["text"] for one in result] if isinstance(result, list) else []
    response = json.loads(texts[0]) if texts else result
    name = names.get(step["call_id"])
    if name is None or name != step["name"]:
        raise WireError(400, f"There is no function call with the id '{step['call_id']}'.")
    yield {"functionResponse": {"name": name, "id": step["call_id"], "response": response}}
    yield from ({"text": text} for text in texts[1:])


def _content_part(content: WireObject) -> WireObject:
    if content["type"] == "text":
        return {"text": content["text"]}
    if "uri" in content:
        return {"fileData": {"fileUri": content["uri"], "mimeType": content["mime_type"]}}
    return {"inlineData": {"mimeType": content["mime_type"], "data": content["data"]}}
