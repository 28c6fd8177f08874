"""Jupyter's wire protocol: signed messages as lists of frames.

Pure: the module uses no socket and no clock. The code inside the sandbox can read the key that signs messages, so a
valid signature proves only that a message belongs to the session. The shape of every message is therefore validated.
Source: https://jupyter-client.readthedocs.io/en/stable/messaging.html#wire-protocol
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_DELIMITER = b"<IDS|MSG>"


class InvalidMessage(Exception):
    """The frames are not a valid message of this session."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message from a kernel."""

    kind: str
    """The message type: `status`, `stream`, `execute_reply`, ..."""
    parent_id: str
    """ID of the request that the message answers; empty if it answers none."""
    content: Mapping[str, object]


def pack_message(
    key: bytes, kind: str, request_id: str, content: Mapping[str, object], buffers: Sequence[bytes] = ()
) -> list[bytes]:
    """Return the frames of one request; the buffers follow the message as they are."""
    header = {"msg_id": request_id, "msg_type": kind, "session": "plotline", "username": "", "version": "5.3"}
    parts = [json.dumps(part).encode() for part in (header, {}, {}, content)]
    return [_DELIMITER, _sign(key, parts), *parts, *buffers]


def unpack_message(key: bytes, frames: Sequence[bytes]) -> Message:
    """Return the message in these frames; raises InvalidMessage."""
    try:
        start = list(frames).index(_DELIMITER) + 1
    except ValueError:
        raise InvalidMessage("no delimiter") from None
    parts = list(frames[start + 1 : start + 5])
    if len(parts) < 4 or not hmac.compare_digest(frames[start], _sign(key, parts)):
        raise InvalidMessage("not signed with this session's key")
    header, parent, content = _parse_object(parts[0]), _parse_object(parts[1]), _parse_object(parts[3])
    kind, parent_id = header.get("msg_type"), parent.get("msg_id", "")
    if not isinstance(kind, str) or not isinstance(parent_id, str):
        raise InvalidMessage("a header without its fields")
    return Message(kind, parent_id, content)


def _sign(key: bytes, parts: Sequence[bytes]) -> bytes:
    return hmac.new(key, b"".join(parts), hashlib.sha256).hexdigest().encode()


def _parse_object(encoded: bytes) -> dict[str, object]:
    try:
        value = json.loads(encoded)
    except (ValueError, RecursionError) as error:
        raise InvalidMessage("not JSON") from error
    if not isinstance(value, dict):
        raise InvalidMessage("not an object")
    return value
