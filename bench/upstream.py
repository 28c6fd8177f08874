"""A server that speaks Gemini's stream and stamps each chunk just before writing it; `python -m bench.upstream PORT`.

Whatever the path, a POST is answered with what the last text of its contents orders; see `bench.answers`.
"""

from __future__ import annotations

import asyncio
import base64
import gc
import io
import json
import random
import sys
from collections.abc import Iterator
from typing import Any

import uvloop
from aiohttp import web
from PIL import Image

from bench.answers import PIECES, Answer, now_us

GRAPHS = 16
"""Different ones; the n-th graph of every answer is the same."""

#: Noise does not compress: 142 x 142 x 3 bytes are 60 KB of PNG.
GRAPH_SIDE_PIXELS = 142


def event(*parts: dict[str, Any], tokens: int = 0, **candidate: str) -> bytes:
    """One server-sent event as Gemini writes it; `tokens` of the answer so far."""
    response = {
        "candidates": [{"content": {"parts": list(parts), "role": "model"}, **candidate, "index": 0}],
        "usageMetadata": {"promptTokenCount": 12, "candidatesTokenCount": tokens, "totalTokenCount": 12 + tokens},
        "modelVersion": "bench",
        "responseId": "bench-response",
    }
    return b"data: " + json.dumps(response, ensure_ascii=False, separators=(",", ":")).encode() + b"\r\n\r\n"


def around_stamp(data: bytes) -> tuple[bytes, bytes]:
    """What comes before and after the stamp's digits."""
    before, after = data.split(b"@")
    return before + "⟨".encode(), "⟩".encode() + after


#: As on the wire, no two neighbours tell the same usage.
TEXTS = [around_stamp(event({"text": piece}, tokens=5 * number)) for number, piece in enumerate(PIECES, start=1)]
LAST_TEXT = around_stamp(event({"text": "@ done."}, finishReason="STOP"))
CODE = around_stamp(event({"executableCode": {"language": "PYTHON", "code": "# @\nplt.plot(range(9))\nplt.show()"}}))
RESULT = around_stamp(event({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "@\n"}}))


def graph_event(seed: int) -> bytes:
    """A chunk with a PNG of 60 KB."""
    side = GRAPH_SIDE_PIXELS
    image = Image.frombytes("RGB", (side, side), random.Random(seed).randbytes(side * side * 3))
    png = io.BytesIO()
    image.save(png, "PNG")
    return event({"inlineData": {"mimeType": "image/png", "data": base64.b64encode(png.getvalue()).decode()}})


GRAPH_EVENTS = [graph_event(seed) for seed in range(GRAPHS)]


def steps(answer: Answer) -> Iterator[tuple[float, tuple[bytes, bytes] | bytes]]:
    """What to send: when it is due, and bytes around a stamp or without one."""
    places = answer.graph_places()
    for index in range(answer.chunks):
        due_s = answer.due_s(index)
        if index in places:
            yield due_s, CODE
            yield due_s, RESULT
            yield due_s, GRAPH_EVENTS[sorted(places).index(index) % GRAPHS]
        yield due_s, TEXTS[index % len(TEXTS)] if index < answer.chunks - 1 else LAST_TEXT


async def stream(request: web.Request) -> web.StreamResponse:
    """Send the answer that was ordered."""
    asked = await request.json()
    answer = Answer.ordered_by(asked["contents"][-1]["parts"][-1]["text"])
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    loop = asyncio.get_running_loop()
    started_at, stamp = loop.time(), 0
    try:
        for due_s, step in steps(answer):
            wait_s = started_at + due_s - loop.time()
            if wait_s > 0:
                await asyncio.sleep(wait_s)
            if isinstance(step, bytes):
                await response.write(step)
                continue
            before, after = step
            stamp = max(now_us(), stamp + 1)
            await response.write(b"%s%d%s" % (before, stamp, after))
    except ConnectionResetError:
        # The reader has gone: it was stopped, or its process ended.
        return response
    await response.write_eof()
    return response


def main(port: int) -> None:
    """Serve on loopback until SIGTERM."""
    application = web.Application()
    application.router.add_post("/{path:.*}", stream)
    # A pause of ours would be counted as the product's.
    gc.freeze()
    gc.set_threshold(100_000)
    web.run_app(application, host="127.0.0.1", port=port, print=None, access_log=None, loop=uvloop.new_event_loop())


if __name__ == "__main__":
    main(int(sys.argv[1]))
