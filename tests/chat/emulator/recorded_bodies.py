"""Writes response bodies as a recorder of real traffic stores them: streams, unary bodies and errors."""

from __future__ import annotations

import json
from pathlib import Path

from chat.emulator import wire
from chat.emulator.wire import Chunk, UnaryResponse
from tests.chat.emulator.request_factory import make_request
from tests.gemini_emulator.scenarios import scenario_steps
from tests.gemini_emulator.steps import JsonReply, StreamError

SIGNED_STREAM = "replay-signed-code"
SIGNED_UNARY = "replay-signed-code-unary"
STREAMS = ("code", "image", "thoughts", "two-finishes", "error-in-stream-bare")
"""Scenarios that are recorded as streams."""
NAMES = (SIGNED_STREAM, SIGNED_UNARY, "replay-error-429", *(f"replay-stream-{name}" for name in STREAMS))
"""The models that replay the recordings."""


def write_recordings(folder: Path) -> None:
    """Write one file for each of NAMES, one of them in a subfolder."""
    (folder / "derived").mkdir()
    (folder / "signed-code.sse").write_bytes(_stream("code"))
    (folder / "signed-code-unary.json").write_bytes(_unary("code-two-rounds"))
    (folder / "signed-code.meta.json").write_text(json.dumps({"model": "gemini-3-flash"}))
    (folder / "error-429.json").write_bytes(_error("rate-limited"))
    for name in STREAMS:
        subfolder = folder / "derived" if name == "image" else folder
        (subfolder / f"stream-{name}.sse").write_bytes(_stream(name))


def _stream(scenario: str) -> bytes:
    body = b""
    for step in scenario_steps(make_request(model=f"scenario-{scenario}"), 0):
        if isinstance(step, Chunk):
            body += wire.sse_event(step.response)
        elif isinstance(step, StreamError):
            body += wire.serialize_indented(step.body)
    return body


def _unary(scenario: str) -> bytes:
    response = UnaryResponse()
    for step in scenario_steps(make_request(model=f"scenario-{scenario}"), 0):
        assert isinstance(step, Chunk)
        response.add(step.response)
    return wire.serialize_indented(response.body)


def _error(scenario: str) -> bytes:
    [reply] = scenario_steps(make_request(model=f"scenario-{scenario}"), 0)
    assert isinstance(reply, JsonReply)
    return reply.body
