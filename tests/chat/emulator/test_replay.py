"""Recorded traffic goes through byte for byte, and the SDK reads all of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import aiohttp
import pytest
from google import genai
from google.genai import errors

from chat.emulator import replay
from chat.emulator.replay import Recordings
from chat.emulator.wire import Chunk, Raw, Reply, StreamError
from tests.chat.emulator.sdk import answer, parts_of
from tests.emulator_server import NO_RECORDINGS, recordings_folder

FOLDER = recordings_folder()
NAMES = Recordings(FOLDER).names()
HELLO = {"contents": [{"parts": [{"text": "Hello"}]}]}
EVENT = b'data: {"candidates": [{"content": {"parts": [{"text": "a"}]}}]}\r\n\r\n'

needs_recordings = pytest.mark.skipif(not NAMES, reason=NO_RECORDINGS)


@needs_recordings
@pytest.mark.parametrize("model", NAMES)
async def test_recording_is_read_by_the_sdk(client: genai.Client, model: str) -> None:
    if "error-" in model:
        with pytest.raises(errors.ClientError):
            await answer(client, model)
    else:
        chunks = await answer(client, model)
        assert chunks


@needs_recordings
@pytest.mark.parametrize("model", [name for name in NAMES if "-graph-" not in name])
async def test_recording_is_the_same_over_the_unary_endpoint(http: aiohttp.ClientSession, model: str) -> None:
    async with http.post(f"/v1beta/models/{model}:generateContent", json=HELLO) as response:
        body: dict[str, Any] = await response.json()
    assert ("error" in body) is ("error-" in model)
    assert response.status == (body["error"]["code"] if "error" in body else 200)


@needs_recordings
@pytest.mark.parametrize("cut", ["", "1", "7"])
async def test_stream_recording_goes_byte_for_byte_whatever_the_cut(http: aiohttp.ClientSession, cut: str) -> None:
    assert FOLDER
    for path in FOLDER.glob("codeexec-stream-*.sse"):
        url = f"/v1beta/models/replay-{path.stem}:streamGenerateContent"
        async with http.post(url, params={"alt": "sse"}, json=HELLO, headers={"X-Emulator-Cut": cut}) as response:
            assert await response.read() == path.read_bytes()


@needs_recordings
async def test_cut_recording_gives_the_sdk_the_same_parts(client: genai.Client) -> None:
    model = "replay-codeexec-stream-gemini3flash-real-signatures"
    whole = parts_of(await answer(client, model))
    assert parts_of(await answer(client, model, headers={"X-Emulator-Cut": "3"})) == whole


@needs_recordings
async def test_unary_recording_is_wrapped_for_the_stream_and_says_so(http: aiohttp.ClientSession) -> None:
    url = "/v1beta/models/replay-codeexec-unary-25flash-basic:streamGenerateContent"
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


def test_stream_recording_is_cut_or_parsed_as_asked(tmp_path: Path) -> None:
    path = tmp_path / "one.sse"
    path.write_bytes(EVENT + b'{\n "error": {"code": 499}\n}\n')
    pieces = list(replay.steps(path, is_stream=True, is_sse=True, cut_bytes=10))
    assert all(isinstance(piece, Raw) and len(piece.data) <= 10 for piece in pieces)
    kinds = [type(step) for step in replay.steps(path, is_stream=False, is_sse=False, cut_bytes=0)]
    assert kinds == [Chunk, StreamError]


def test_error_recording_keeps_its_status_and_bytes(tmp_path: Path) -> None:
    path = tmp_path / "limit.json"
    path.write_bytes(b'{"error": {"code": 429}}')
    assert list(replay.steps(path, is_stream=True, is_sse=True, cut_bytes=0)) == [Reply(429, path.read_bytes())]
