"""Jupyter's wire protocol."""

from __future__ import annotations

import hashlib
import hmac
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.kernels.wire import Message, WireError, packed, unpacked

KEY = b"k" * 64


def _resigned(*parts: bytes) -> list[bytes]:
    """Frames with a valid signature over any four parts: what code inside can make, since it can read the key."""
    signature = hmac.new(KEY, b"".join(parts), hashlib.sha256).hexdigest().encode()
    return [b"<IDS|MSG>", signature, *parts]


def test_a_message_comes_back_as_it_was_packed() -> None:
    frames = packed(KEY, "stream", "1", {"text": "é"}, [b"raw"])
    assert unpacked(KEY, [b"topic", *frames]) == Message("stream", "", {"text": "é"})


def test_the_parent_names_the_request() -> None:
    header, parent = json.dumps({"msg_type": "status"}).encode(), json.dumps({"msg_id": "7"}).encode()
    assert unpacked(KEY, _resigned(header, parent, b"{}", b"{}")).parent_id == "7"


def test_another_key_is_refused() -> None:
    with pytest.raises(WireError):
        unpacked(b"other", packed(KEY, "stream", "1", {}))


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
def test_signed_nonsense_is_a_wire_error(parts: tuple[bytes, ...]) -> None:
    with pytest.raises(WireError):
        unpacked(KEY, _resigned(*parts))


@settings(deadline=None, max_examples=60, derandomize=True)
@given(st.lists(st.binary(max_size=20), max_size=8))
def test_any_frames_are_read_or_refused(frames: list[bytes]) -> None:
    with pytest.raises(WireError):
        unpacked(KEY, frames)
