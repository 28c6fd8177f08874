"""Recorded traffic, and what it says, read from its raw JSON without the SDK."""

from __future__ import annotations

import base64
import json
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from chat.parts import Part, PartKind, Usage

ROOT = Path(__file__).resolve().parents[3]
FOLDER = Path(os.environ.get("PLOTLINE_RECORDINGS_DIR") or ROOT.parent / "shared" / "gemini-recordings")
WHY_NOT = "recorded traffic is not here: set PLOTLINE_RECORDINGS_DIR or put it into ../shared/gemini-recordings"


@dataclass(frozen=True)
class Recording:
    """One response body."""

    name: str
    body: bytes
    """As it is served: an event stream, or the JSON of an HTTP error."""
    events: tuple[dict[str, Any], ...]
    error: dict[str, Any] | None
    """The `error` object that ends it."""
    http_status: int

    @property
    def parts(self) -> list[Part]:
        """All parts, in order."""
        return [part_from(json) for event in self.events for json in raw_parts(event)]

    @property
    def finish_reasons(self) -> list[str]:
        """All of them."""
        return [
            candidate["finishReason"]
            for event in self.events
            for candidate in event.get("candidates", [])
            if "finishReason" in candidate
        ]

    @property
    def usage(self) -> Usage | None:
        """What the last event with usage says."""
        said = [event["usageMetadata"] for event in self.events if "usageMetadata" in event]
        if not said:
            return None
        names = ("prompt", "toolUsePrompt", "thoughts", "candidates", "cachedContent", "total")
        return Usage(*(said[-1].get(f"{name}TokenCount") for name in names))


@cache
def recordings() -> tuple[Recording, ...]:
    """Every recording, errors too; none where the folder is absent."""
    paths = sorted(path for path in FOLDER.rglob("*") if path.suffix in (".sse", ".json") and ".meta" not in path.name)
    return tuple(_read(path) for path in paths)


def recording(name: str) -> Recording:
    """The one with this name."""
    return next(one for one in recordings() if one.name == name)


def events_in(body: bytes) -> list[bytes]:
    """The blocks of an event stream, each with the blank line that ends it; the rest comes last."""
    mark = b"\r\n\r\n" if b"\r\n\r\n" in body else b"\n\n"
    *blocks, rest = body.split(mark)
    return [block + mark for block in blocks] + [rest]


def raw_parts(event: dict[str, Any]) -> list[dict[str, Any]]:
    """The parts of one event, as JSON."""
    candidates = event.get("candidates") or [{}]
    parts: list[dict[str, Any]] = candidates[0].get("content", {}).get("parts", [])
    return parts


def bytes_from(text: str) -> bytes:
    """Bytes from base64 of either alphabet."""
    return base64.b64decode(text.replace("-", "+").replace("_", "/"))


def part_from(json: dict[str, Any]) -> Part:
    """A part, read from its JSON."""
    signature = bytes_from(json["thoughtSignature"]) if "thoughtSignature" in json else None
    match {key: value for key, value in json.items() if key != "thoughtSignature"}:
        case {"text": text, **rest}:
            assert not rest.keys() - {"thought"}
            return Part(PartKind.THOUGHT if rest.get("thought") else PartKind.TEXT, text, thought_signature=signature)
        case {"executableCode": code}:
            return Part(
                PartKind.EXECUTABLE_CODE,
                text=code["code"],
                language=code["language"],
                call_id=code.get("id", ""),
                thought_signature=signature,
            )
        case {"codeExecutionResult": result}:
            return Part(
                PartKind.CODE_EXECUTION_RESULT,
                text=result.get("output"),
                outcome=result["outcome"],
                call_id=result.get("id", ""),
                thought_signature=signature,
            )
        case {"inlineData": data}:
            return Part(
                PartKind.INLINE_DATA,
                mime_type=data["mimeType"],
                data=bytes_from(data["data"]),
                thought_signature=signature,
            )
        case {"functionCall": call}:
            fields = {key: value for key, value in call.items() if key != "id"}
            return Part(PartKind.FUNCTION_CALL, call_id=call.get("id", ""), fields=fields, thought_signature=signature)
        case other:
            return Part(PartKind.UNSUPPORTED, fields=other, thought_signature=signature)


def _read(path: Path) -> Recording:
    body = path.read_bytes()
    if path.suffix == ".sse":
        blocks = [block.strip() for block in events_in(body) if block.strip()]
        said = [json.loads(block.removeprefix(b"data: ")) for block in blocks]
        error = next((value["error"] for value in said if "error" in value), None)
        return Recording(path.stem, body, tuple(value for value in said if "error" not in value), error, 200)
    value = json.loads(body)
    if "error" in value:
        return Recording(path.stem, body, (), value["error"], value["error"]["code"])
    line = b"data: " + json.dumps(value, ensure_ascii=False).encode() + b"\r\n\r\n"
    return Recording(path.stem, line, (value,), None, 200)
