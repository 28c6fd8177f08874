"""A server that streams like Gemini or OpenAI and stamps each chunk when it writes it.

Run it with `python -m bench.upstream PORT`. It answers a POST with the `Answer` that the last text of the request
describes, in the format of the path (`FORMATS`). `GET .../models` returns OpenAI's list of models. As at OpenAI, a
model with `responses` in its name must be requested through the Responses API.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from typing import Any

import uvloop
from aiohttp import web

from bench.answers import Answer, now_us
from bench.wire_formats import FORMATS, GEMINI, OPENAI, OPENAI_MODELS, OPENAI_TITLE_RESPONSE, Step, WireFormat

#: Number of chunks that a late answer, or one without pauses, writes before other connections are served.
STEPS_WITHOUT_PAUSE = 16

EVENT_STREAM = "text/event-stream"
NOTE = "[Note of the server"
RESPONSES_ONLY = {"error": {"message": "This model is only supported in /v1/responses."}}


def extract_prompt(body: dict[str, Any]) -> str:
    """Return the question of a request in any of the formats, or an empty string.

    It is the text of the last message, without Plotline's notes about the date and its tools.
    """
    last = (body.get("contents") or body.get("messages") or body.get("input") or [{}])[-1]
    parts = last.get("parts") or last.get("content") or ""
    if isinstance(parts, list):
        parts = "\n".join(part["text"] for part in parts if "text" in part)
    return str(parts).partition(NOTE)[0].strip()


def parse_answer(prompt: str) -> Answer | None:
    """Return the answer that the prompt requests, or None if it is any other text."""
    try:
        return Answer.from_prompt(prompt)
    except (TypeError, ValueError):
        return None


async def respond(request: web.Request) -> web.StreamResponse:
    """Answer a question, or a request for a title."""
    body = await request.json()
    wire_format = next((one for end, one in FORMATS.items() if request.path.endswith(end)), GEMINI)
    if wire_format is OPENAI and "responses" in body["model"]:
        return web.json_response(RESPONSES_ONLY, status=400)
    if answer := parse_answer(extract_prompt(body)):
        response = web.StreamResponse(headers={"Content-Type": EVENT_STREAM})
        await response.prepare(request)
        await write_answer(response, answer, wire_format)
        return response
    if wire_format is OPENAI and not body.get("stream"):
        return web.Response(body=OPENAI_TITLE_RESPONSE, content_type="application/json")
    return web.Response(body=wire_format.title, content_type=EVENT_STREAM)


async def write_answer(response: web.StreamResponse, answer: Answer, wire_format: WireFormat) -> None:
    """Write each chunk when it is due. While the client reads slowly, chunks are late, and so are their stamps."""
    loop = asyncio.get_running_loop()
    started_at, last_stamp_us = loop.time(), 0
    for number, (due_s, step) in enumerate(wire_format.generate_steps(answer)):
        wait_s = started_at + due_s - loop.time()
        if wait_s > 0 or number % STEPS_WITHOUT_PAUSE == 0:
            await asyncio.sleep(max(wait_s, 0))
        last_stamp_us = max(now_us(), last_stamp_us + 1)
        await response.write(stamp(step, last_stamp_us))


def stamp(step: Step, stamp_us: int) -> bytes:
    """Return the bytes of a step, with the stamp in its place if it has one."""
    return step if isinstance(step, bytes) else b"%s%d%s" % (step[0], stamp_us, step[1])


async def list_models(_: web.Request) -> web.Response:
    """Return OpenAI's list of models."""
    return web.Response(body=OPENAI_MODELS, content_type="application/json")


def main(port: int) -> None:
    """Serve on loopback until the process is terminated."""
    # A collection pause of the upstream would be counted as a delay of the product.
    gc.freeze()
    gc.set_threshold(100_000)
    # 0: requests may have any size.
    application = web.Application(client_max_size=0)
    application.router.add_get("/{path:.*}models", list_models)
    application.router.add_post("/{path:.*}", respond)
    loop = uvloop.new_event_loop()
    web.run_app(application, host="127.0.0.1", port=port, backlog=1024, access_log=None, print=None, loop=loop)


if __name__ == "__main__":
    main(int(sys.argv[1]))
