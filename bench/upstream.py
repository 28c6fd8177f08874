"""A server that streams like Gemini or OpenAI and stamps each chunk when it writes it.

Run it with `python -m bench.upstream PORT`. It answers a POST with the `Answer` that the last text of the request
describes. A path that ends with `/chat/completions` selects OpenAI's form, every other path selects Gemini's;
`GET .../models` returns OpenAI's list of models. The server is written directly on an asyncio transport: it shares a
core with the client, and a busy upstream would look like a slow product.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
from collections.abc import Iterator
from typing import Any, cast

import uvloop

from bench.answers import Answer, now_us
from bench.wire_formats import (
    GEMINI,
    GEMINI_TITLE,
    OPENAI,
    OPENAI_MODELS,
    OPENAI_TITLE,
    OPENAI_TITLE_RESPONSE,
    Step,
    WireFormat,
)

STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
STREAM_END = b"0\r\n\r\n"

#: Chunks that a late answer, or one without pauses, may write before other connections are served.
MAX_STEPS_PER_CALL = 16


NOTE = "[Note of the server"


def extract_prompt(body: dict[str, Any]) -> str:
    """Return the question of a request in Gemini's or OpenAI's form, or an empty string.

    It is the text of the last message, without Plotline's notes about the date and its tools.
    """
    last = (body.get("contents") or body.get("messages") or [{}])[-1]
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


def encode_chunk(data: bytes) -> bytes:
    """Encode data as a chunk of HTTP/1.1 chunked transfer coding."""
    return b"%x\r\n%s\r\n" % (len(data), data)


class UpstreamConnection(asyncio.Protocol):
    """One HTTP connection. Requests are answered one after the other."""

    def __init__(self) -> None:
        self._buffer = b""
        self._loop = asyncio.get_running_loop()
        self._steps: Iterator[tuple[float, Step]] | None = None
        """The remaining steps of the answer that is being written."""
        self._next_step: tuple[float, Step] | None = None
        self._timer: asyncio.Handle | None = None
        self._is_paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport."""
        # uvloop's transports do not inherit from asyncio.Transport.
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop writing, because the client stopped the answer or its process ended."""
        if self._timer:
            self._timer.cancel()

    def data_received(self, data: bytes) -> None:
        """Buffer the data, and handle a request unless an answer is still being written."""
        self._buffer += data
        if not self._steps:
            self._handle_request()

    def _handle_request(self) -> None:
        head, separator, rest = self._buffer.partition(b"\r\n\r\n")
        if not separator:
            return
        request, *lines = head.decode("latin-1").split("\r\n")
        fields = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = int(fields.get("content-length", 0))
        if len(rest) < length:
            return
        self._buffer = rest[length:]
        method, path, _ = request.split(" ", 2)
        is_openai = path.partition("?")[0].endswith("/chat/completions")
        if method == "GET":
            self._respond(OPENAI_MODELS if path.endswith("/models") else b"{}")
        elif "transfer-encoding" in fields:
            self._respond(b"{}", status="411 Length Required")
        else:
            body = json.loads(rest[:length])
            answer = parse_answer(extract_prompt(body))
            if answer:
                self._start_stream(answer, OPENAI if is_openai else GEMINI)
            elif is_openai and not body.get("stream"):
                self._respond(OPENAI_TITLE_RESPONSE)
            else:
                title = OPENAI_TITLE if is_openai else GEMINI_TITLE
                self._transport.write(STREAM_HEAD + encode_chunk(title) + STREAM_END)

    def _respond(self, data: bytes, status: str = "200 OK") -> None:
        head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
        self._transport.write(head.encode() + data)

    def _start_stream(self, answer: Answer, wire_format: WireFormat) -> None:
        self._started_at, self._last_stamp_us = self._loop.time(), 0
        self._unsent_head = STREAM_HEAD
        self._steps = wire_format.generate_steps(answer)
        self._next_step = next(self._steps)
        self._write_due_steps()

    def _write_due_steps(self) -> None:
        """Write every step that is due, and schedule the next call."""
        assert self._steps
        self._timer = None
        for _ in range(MAX_STEPS_PER_CALL):
            if self._next_step is None:
                self._transport.write(STREAM_END)
                self._steps = None
                self._handle_request()
                return
            due_s, step = self._next_step
            due_at = self._started_at + due_s
            if self._is_paused:
                return
            if due_at > self._loop.time():
                self._timer = self._loop.call_at(due_at, self._write_due_steps)
                return
            self._write_step(step)
            self._next_step = next(self._steps, None)
        self._timer = self._loop.call_soon(self._write_due_steps)

    def _write_step(self, step: Step) -> None:
        if isinstance(step, bytes):
            data = step
        else:
            self._last_stamp_us = max(now_us(), self._last_stamp_us + 1)
            data = b"%s%d%s" % (step[0], self._last_stamp_us, step[1])
        self._transport.write(self._unsent_head + encode_chunk(data))
        self._unsent_head = b""

    def pause_writing(self) -> None:
        """Pause while the client reads slowly. A chunk gets its stamp when it is written, even if it is late."""
        self._is_paused = True

    def resume_writing(self) -> None:
        """Continue after the client has read enough."""
        self._is_paused = False
        if self._steps and not self._timer:
            self._write_due_steps()


async def serve(port: int) -> None:
    """Serve on loopback until the process is terminated."""
    server = await asyncio.get_running_loop().create_server(UpstreamConnection, "127.0.0.1", port, backlog=1024)
    await server.serve_forever()


if __name__ == "__main__":
    # A collection pause of the upstream would be counted as a delay of the product.
    gc.freeze()
    gc.set_threshold(100_000)
    uvloop.run(serve(int(sys.argv[1])))
