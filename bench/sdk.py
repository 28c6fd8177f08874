"""The SDK as both baselines use it."""

from __future__ import annotations

from collections.abc import AsyncIterator

from google import genai
from google.genai import types

CONFIG = types.GenerateContentConfig(
    tools=[types.Tool(code_execution=types.ToolCodeExecution())],
    automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    automatic_continuation=False,
)


def new_client(upstream_url: str) -> genai.Client:
    """A client of the upstream; the SDK takes aiohttp, without a limit of connections."""
    options = types.HttpOptions(
        base_url=upstream_url, api_version="v1beta", retry_options=types.HttpRetryOptions(attempts=1)
    )
    return genai.Client(api_key="none", http_options=options)


async def chunks_of(client: genai.Client, prompt: str) -> AsyncIterator[str]:
    """The text of each chunk: of its text, code and results; of a graph its size."""
    stream = await client.aio.models.generate_content_stream(model="bench", contents=prompt, config=CONFIG)
    async for chunk in stream:
        content = chunk.candidates[0].content if chunk.candidates else None
        yield "".join(map(text_of, (content.parts if content else None) or ()))


def text_of(part: types.Part) -> str:
    """What a page would show of it."""
    if part.executable_code:
        return part.executable_code.code or ""
    if part.code_execution_result:
        return part.code_execution_result.output or ""
    if part.inline_data:
        return f"[{len(part.inline_data.data or b'')} bytes]"
    return part.text or ""
