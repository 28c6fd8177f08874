"""Recorded bodies are replayed byte for byte, and the SDK reads them."""

from __future__ import annotations

from pathlib import Path

import aiohttp
import pytest
from google import genai
from google.genai import errors

from chat.emulator.wire import Chunk
from tests.chat.emulator.recorded_bodies import NAMES, SIGNED_STREAM, SIGNED_UNARY
from tests.chat.emulator.sdk import answer, parts_of
from tests.gemini_emulator.replay import Recordings, replay_steps
from tests.gemini_emulator.steps import JsonReply, RawBytes, StreamError

HELLO = {"contents": [{"parts": [{"text": "Hello"}]}]}
EVENT = b'data: {"candidates": [{"content": {"parts": [{"text": "a"}]}}]}\r\n\r\n'


def test_folder_has_the_recordings_that_these_tests_name(recordings: Path) -> None:
    assert sorted(Recordings(recordings).names()) == sorted(NAMES)


@pytest.mark.parametrize("model", NAMES)
async def test_recording_is_read_by_the_sdk(client: genai.Client, model: str) -> None:
    if "error-" in model:
        with pytest.raises(errors.APIError):
            await answer(client, model)
    else:
        assert await answer(client, model)


@pytest.mark.parametrize("model", NAMES)
async def test_recording_is_converted_for_the_unary_endpoint(http: aiohttp.ClientSession, model: str) -> None:
    async with http.post(f"/v1beta/models/{model}:generateContent", json=HELLO) as response:
        body = await response.json()
    assert ("error" in body) is ("error-" in model)
    assert response.status == (body["error"]["code"] if "error" in body else 200)


@pytest.mark.parametrize("cut", ["", "1", "7"])
async def test_recorded_stream_is_sent_byte_for_byte(http: aiohttp.ClientSession, recordings: Path, cut: str) -> None:
    paths = Recordings(recordings)
    for model in (name for name in NAMES if "stream" in name):
        path = paths.find(model)
        assert path
        url = f"/v1beta/models/{model}:streamGenerateContent"
        # Cutting an image of 60 KB into single bytes takes long.
        headers = {"X-Emulator-Cut": "" if "image" in model else cut}
        async with http.post(url, params={"alt": "sse"}, json=HELLO, headers=headers) as response:
            assert await response.read() == path.read_bytes()


async def test_cut_recording_gives_the_sdk_the_same_parts(client: genai.Client) -> None:
    parts = parts_of(await answer(client, SIGNED_STREAM))
    assert parts_of(await answer(client, SIGNED_STREAM, headers={"X-Emulator-Cut": "3"})) == parts


async def test_header_says_that_a_unary_recording_was_converted(http: aiohttp.ClientSession) -> None:
    url = f"/v1beta/models/{SIGNED_UNARY}:streamGenerateContent"
    async with http.post(url, params={"alt": "sse"}, json=HELLO) as response:
        body = await response.read()
    assert response.headers["X-Emulator-Note"] == "unary recording, wrapped as one event"
    assert body.startswith(b"data: {")
    assert body.count(b"\n") == 2


def test_recording_is_found_with_or_without_its_subfolder(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "one.sse").write_bytes(EVENT)
    (tmp_path / "sub" / "one.meta.json").write_text("{}")
    recordings = Recordings(tmp_path)
    assert recordings.names() == ["replay-one"]
    assert recordings.find("replay-one") == recordings.find("replay-sub/one") == tmp_path / "sub" / "one.sse"
    assert recordings.find("replay-../sub/two") is None


def test_recorded_stream_is_cut_or_parsed(tmp_path: Path) -> None:
    path = tmp_path / "one.sse"
    path.write_bytes(EVENT + b'{\n "error": {"code": 499}\n}\n')
    pieces = list(replay_steps(path, is_stream=True, is_sse=True, cut_bytes=10))
    assert all(isinstance(piece, RawBytes) and len(piece.data) <= 10 for piece in pieces)
    kinds = [type(step) for step in replay_steps(path, is_stream=False, is_sse=False, cut_bytes=0)]
    assert kinds == [Chunk, StreamError]


def test_recorded_error_keeps_its_status_and_bytes(tmp_path: Path) -> None:
    path = tmp_path / "limit.json"
    path.write_bytes(b'{"error": {"code": 429}}')
    assert list(replay_steps(path, is_stream=True, is_sse=True, cut_bytes=0)) == [JsonReply(429, path.read_bytes())]
