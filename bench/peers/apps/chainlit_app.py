"""The smallest Chainlit app that streams from an OpenAI-compatible API. It runs in Chainlit's own environment."""

from __future__ import annotations

import os

import chainlit  # type: ignore[import-not-found, unused-ignore]  # installed only in the environment of the peer
import openai
from openai.types.chat import ChatCompletionUserMessageParam

client = openai.AsyncOpenAI(base_url=f"{os.environ['BENCH_UPSTREAM_URL']}/v1", api_key="none")


@chainlit.on_message  # type: ignore[untyped-decorator, unused-ignore]  # Chainlit is not installed here
async def answer(message: chainlit.Message) -> None:
    """Stream the answer token by token."""
    question = ChatCompletionUserMessageParam(role="user", content=message.content)
    reply = chainlit.Message(content="")
    async for chunk in await client.chat.completions.create(model="bench", messages=[question], stream=True):
        if text := chunk.choices[0].delta.content:
            await reply.stream_token(text)
    await reply.update()
