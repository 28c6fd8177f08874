"""Messages of Jupyter's wire protocol are packed, signed and validated."""

from __future__ import annotations

import hashlib
import hmac
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.kernels.messages import InvalidMessage, Message, pack_message, unpack_message

KEY = b"k" * 64


def sign_parts(*parts: bytes) -> list[bytes]:
    """Return frames with a valid signature over any parts, as code in the sandbox can make them with the key."""
    signature = hmac.new(KEY, b"".join(parts), hashlib.sha256).hexdigest().encode()
    return [b"<IDS|MSG>", signature, *parts]


def test_packed_message_is_unpacked_unchanged() -> None:
    frames = pack_message(KEY, "stream", "1", {"text": "é"}, [b"raw"])
    assert unpack_message(KEY, [b"topic", *frames]) == Message("stream", "", {"text": "é"})


def test_parent_id_is_the_id_of_the_request() -> None:
    header, parent = json.dumps({"msg_type": "status"}).encode(), json.dumps({"msg_id": "7"}).encode()
    assert unpack_message(KEY, sign_parts(header, parent, b"{}", b"{}")).parent_id == "7"


def test_message_with_another_key_is_refused() -> None:
    with pytest.raises(InvalidMessage):
        unpack_message(b"other", pack_message(KEY, "stream", "1", {}))


@pytest.mark.parametrize(
    "parts",
    [
        (b"[]", b"{}", b"{}", b"{}"),
        (b"{}", b"{}", b"{}", b"{}"),
        (b'{"msg_type": 1}', b"{}", b"{}", b"{}"),
        (b'{"msg_type": "a"}', b'{"msg_id": []}', b"{}", b"{}"),
        (b'{"msg_type": "a"}', b"{}", b"{}", b"nonsense"),
        (b'{"msg_type": "a"}', b"{}", b"{}", b"\xff\xfe"),
        (b'{"msg_type": "a"}', b"{}", b"{}", b"[" * 100_000),
    ],
)
def test_signed_message_of_invalid_shape_is_refused(parts: tuple[bytes, ...]) -> None:
    with pytest.raises(InvalidMessage):
        unpack_message(KEY, sign_parts(*parts))


@settings(deadline=None, max_examples=60, derandomize=True)
@given(st.lists(st.binary(max_size=20), max_size=8))
def test_unsigned_frames_are_refused(frames: list[bytes]) -> None:
    with pytest.raises(InvalidMessage):
        unpack_message(KEY, frames)
