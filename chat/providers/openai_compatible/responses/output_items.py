"""Converts complete items of a response to parts of an answer. Pure.

Reasoning, function calls and items of unknown types are sent back unchanged, so their parts keep them. An id refers to
an item stored by the server, which stores none for this client, so known items are sent back without their ids.
"""

from __future__ import annotations

from collections.abc import Iterator

from chat.providers.openai_compatible.call_pieces import parse_arguments
from chat.providers.openai_compatible.chunks import (
    WORD_LIMIT_CHARS,
    Delta,
    PartDelta,
    PictureDelta,
    function_name,
    sources_of,
)
from chat.providers.untrusted_json import WireObject, as_object, as_objects, as_text
from chat.vocabulary.parts import (
    JSON,
    OUTCOME_FAILED,
    OUTCOME_OK,
    CodeExecutionResult,
    ExecutableCode,
    FunctionCall,
    JSONObject,
    Part,
    Thought,
    ToolCall,
    ToolResponse,
    Unsupported,
)
from chat.vocabulary.stream_events import SourcesReported

SERVER_TOOLS = frozenset({"web_search_call", "file_search_call", "mcp_call", "mcp_list_tools", "tool_search_call"})
"""Calls of tools that the server runs. Their items hold the results too."""
WITHOUT_ID = frozenset({"reasoning", "function_call", "custom_tool_call", "web_search_call", "tool_search_call"})
"""Types of items that servers take back without an id."""
INDEX_LIMIT = 1_000_000
SEARCHES_LIMIT = 50


def kept_data(item: WireObject, number: int) -> JSONObject:
    """Return the provider data from which a later request sends the item back."""
    dropped = {"id", "status"} if as_text(item.get("type")) in WITHOUT_ID else set()
    kept: JSONObject = {name: value for name, value in item.items() if value is not None and name not in dropped}
    return {"item": kept, "index": number if 0 <= number < INDEX_LIMIT else 0}


def text_of(item: WireObject, content_type: str) -> str:
    """Return the texts of one type in the content of a message: `output_text`, `refusal` or `reasoning_text`."""
    name = "refusal" if content_type == "refusal" else "text"
    return "".join(as_text(one.get(name)) for one in as_objects(item.get("content")) if one.get("type") == content_type)


def reasoning_of(item: WireObject, name: str) -> str:
    """Return the reasoning of an item: of its `summary`, or of its `content`, which a server sends if it is raw."""
    return "\n\n".join(as_text(one.get("text")) for one in as_objects(item.get(name)))


def thought_of(item: WireObject, number: int) -> Thought | None:
    """Return the part that keeps reasoning to send back; `None` if the item has nothing that can be sent back."""
    wanted = {name: value for name, value in item.items() if value or name == "summary"}
    if not (as_text(wanted.get("encrypted_content")) or as_objects(wanted.get("content"))):
        return None
    return Thought("", provider_data=kept_data({"summary": [], **wanted}, number))


def parts_of(item: WireObject, number: int) -> Iterator[Delta]:
    """Yield the content of an item that is neither a message nor reasoning."""
    match item.get("type"):
        case "function_call" | "custom_tool_call":
            yield PartDelta(call_of(item, number))
        case "image_generation_call":
            # Keep no item, because its bytes would be stored twice. A message of the user sends the picture back.
            if data := as_text(item.get("result")):
                kind = as_text(item.get("output_format")) or "png"
                yield PictureDelta(f"data:image/{kind};base64,{data}")
        case "code_interpreter_call":
            yield from _code_of(item, number)
        case str(name) if name in SERVER_TOOLS:
            yield from map(PartDelta, _tool_parts(name, item, number))
            yield from _searches(item, name, number)
        case _:
            yield PartDelta(Unsupported(provider_data=kept_data(item, number)))


def call_of(item: WireObject, number: int) -> FunctionCall:
    """Return the call of a function. A call that was cut has no arguments, so that it cannot run."""
    name = function_name(as_text(item.get("name"))[:WORD_LIMIT_CHARS])
    call_id = as_text(item.get("call_id")) or as_text(item.get("id"))
    # No request declares a custom tool, whose input is a text, so its call is answered with an error.
    is_custom = item.get("type") == "custom_tool_call"
    arguments = {"input": as_text(item.get("input"))} if is_custom else arguments_of(item)
    if item.get("status") == "incomplete":
        arguments = None
    return FunctionCall(name, arguments, call_id, provider_data=kept_data(item, number))


def arguments_of(item: WireObject) -> dict[str, JSON] | None:
    """Return the arguments of a call; `None` if they are not a JSON object."""
    arguments = item.get("arguments")
    if isinstance(arguments, dict):
        return arguments
    text = as_text(arguments)
    return parse_arguments(text) if text.strip() else {}


def _code_of(item: WireObject, number: int) -> Iterator[Delta]:
    call_id, outputs = as_text(item.get("id")), as_objects(item.get("outputs"))
    # Drop the outputs, because their pictures would be stored twice.
    data = kept_data({**item, "outputs": None}, number)
    yield PartDelta(ExecutableCode(as_text(item.get("code")), "PYTHON", call_id, provider_data=data))
    logs = [as_text(one.get("logs")) for one in outputs if one.get("type") == "logs"]
    outcome = OUTCOME_FAILED if item.get("status") == "failed" else OUTCOME_OK
    yield PartDelta(CodeExecutionResult("".join(logs) if logs else None, outcome, call_id))
    for output in outputs:
        if url := as_text(output.get("url")):
            yield PictureDelta(url)


def _tool_parts(name: str, item: WireObject, number: int) -> Iterator[Part]:
    """Yield the call and the response of a tool that the server ran. The call keeps the item."""
    call_id = as_text(item.get("id")) or str(number)
    asked: JSONObject = {
        key: item[key] for key in ("action", "queries", "name", "server_label", "arguments") if item.get(key)
    }
    returned: JSONObject = {key: item[key] for key in ("status", "results", "output", "error") if item.get(key)}
    yield ToolCall(name, asked, call_id, provider_data=kept_data(item, number))
    yield ToolResponse(name, returned, call_id)


def _searches(item: WireObject, name: str, number: int) -> Iterator[Delta]:
    """Yield the queries of a web search, and the pages that it found."""
    action = as_object(item.get("action"))
    queries = action.get("queries")
    texts = queries if isinstance(queries, list) else [action.get("query")]
    asked = tuple(text[:WORD_LIMIT_CHARS] for query in texts[:SEARCHES_LIMIT] if (text := as_text(query)))
    sources = sources_of(as_objects(action.get("sources")))
    if sources or asked:
        yield SourcesReported(f"{name} {number}", sources, asked)
