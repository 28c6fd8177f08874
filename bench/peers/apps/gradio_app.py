"""The smallest Gradio chat that streams from an OpenAI-compatible API. It runs in Gradio's own environment."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator

import gradio  # type: ignore[import-not-found, unused-ignore]  # installed only in the environment of the peer
import openai
from openai.types.chat import ChatCompletionUserMessageParam

client = openai.AsyncOpenAI(base_url=f"{os.environ['BENCH_UPSTREAM_URL']}/v1", api_key="none")


async def answer(message: str, history: list[object]) -> AsyncIterator[str]:
    """Yield the text so far after each chunk, as Gradio requires."""
    question = ChatCompletionUserMessageParam(role="user", content=message)
    text = ""
    async for chunk in await client.chat.completions.create(model="bench", messages=[question], stream=True):
        text += chunk.choices[0].delta.content or ""
        yield text


if __name__ == "__main__":
    # The default limit of one answer at a time would queue all users.
    chat = gradio.ChatInterface(answer, concurrency_limit=None, api_name="chat")
    chat.launch(server_name="127.0.0.1", server_port=int(sys.argv[1]), quiet=True)
