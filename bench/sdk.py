"""The use of google-genai that baselines (a) and (b) share."""

from __future__ import annotations

from collections.abc import AsyncIterator

from google import genai
from google.genai import types

CONFIG = types.GenerateContentConfig(
    tools=[types.Tool(code_execution=types.ToolCodeExecution())],
    automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    automatic_continuation=False,
)


def create_client(upstream_url: str) -> genai.Client:
    """Return a client of the upstream. The SDK uses aiohttp without a connection limit."""
    options = types.HttpOptions(
        base_url=upstream_url, api_version="v1beta", retry_options=types.HttpRetryOptions(attempts=1)
    )
    return genai.Client(api_key="none", http_options=options)


async def stream_texts(client: genai.Client, prompt: str) -> AsyncIterator[str]:
    """Yield the text of each chunk of an answer."""
    stream = await client.aio.models.generate_content_stream(model="bench", contents=prompt, config=CONFIG)
    async for chunk in stream:
        content = chunk.candidates[0].content if chunk.candidates else None
        yield "".join(map(get_part_text, (content.parts if content else None) or ()))


def get_part_text(part: types.Part) -> str:
    """Return the text of a part: its text, its code, its output, or the size of its graph."""
    if part.executable_code:
        return part.executable_code.code or ""
    if part.code_execution_result:
        return part.code_execution_result.output or ""
    if part.inline_data:
        return f"[{len(part.inline_data.data or b'')} bytes]"
    return part.text or ""
