"""Messages of Jupyter's websocket are packed and parsed; no message of a kernel costs much or raises another error."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.python.kernels import channel_messages
from chat.python.kernels.channel_messages import InvalidMessage, Message, pack_request, unpack_message

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
FIELDS = ("channel", "header", "parent_header", "content")


def message_text(**changes: object) -> str:
    """Return a message of a kernel as JSON."""
    message = {
        "channel": "iopub",
        "header": {"msg_type": "stream", "session": "process"},
        "parent_header": {"msg_id": "7"},
        "content": {"text": "é"},
    }
    return json.dumps({**message, **changes})


def binary(text: str, buffers: Sequence[bytes] = (b"raw",)) -> bytes:
    """Return a message with buffers as a binary frame."""
    parts = [text.encode(), *buffers]
    offsets = [4 * (len(parts) + 1)]
    for part in parts[:-1]:
        offsets.append(offsets[-1] + len(part))
    return struct.pack(f"!{len(parts) + 1}I", len(parts), *offsets) + b"".join(parts)


PARSED = Message("iopub", "stream", "7", "process", {"text": "é"})


def test_packed_request_is_unpacked_with_the_same_channel_kind_and_content() -> None:
    text = pack_request("shell", "execute_request", "id", "client", {"code": "é"})
    assert unpack_message(text) == Message("shell", "execute_request", "", "client", {"code": "é"})
    assert json.loads(text)["header"]["msg_id"] == "id"


@pytest.mark.parametrize("buffers", [(), (b"raw",), (b"", b"\0" * 99)])
def test_message_is_parsed_as_text_and_as_binary_with_buffers(buffers: Sequence[bytes]) -> None:
    assert unpack_message(message_text()) == PARSED
    assert unpack_message(binary(message_text(), buffers)) == PARSED


@pytest.mark.parametrize("parent", [None, {}])
def test_message_without_a_parent_header_has_no_parent_id(parent: object) -> None:
    assert unpack_message(message_text(parent_header=parent)).parent_id == ""


def test_session_id_that_is_not_a_string_becomes_empty() -> None:
    assert unpack_message(message_text(header={"msg_type": "stream", "session": 7})).session == ""


@pytest.mark.parametrize(
    "changes",
    [
        {"channel": None},
        {"header": []},
        {"header": {}},
        {"header": {"msg_type": 1}},
        {"parent_header": "7"},
        {"parent_header": {"msg_id": 7}},
        {"content": None},
        {"content": "text"},
    ],
)
def test_message_with_a_missing_or_malformed_field_is_invalid(changes: dict[str, object]) -> None:
    with pytest.raises(InvalidMessage):
        unpack_message(message_text(**changes))


@pytest.mark.parametrize("text", ["", "[", "[]", "7", "null", "[" * 100_000, "9" * 5_000, '{"a": ' * 50_000])
def test_text_that_is_not_a_json_object_is_invalid(text: str) -> None:
    with pytest.raises(InvalidMessage):
        unpack_message(text)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0\0",
        struct.pack("!I", 0),
        struct.pack("!I", 2**32 - 1),
        struct.pack("!II", 1, 2**32 - 1),
        struct.pack("!III", 2, 99, 3),
        struct.pack("!I", 1025) + bytes(4 * 1025),
        binary("\udcff".encode(errors="surrogatepass").decode(errors="replace")),
        struct.pack("!II", 1, 8) + b"\xff\xfe",
    ],
)
def test_binary_message_with_wrong_offsets_is_invalid(data: bytes) -> None:
    with pytest.raises(InvalidMessage):
        unpack_message(data)


def test_long_message_with_too_many_json_values_is_invalid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel_messages, "_CHECKED_CHARS", 500)
    monkeypatch.setattr(channel_messages, "VALUES_LIMIT", 100)
    assert unpack_message(message_text(content={"text": "a" * 600})).content == {"text": "a" * 600}
    with pytest.raises(InvalidMessage, match="too many values"):
        unpack_message(message_text(content={"list": [0] * 300}))


@given(st.dictionaries(st.sampled_from(FIELDS), JSON_VALUES))
def test_message_with_random_fields_is_parsed_or_raises_invalid_message(changes: dict[str, object]) -> None:
    try:
        message = unpack_message(message_text(**changes))
    except InvalidMessage:
        return
    assert all(isinstance(text, str) for text in (message.channel, message.kind, message.parent_id, message.session))
    assert isinstance(message.content, dict)


@given(st.binary(max_size=200))
def test_random_bytes_are_an_invalid_message(data: bytes) -> None:
    with pytest.raises(InvalidMessage):
        unpack_message(data)


@given(st.text(), st.lists(st.binary(max_size=20), max_size=4))
def test_text_and_binary_messages_are_parsed_to_the_same_values(text: str, buffers: list[bytes]) -> None:
    whole = message_text(content={"text": text})
    assert unpack_message(whole) == unpack_message(binary(whole, buffers))
