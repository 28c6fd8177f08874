"""Baseline (a), the SDK alone: `python -m bench.sdk_reader UPSTREAM_URL`.

It reads levels from stdin as JSON lines, and prints the result of each level as one JSON line.
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

from bench.answers import Answer, AnswerTimings, Level, now_us
from bench.figures import LevelResult
from bench.sdk import create_client, stream_texts


async def read_answer(client: genai.Client, level: Level, start_at: float, result: LevelResult) -> None:
    """Request one answer at `start_at` of the event loop's clock, and add its timings to the result."""
    await asyncio.sleep(max(0.0, start_at - asyncio.get_running_loop().time()))
    timings = AnswerTimings()
    timings.record_send()
    async for text in stream_texts(client, level.answer.to_prompt()):
        timings.record_stamps(text.encode(), now_us())
    result.add_answer(timings, level.answer.stamp_count)


async def record_memory(level: Level, result: LevelResult) -> None:
    """Record this process's memory shortly before the first answer ends."""
    await asyncio.sleep(max(level.stagger_s, level.answer.duration_s) * 0.9)
    result.rss_live_bytes = psutil.Process().memory_info().rss


async def read_level(client: genai.Client, level: Level) -> LevelResult:
    """Read all answers of a level at the same time."""
    result = LevelResult(requested_per_s=level.conversations * level.answer.rate)
    started_at = time.monotonic()
    first_start_at = asyncio.get_running_loop().time() + 0.02
    pause_s = level.stagger_s / level.conversations
    await asyncio.gather(
        record_memory(level, result),
        *(read_answer(client, level, first_start_at + index * pause_s, result) for index in range(level.conversations)),
    )
    result.wall_s = time.monotonic() - started_at
    return result


async def main(upstream_url: str) -> None:
    """Run each level of stdin until it is closed."""
    client = create_client(upstream_url)
    while line := await asyncio.to_thread(sys.stdin.readline):
        fields = json.loads(line)
        level = Level(**{**fields, "answer": Answer(**fields["answer"])})
        print(json.dumps(asdict(await read_level(client, level))), flush=True)


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1]))
