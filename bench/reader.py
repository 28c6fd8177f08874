"""The SDK alone: reads levels named on stdin, one JSON object a line, and prints one of what it saw for each.

`python -m bench.reader UPSTREAM_URL`
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import asdict

import psutil
import uvloop
from google import genai

from bench.answers import Answer, Level, Reading, now_us
from bench.figures import Observed
from bench.sdk import chunks_of, new_client


async def read(client: genai.Client, level: Level, start_at: float, observed: Observed) -> None:
    """Read one answer, from that time of the loop's clock."""
    await asyncio.sleep(max(0.0, start_at - asyncio.get_running_loop().time()))
    reading = Reading()
    reading.send()
    async for text in chunks_of(client, level.answer.prompt()):
        reading.take(text.encode(), now_us())
    observed.add(reading, level.answer.stamps)


async def weigh(level: Level, observed: Observed) -> None:
    """Note this process's memory when most of the answers are there."""
    await asyncio.sleep(max(level.stagger_s, level.answer.duration_s) * 0.9)
    observed.rss_live_bytes = psutil.Process().memory_info().rss


async def read_level(client: genai.Client, level: Level) -> Observed:
    """Read all answers of a level at the same time."""
    observed = Observed(asked_per_s=level.conversations * level.answer.rate)
    begun_at = time.monotonic()
    start_at = asyncio.get_running_loop().time() + 0.02
    pause_s = level.stagger_s / level.conversations
    await asyncio.gather(
        weigh(level, observed),
        *(read(client, level, start_at + number * pause_s, observed) for number in range(level.conversations)),
    )
    observed.wall_s = time.monotonic() - begun_at
    return observed


async def main(upstream_url: str) -> None:
    """Work until stdin ends."""
    client = new_client(upstream_url)
    while line := await asyncio.to_thread(sys.stdin.readline):
        named = json.loads(line)
        level = Level(**{**named, "answer": Answer(**named["answer"])})
        print(json.dumps(asdict(await read_level(client, level))), flush=True)


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1]))
