"""Jupyter's wire protocol: signed messages as lists of frames.

Pure: no socket, no clock. What a kernel sends is signed with a key that the code inside can read, so a valid signature
proves the session and nothing else: every shape is checked.
Source: https://jupyter-client.readthedocs.io/en/stable/messaging.html#wire-protocol
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_DELIMITER = b"<IDS|MSG>"


class WireError(Exception):
    """Frames that are no message of this session."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a kernel."""

    kind: str
    """`status`, `stream`, `execute_reply`, ..."""
    parent_id: str
    """The request it belongs to; empty for none."""
    content: Mapping[str, object]


def packed(
    key: bytes, kind: str, request_id: str, content: Mapping[str, object], buffers: Sequence[bytes] = ()
) -> list[bytes]:
    """Make the frames of one request; buffers travel raw behind it."""
    header = {"msg_id": request_id, "msg_type": kind, "session": "plotline", "username": "", "version": "5.3"}
    parts = [json.dumps(part).encode() for part in (header, {}, {}, content)]
    return [_DELIMITER, _signature(key, parts), *parts, *buffers]


def unpacked(key: bytes, frames: Sequence[bytes]) -> Message:
    """Read the frames of one message; raises WireError."""
    try:
        start = list(frames).index(_DELIMITER) + 1
    except ValueError:
        raise WireError("no delimiter") from None
    parts = list(frames[start + 1 : start + 5])
    if len(parts) < 4 or not hmac.compare_digest(frames[start], _signature(key, parts)):
        raise WireError("not signed with this session's key")
    header, parent, content = _object(parts[0]), _object(parts[1]), _object(parts[3])
    kind, parent_id = header.get("msg_type"), parent.get("msg_id", "")
    if not isinstance(kind, str) or not isinstance(parent_id, str):
        raise WireError("a header without its fields")
    return Message(kind, parent_id, content)


def _signature(key: bytes, parts: Sequence[bytes]) -> bytes:
    return hmac.new(key, b"".join(parts), hashlib.sha256).hexdigest().encode()


def _object(encoded: bytes) -> dict[str, Any]:
    try:
        value = json.loads(encoded)
    except (ValueError, RecursionError) as error:
        raise WireError("not JSON") from error
    if not isinstance(value, dict):
        raise WireError("not an object")
    return value
