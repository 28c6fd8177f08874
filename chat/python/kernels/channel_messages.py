"""Messages of Jupyter's websocket: JSON objects with a `channel`, and binary messages that have buffers too.

Pure: the module uses no socket and no clock. A kernel runs untrusted code and can send any message, so the shape and
the cost of every message are checked before its content is used.
Source: https://jupyter-server.readthedocs.io/en/latest/developers/websocket-protocols.html (default protocol)
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass

MESSAGE_LIMIT_BYTES = 16 * 1024 * 1024
"""Maximum size of a message. A larger one closes the connection before it is read. The largest storable image fits in,
as base64."""
VALUES_LIMIT = 500_000
"""Maximum number of values in the JSON of one message. Parsing blocks the event loop, and each value is an object in
memory."""
_CHECKED_CHARS = 1_000_000
"""Shorter messages cannot contain many more values than the limit, so they are parsed without a check."""
_BUFFERS_LIMIT = 1024


class InvalidMessage(Exception):
    """The message is not one of Jupyter's protocol."""


class CostlyMessage(InvalidMessage):
    """The message may be valid, but parsing it would cost too much."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message from a kernel, or from the server in its name."""

    channel: str
    """`shell`, `iopub`, `control` or `stdin`."""
    kind: str
    """The message type: `status`, `stream`, `execute_reply`, ..."""
    parent_id: str
    """ID of the request that the message answers; empty if it answers none."""
    session: str
    """ID of the process that wrote the message; Jupyter gives each kernel process another one."""
    content: Mapping[str, object]


def pack_request(channel: str, kind: str, request_id: str, session: str, content: Mapping[str, object]) -> str:
    """Return the text of one request."""
    header = {"msg_id": request_id, "msg_type": kind, "session": session, "username": "", "version": "5.3"}
    parts = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "buffers": []}
    return json.dumps({"channel": channel, **parts})


def unpack_message(data: str | bytes) -> Message:
    """Return the message in a frame, without buffers. Raises InvalidMessage, or CostlyMessage for too many values."""
    text = data if isinstance(data, str) else _json_part(data)
    if len(text) > _CHECKED_CHARS and sum(map(text.count, ",[{")) > VALUES_LIMIT:
        raise CostlyMessage("too many values")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidMessage("not JSON") from error
    if not isinstance(value, dict):
        raise InvalidMessage("not an object")
    header, content = value.get("header"), value.get("content")
    # The server's own messages, such as the status `dead`, answer no request.
    parent = value.get("parent_header") or {}
    if not (isinstance(header, dict) and isinstance(parent, dict) and isinstance(content, dict)):
        raise InvalidMessage("no header or no content")
    channel, kind = value.get("channel"), header.get("msg_type")
    parent_id, session = parent.get("msg_id", ""), header.get("session", "")
    if not (isinstance(channel, str) and isinstance(kind, str) and isinstance(parent_id, str)):
        raise InvalidMessage("a header without its fields")
    return Message(channel, kind, parent_id, session if isinstance(session, str) else "", content)


def _json_part(data: bytes) -> str:
    """Return the JSON of a binary message.

    It consists of a count, that many 32-bit offsets, the JSON, and the buffers.
    """
    try:
        (count,) = struct.unpack_from("!I", data)
        if not 1 <= count <= _BUFFERS_LIMIT:
            raise InvalidMessage("too many buffers")
        offsets = struct.unpack_from(f"!{count}I", data, 4)
        end = offsets[1] if count > 1 else len(data)
        return data[offsets[0] : end].decode()
    except (struct.error, UnicodeDecodeError) as error:
        raise InvalidMessage("not a binary message") from error
