"""The smallest Chainlit app that streams from an OpenAI-compatible API; run by an environment that has Chainlit."""

from __future__ import annotations

import os

import chainlit  # type: ignore[import-not-found, unused-ignore]
import openai  # type: ignore[import-not-found, unused-ignore]

client = openai.AsyncOpenAI(base_url=f"{os.environ['BENCH_UPSTREAM_URL']}/v1", api_key="none")


@chainlit.on_message  # type: ignore[untyped-decorator, unused-ignore]
async def answer(message: chainlit.Message) -> None:
    """Stream the answer, token by token."""
    said = [{"role": "user", "content": message.content}]
    reply = chainlit.Message(content="")
    async for chunk in await client.chat.completions.create(model="bench", messages=said, stream=True):
        if text := chunk.choices[0].delta.content:
            await reply.stream_token(text)
    await reply.update()
