"""Measures the readers of `bench.openai_streams`: `python -m bench.with_django bench.openai_costs URL`.

The result is printed as JSON: microseconds of CPU time per chunk, by the name of the reader.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections.abc import AsyncIterator, Callable

import openai
from openai.types.chat import ChatCompletionUserMessageParam

from bench.answers import Answer
from bench.processes import BenchError
from chat.providers.openai_compatible.accumulator import Accumulator
from chat.providers.openai_compatible.endpoint import Endpoint
from chat.providers.openai_compatible.reader import ResponseReader
from chat.providers.openai_compatible.transport import Clients
from chat.vocabulary.parts import Text
from chat.vocabulary.stream_events import PartReceived

CHUNKS = 3_000
ROUNDS = 7
PROMPT = Answer(chunks=CHUNKS).to_prompt()
QUESTION = ChatCompletionUserMessageParam(role="user", content=PROMPT)

Reader = Callable[[], AsyncIterator[str]]


def make_readers(base_url: str) -> dict[str, Reader]:
    """Return the readers by name. Each yields the texts of one answer."""
    endpoint, clients = Endpoint("bench", base_url), Clients()
    package = openai.AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0)

    async def plotline() -> AsyncIterator[str]:
        request = {"model": "bench", "stream": True, "messages": [{"role": "user", "content": PROMPT}]}
        body = json.dumps(request).encode()
        async with clients.open(endpoint, body) as response:
            async for events in ResponseReader(Accumulator(has_functions=False), api_key="").read(response):
                for event in events:
                    if isinstance(event, PartReceived) and isinstance(event.part, Text):
                        yield event.part.text

    async def create() -> AsyncIterator[str]:
        async for chunk in await package.chat.completions.create(model="bench", messages=[QUESTION], stream=True):
            yield chunk.choices[0].delta.content or ""

    async def helper() -> AsyncIterator[str]:
        async with package.chat.completions.stream(model="bench", messages=[QUESTION]) as events:
            async for event in events:
                if event.type == "content.delta":
                    yield event.delta

    return {"Plotline": plotline, "openai create()": create, "openai stream()": helper}


async def measure(reader: Reader) -> tuple[float, str]:
    """Return the CPU time of one answer in microseconds per chunk, and its text without the stamps."""
    started_s = time.process_time()
    texts = [text async for text in reader()]
    return (time.process_time() - started_s) / CHUNKS * 1e6, "".join(texts)


async def measure_all(base_url: str) -> dict[str, float]:
    """Return the median of each reader over all rounds, after one round that does not count."""
    readers = make_readers(base_url)
    costs: dict[str, list[float]] = {name: [] for name in readers}
    for round_number in range(ROUNDS + 1):
        for name, reader in readers.items():
            cost, text = await measure(reader)
            # The stamps differ in each answer, but not in their number.
            if text.count("⟨") != CHUNKS:
                raise BenchError(f"{name} read {text.count('⟨')} of {CHUNKS} chunks")
            if round_number:
                costs[name].append(cost)
    return {name: statistics.median(values) for name, values in costs.items()}


def main(base_url: str) -> None:
    """Measure all readers, and print the medians."""
    print(json.dumps(asyncio.run(measure_all(base_url))))
