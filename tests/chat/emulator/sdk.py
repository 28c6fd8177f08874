"""Reads answers with the SDK."""

from __future__ import annotations

from collections.abc import Sequence

from google import genai
from google.genai import types

CODE_EXECUTION = types.Tool(code_execution=types.ToolCodeExecution())


async def answer(
    client: genai.Client,
    model: str,
    contents: types.ContentListUnion = "Hello",
    *,
    code: bool = True,
    functions: Sequence[str] = (),
    headers: dict[str, str] | None = None,
) -> list[types.GenerateContentResponse]:
    """Return all chunks of a streamed answer. `functions` are names to declare, without code execution."""
    tools = [CODE_EXECUTION] if code else []
    if functions:
        schema = {"type": "object", "properties": {"value": {"type": "integer"}}}
        declarations = [types.FunctionDeclaration(name=name, parameters_json_schema=schema) for name in functions]
        tools = [types.Tool(function_declarations=declarations)]
    config = types.GenerateContentConfig(
        tools=list(tools),
        thinking_config=types.ThinkingConfig(include_thoughts=True),
        automatic_continuation=False,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        http_options=types.HttpOptions(headers=headers or {}),
    )
    stream = await client.aio.models.generate_content_stream(model=model, contents=contents, config=config)
    return [chunk async for chunk in stream]


def parts_of(chunks: list[types.GenerateContentResponse]) -> list[types.Part]:
    """Return all parts in the order of the stream."""
    return [
        part
        for chunk in chunks
        for candidate in chunk.candidates or []
        if candidate.content
        for part in candidate.content.parts or []
    ]


def text_of(chunks: list[types.GenerateContentResponse]) -> str:
    """Return the text without thoughts."""
    return "".join(part.text or "" for part in parts_of(chunks) if not part.thought)


def finishes_of(chunks: list[types.GenerateContentResponse]) -> list[str]:
    """Return all finish reasons in the order of the stream."""
    return [
        candidate.finish_reason.value
        for chunk in chunks
        for candidate in chunk.candidates or []
        if candidate.finish_reason
    ]


def user(*parts: types.Part | str) -> types.Content:
    """Return a content of the user."""
    as_parts = [types.Part(text=part) if isinstance(part, str) else part for part in parts]
    return types.Content(role="user", parts=as_parts)


def model_content(parts: list[types.Part]) -> types.Content:
    """Return a content of the model, without the thoughts, which clients do not send back."""
    return types.Content(role="model", parts=[part for part in parts if not part.thought])
