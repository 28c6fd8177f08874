"""Replays recorded bodies byte for byte: model `replay-STEM` answers with the file STEM of the recordings folder.

A `.sse` file is the body of a stream, a `.json` file a unary body or, when it has an `error`, an HTTP error. The
folder is searched through, so a subfolder may stand before the stem (`replay-derived/STEM`) or be left out. Asked
over the other endpoint, a recording is converted, which the header `X-Emulator-Note` says for a unary body.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chat.emulator.wire import Chunk, Raw, Reply, Step, StreamError, bare_error, error, event

PREFIX = "replay-"


class Recordings:
    """A folder of recordings; looked through once, so files added later need a restart."""

    def __init__(self, folder: Path | None) -> None:
        """None, or a folder without recordings, gives none."""
        self._paths: dict[str, Path] = {}
        for path in sorted(folder.rglob("*")) if folder else []:
            if path.suffix in (".sse", ".json") and not path.name.endswith(".meta.json"):
                self._paths.setdefault(path.stem, path)

    def names(self) -> list[str]:
        """The models these recordings answer as."""
        return [PREFIX + stem for stem in self._paths]

    def find(self, model: str) -> Path | None:
        """The recording of a model's name; only files found in the folder can be named."""
        return self._paths.get(model.removeprefix(PREFIX).rpartition("/")[2])


def steps(path: Path, *, is_stream: bool, is_sse: bool, cut_bytes: int) -> Iterator[Step]:
    """The recording as it goes over the endpoint asked; `cut_bytes` > 0 sends a body in pieces of that size."""
    data = path.read_bytes()
    if path.suffix == ".json":
        body = json.loads(data)
        if not is_stream or "error" in body:
            yield Reply(body.get("error", {}).get("code", 200), data)
        elif is_sse:
            yield from _pieces(event(body), cut_bytes)
        else:
            yield Chunk(body)
    elif is_stream and is_sse:
        yield from _pieces(data, cut_bytes)
    else:
        yield from _parsed(data)


def _pieces(data: bytes, cut_bytes: int) -> Iterator[Raw]:
    size_bytes = cut_bytes or len(data)
    for start in range(0, len(data), size_bytes):
        yield Raw(data[start : start + size_bytes])


def _parsed(data: bytes) -> Iterator[Step]:
    """The events of a body; what is no event must be the bare error that ends it."""
    rest: list[bytes] = []
    for line in data.split(b"\n"):
        if line.startswith(b"data: "):
            yield _step(json.loads(line.removeprefix(b"data: ")))
        else:
            rest.append(line)
    if b"".join(rest).strip():
        yield _step(json.loads(b"\n".join(rest)))


def _step(body: dict[str, Any]) -> Step:
    return StreamError(body, as_event=True) if "error" in body else Chunk(body)


def not_found(model: str) -> Reply:
    """The answer for a recording that is not there."""
    message = f"models/{model} is not a recording of this emulator. Start it with --recordings DIR to replay a folder."
    return Reply(404, bare_error(error(404, message, "NOT_FOUND")))
