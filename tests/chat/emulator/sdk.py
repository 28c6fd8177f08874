"""Reads answers through the SDK."""

from __future__ import annotations

from google import genai
from google.genai import types

CODE = types.Tool(code_execution=types.ToolCodeExecution())


async def answer(
    client: genai.Client,
    model: str,
    contents: types.ContentListUnion = "Hello",
    *,
    code: bool = True,
    headers: dict[str, str] | None = None,
) -> list[types.GenerateContentResponse]:
    """All chunks of a streamed answer."""
    config = types.GenerateContentConfig(
        tools=[CODE] if code else [],
        thinking_config=types.ThinkingConfig(include_thoughts=True),
        automatic_continuation=False,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        http_options=types.HttpOptions(headers=headers or {}),
    )
    stream = await client.aio.models.generate_content_stream(model=model, contents=contents, config=config)
    return [chunk async for chunk in stream]


def parts_of(chunks: list[types.GenerateContentResponse]) -> list[types.Part]:
    """All parts in wire order."""
    return [
        part
        for chunk in chunks
        for candidate in chunk.candidates or []
        if candidate.content
        for part in candidate.content.parts or []
    ]


def text_of(chunks: list[types.GenerateContentResponse]) -> str:
    """The text, without thoughts."""
    return "".join(part.text or "" for part in parts_of(chunks) if not part.thought)


def finishes_of(chunks: list[types.GenerateContentResponse]) -> list[str]:
    """All finish reasons in wire order."""
    return [
        candidate.finish_reason.value
        for chunk in chunks
        for candidate in chunk.candidates or []
        if candidate.finish_reason
    ]
