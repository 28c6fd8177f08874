"""The smallest Gradio chat that streams from an OpenAI-compatible API; run by an environment that has Gradio."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator

import gradio  # type: ignore[import-not-found, unused-ignore]
import openai  # type: ignore[import-not-found, unused-ignore]

client = openai.AsyncOpenAI(base_url=f"{os.environ['BENCH_UPSTREAM_URL']}/v1", api_key="none")


async def answer(message: str, history: list[object]) -> AsyncIterator[str]:
    """Yield the text so far, as Gradio wants it."""
    said, text = [{"role": "user", "content": message}], ""
    async for chunk in await client.chat.completions.create(model="bench", messages=said, stream=True):
        text += chunk.choices[0].delta.content or ""
        yield text


if __name__ == "__main__":
    # Its default of one at a time would queue everybody.
    chat = gradio.ChatInterface(answer, concurrency_limit=None, api_name="chat")
    chat.launch(server_name="127.0.0.1", server_port=int(sys.argv[1]), quiet=True)
