"""A server that streams as Gemini or OpenAI do, stamping each chunk as it writes it; `python -m bench.upstream PORT`.

A POST is answered with what the last text of its contents orders; see `bench.answers`. The path tells the form:
`.../chat/completions` is OpenAI's, all others are Gemini's; `GET .../models` is OpenAI's list. It is written on the
transport itself: upstream and client share one core, and a busy upstream would be taken for a slow product.
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
from bench.wire import (
    GEMINI,
    GEMINI_TITLE,
    OPENAI,
    OPENAI_MODELS,
    OPENAI_TITLE,
    OPENAI_TITLE_WHOLE,
    Form,
    Step,
)

STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
AT_ONCE = 16
"""Chunks written before others get their turn, when an answer is late or flat out."""


def prompt_of(body: dict[str, Any]) -> str:
    """The last text of a request in either form; empty when it has none."""
    last = (body.get("contents") or body.get("messages") or [{}])[-1]
    parts = last.get("parts") or last.get("content") or ""
    if isinstance(parts, list):
        parts = next((part["text"] for part in reversed(parts) if "text" in part), "")
    return str(parts)


def ordered(prompt: str) -> Answer | None:
    """What it orders; None when it is no order."""
    try:
        return Answer.ordered_by(prompt)
    except (TypeError, ValueError):
        return None


def chunk_of(data: bytes) -> bytes:
    """A chunk of HTTP/1.1."""
    return b"%x\r\n%s\r\n" % (len(data), data)


class Server(asyncio.Protocol):
    """One connection: requests one after another, each answered to its end."""

    def __init__(self) -> None:
        self._buffer = b""
        self._loop = asyncio.get_running_loop()
        self._steps: Iterator[tuple[float, Step]] | None = None
        """Of the answer that is being written."""
        self._next: tuple[float, Step] | None = None
        self._timer: asyncio.Handle | None = None
        self._is_paused = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep it."""
        # uvloop's transports do not say that they are one.
        self._transport = cast(asyncio.Transport, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """The reader has gone: it was stopped, or its process ended."""
        if self._timer:
            self._timer.cancel()

    def data_received(self, data: bytes) -> None:
        """Read a request; the next one is left until this one is answered."""
        self._buffer += data
        if not self._steps:
            self._serve()

    def _serve(self) -> None:
        head, found, rest = self._buffer.partition(b"\r\n\r\n")
        if not found:
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
            self._say(OPENAI_MODELS if path.endswith("/models") else b"{}")
        elif "transfer-encoding" in fields:
            self._say(b"{}", status="411 Length Required")
        else:
            body = json.loads(rest[:length])
            answer = ordered(prompt_of(body))
            if answer:
                self._begin(answer, OPENAI if is_openai else GEMINI)
            elif is_openai and not body.get("stream"):
                self._say(OPENAI_TITLE_WHOLE)
            else:
                self._transport.write(
                    STREAM_HEAD + chunk_of(OPENAI_TITLE if is_openai else GEMINI_TITLE) + b"0\r\n\r\n"
                )

    def _say(self, data: bytes, status: str = "200 OK") -> None:
        head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
        self._transport.write(head.encode() + data)

    # --- a stream -------------------------------------------------------------------------------------------------

    def _begin(self, answer: Answer, form: Form) -> None:
        self._started_at, self._stamp = self._loop.time(), 0
        self._head = STREAM_HEAD
        self._steps = form.steps(answer)
        self._next = next(self._steps)
        self._go_on()

    def _go_on(self) -> None:
        """Write what is due, then wait for the next."""
        assert self._steps
        self._timer = None
        for _ in range(AT_ONCE):
            if self._next is None:
                self._transport.write(b"0\r\n\r\n")
                self._steps = None
                self._serve()
                return
            due_s, step = self._next
            due_at = self._started_at + due_s
            if self._is_paused:
                return
            if due_at > self._loop.time():
                self._timer = self._loop.call_at(due_at, self._go_on)
                return
            self._write(step)
            self._next = next(self._steps, None)
        self._timer = self._loop.call_soon(self._go_on)

    def _write(self, step: Step) -> None:
        if isinstance(step, bytes):
            data = step
        else:
            self._stamp = max(now_us(), self._stamp + 1)
            data = b"%s%d%s" % (step[0], self._stamp, step[1])
        self._transport.write(self._head + chunk_of(data))
        self._head = b""

    def pause_writing(self) -> None:
        """The reader is slow: what is late now is stamped when it is written."""
        self._is_paused = True

    def resume_writing(self) -> None:
        """It has caught up."""
        self._is_paused = False
        if self._steps and not self._timer:
            self._go_on()


async def serve(port: int) -> None:
    """Serve on loopback until SIGTERM."""
    server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", port, backlog=1024)
    await server.serve_forever()


if __name__ == "__main__":
    # A pause of ours would be counted as the product's.
    gc.freeze()
    gc.set_threshold(100_000)
    uvloop.run(serve(int(sys.argv[1])))
