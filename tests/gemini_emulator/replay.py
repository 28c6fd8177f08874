"""Replays recorded bodies byte for byte: model `replay-STEM` answers with the file STEM of the recordings folder.

A `.sse` file is the body of a stream. A `.json` file is a unary body or, if it has an `error`, an HTTP error. Files in
subfolders are found too; the subfolder may precede the stem (`replay-derived/STEM`) or be omitted. If a client uses
the other endpoint, the recording is converted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from chat.emulator.wire import Chunk, Step, WireObject, sse_event
from tests.gemini_emulator.steps import JsonReply, RawBytes, StreamError, http_error

PREFIX = "replay-"


class Recordings:
    """The recordings in a folder. Files that are added later are not found."""

    def __init__(self, folder: Path | None) -> None:
        """Without a folder there are no recordings."""
        self._paths: dict[str, Path] = {}
        for path in sorted(folder.rglob("*")) if folder else []:
            if path.suffix in (".sse", ".json") and not path.name.endswith(".meta.json"):
                self._paths.setdefault(path.stem, path)

    def names(self) -> list[str]:
        """Return the names of the models that answer with these recordings."""
        return [PREFIX + stem for stem in self._paths]

    def find(self, model: str) -> Path | None:
        """Return the recording of a model, or None. Only files in the folder can be named."""
        return self._paths.get(model.removeprefix(PREFIX).rpartition("/")[2])


def replay_steps(path: Path, *, is_stream: bool, is_sse: bool, cut_bytes: int) -> Iterator[Step]:
    """Yield a recording for the endpoint of the request; `cut_bytes` > 0 splits the body into pieces of that size."""
    data = path.read_bytes()
    if path.suffix == ".json":
        body = json.loads(data)
        if not is_stream or "error" in body:
            yield JsonReply(body.get("error", {}).get("code", 200), data)
        elif is_sse:
            yield from _pieces(sse_event(body), cut_bytes)
        else:
            yield Chunk(body)
    elif is_stream and is_sse:
        yield from _pieces(data, cut_bytes)
    else:
        yield from _parsed_events(data)


def not_found(model: str) -> JsonReply:
    """Return the response for a recording that does not exist."""
    message = f"models/{model} is not a recording of this emulator. Start it with --recordings DIR to replay a folder."
    return http_error(404, message, "NOT_FOUND")


def _pieces(data: bytes, cut_bytes: int) -> Iterator[Step]:
    size_bytes = cut_bytes or len(data)
    for start in range(0, len(data), size_bytes):
        yield RawBytes(data[start : start + size_bytes])


def _parsed_events(data: bytes) -> Iterator[Step]:
    """Yield the events of a body. The lines that are no events together are the error that ends the stream."""
    other_lines: list[bytes] = []
    for line in data.split(b"\n"):
        if line.startswith(b"data: "):
            yield _step_of(json.loads(line.removeprefix(b"data: ")))
        else:
            other_lines.append(line)
    if b"".join(other_lines).strip():
        yield _step_of(json.loads(b"\n".join(other_lines)))


def _step_of(body: WireObject) -> Step:
    return StreamError(body, as_event=True) if "error" in body else Chunk(body)
