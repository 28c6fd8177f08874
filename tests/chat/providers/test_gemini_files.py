"""Files that Gemini stores: how they are uploaded, when they expire, and what can fail."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pytest_django import Settings

from chat.providers.google import files
from chat.providers.google.provider import GeminiProvider
from chat.providers.provider_errors import (
    FileRefused,
    InvalidRequest,
    MalformedResponse,
    ProviderError,
    RateLimited,
    Stalled,
    Unreachable,
)
from chat.providers.requests import BuiltInTool, Content, GenerateRequest
from chat.vocabulary.built_in_tools import CODE_EXECUTION
from chat.vocabulary.parts import FileData, Role, Text
from tests.chat.providers.conftest import REQUEST, Serve, parts_of, read_all, texts_of
from tests.chat.providers.raw_server import WAIT_LIMIT_S, Answer, Exchange, answer_with_error, never_answer
from tests.emulator_server import running_emulator

KEY = "AIzaSyTheKeyOfThisTestThatNobodyMaySee"


@pytest.fixture(scope="module")
def emulator_url() -> Iterator[str]:
    """The base URL of an emulator that no other tests use."""
    with running_emulator() as url:
        yield url


@pytest.fixture
async def emulated(emulator_url: str, settings: Settings, provider: GeminiProvider) -> AsyncGenerator[GeminiProvider]:
    """The provider, with the emulator's address in the settings."""
    settings.GOOGLE_GEMINI_BASE_URL = emulator_url
    yield provider
    await provider.aclose()


async def test_stored_file_has_an_address_and_expires_after_48_hours(emulated: GeminiProvider) -> None:
    stored = await emulated.upload_file(b"a,b\n1,2\n", mime_type="text/csv", name="größe 😀.csv")
    assert stored.uri.startswith("http")
    assert stored.mime_type == "text/csv"
    assert stored.expires_at.utcoffset() == timedelta()
    assert timedelta(hours=47) < stored.expires_at - datetime.now(UTC) <= timedelta(hours=48)


async def test_model_reads_a_stored_file(emulated: GeminiProvider) -> None:
    stored = await emulated.upload_file(b"city,temp\nOslo,3\nRome,19\n", mime_type="text/csv", name="cities.csv")
    question = Content(Role.USER, (FileData(stored.uri, stored.mime_type), Text("Describe the attached file.")))
    request = GenerateRequest("plotline-demo", (question,), tools=(BuiltInTool(CODE_EXECUTION),))
    received, error = await read_all(emulated, request)
    assert error is None
    answer = "".join(texts_of(received))
    assert "Oslo" in answer or "city" in answer


async def test_large_file_is_stored_whole(emulated: GeminiProvider, emulator_url: str) -> None:
    # More than the 8 MB that the SDK sends in one request.
    data = bytes(range(256)) * 40_000
    stored = await emulated.upload_file(data, mime_type="application/pdf", name="large.pdf")
    async with emulated._clients.use() as client:
        file = await client.aio.files.get(name="files/" + stored.uri.rpartition("/")[2])
    assert (file.size_bytes, file.display_name) == (len(data), "large.pdf")


def answer_upload(*states: dict[str, Any]) -> Answer:
    """Answer an upload, and each later request for the file with the next of these states. The last one is repeated."""
    remaining = list(states)

    async def answer(exchange: Exchange) -> None:
        state = remaining.pop(0) if len(remaining) > 1 else remaining[0]
        file = {"name": "files/a", "uri": "https://files.test/a", "expirationTime": "2030-01-02T03:04:05.678901234Z"}
        if exchange.headers.get("x-goog-upload-command") == "start":
            remaining.insert(0, state)
            exchange.head(headers={"X-Goog-Upload-URL": "https://upload.test/upload/v1beta/files?upload_id=1"})
        elif exchange.headers.get("x-goog-upload-command"):
            exchange.head(content_type="application/json", headers={"X-Goog-Upload-Status": "final"})
            exchange.send(json.dumps({"file": file | state}).encode())
        else:
            exchange.head(content_type="application/json")
            exchange.send(json.dumps(file | state).encode())
        exchange.end()

    return answer


async def test_upload_is_sent_in_two_requests_to_the_address_in_the_settings(
    provider: GeminiProvider, serve: Serve
) -> None:
    async with serve(answer_upload({"state": "ACTIVE"})) as server:
        stored = await provider.upload_file(b"x" * 1000, mime_type="text/plain", name="a.txt")
    started, sent = server.exchanges
    assert started.path == "/upload/v1beta/files"
    assert started.json == {"file": {"display_name": "a.txt", "mime_type": "text/plain", "size_bytes": 1000}}
    assert (sent.path, sent.body) == ("/upload/v1beta/files?upload_id=1", b"x" * 1000)
    assert stored.expires_at == datetime(2030, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)


async def test_upload_waits_until_the_file_can_be_used(
    provider: GeminiProvider, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "POLL_INTERVAL_S", 0.01)
    states = [{"state": "PROCESSING"}, {"state": "PROCESSING"}, {"state": "PROCESSING"}, {"state": "ACTIVE"}]
    async with serve(answer_upload(*states)) as server:
        stored = await provider.upload_file(b"x", mime_type="text/plain", name="a.txt")
    assert stored.uri == "https://files.test/a"
    assert [exchange.path for exchange in server.exchanges[2:]] == ["/v1beta/files/a"] * 3


async def test_upload_fails_if_the_file_is_never_ready(
    provider: GeminiProvider, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "POLL_INTERVAL_S", 0.01)
    monkeypatch.setattr(files, "UPLOAD_LIMIT_S", 0.2)
    async with serve(answer_upload({"state": "PROCESSING"})):
        with pytest.raises(Stalled):
            await asyncio.wait_for(provider.upload_file(b"x", mime_type="text/plain", name="a.txt"), WAIT_LIMIT_S)


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ({"state": "FAILED", "error": {"code": 3, "message": "not a film"}}, FileRefused),
        ({"state": "FAILED"}, FileRefused),
        ({"state": "ACTIVE", "expirationTime": None}, MalformedResponse),
        ({"state": "ACTIVE", "expirationTime": "soon"}, MalformedResponse),
        ({"state": "ACTIVE", "uri": ""}, MalformedResponse),
    ],
)
async def test_upload_that_fails_at_the_provider_or_gets_an_invalid_reply_raises_an_error(
    state: dict[str, Any], expected: type[ProviderError], provider: GeminiProvider, serve: Serve
) -> None:
    async with serve(answer_upload(state)):
        with pytest.raises(expected):
            await provider.upload_file(b"x", mime_type="text/plain", name="a.txt")


async def test_error_of_a_refused_upload_does_not_show_the_key(
    provider: GeminiProvider, serve: Serve, settings: Settings
) -> None:
    settings.GEMINI_EMULATED = False
    settings.GEMINI_API_KEY = KEY
    async with serve(
        answer_with_error(429, json.dumps({"error": {"code": 429, "message": f"slow down, {KEY}"}}).encode())
    ):
        with pytest.raises(RateLimited) as caught:
            await provider.upload_file(b"x", mime_type="text/plain", name="a.txt")
    assert KEY not in repr(caught.value) + caught.value.detail


async def test_upload_whose_connection_breaks_gives_the_error_unreachable(
    provider: GeminiProvider, serve: Serve
) -> None:
    async def answer(exchange: Exchange) -> None:
        exchange.transport.abort()

    async with serve(answer):
        with pytest.raises(Unreachable):
            await provider.upload_file(b"x", mime_type="text/plain", name="a.txt")


async def test_cancelling_an_upload_closes_its_request(provider: GeminiProvider, serve: Serve) -> None:
    async with serve(never_answer) as server:
        task = asyncio.create_task(provider.upload_file(b"x", mime_type="text/plain", name="a.txt"))
        exchange = await server.next_request()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await exchange.wait_until_closed()


def test_account_digest_is_different_for_each_key_address_and_cloud_project(
    provider: GeminiProvider, settings: Settings
) -> None:
    def find_account() -> str:
        return provider.capabilities("").account

    settings.GEMINI_EMULATED = False
    accounts = set()
    for key in (KEY, "another"):
        for url in ("", "https://gateway.test"):
            settings.GEMINI_API_KEY, settings.GOOGLE_GEMINI_BASE_URL = key, url
            accounts.add(find_account())
            assert find_account() == find_account()
    settings.GOOGLE_GENAI_USE_VERTEXAI = True
    for project, location in (("p", "global"), ("p", "europe-west4"), ("q", "global")):
        settings.GOOGLE_CLOUD_PROJECT, settings.GOOGLE_CLOUD_LOCATION = project, location
        accounts.add(find_account())
    assert len(accounts) == 7
    for account in accounts:
        assert len(account) == 64
        assert int(account, 16)


async def test_vertex_ai_answers_requests_but_refuses_uploads_of_files(
    emulated: GeminiProvider, settings: Settings, emulator_url: str
) -> None:
    assert emulated.capabilities(REQUEST.model).stores_files
    settings.GOOGLE_GENAI_USE_VERTEXAI = True
    settings.GEMINI_EMULATED = False
    settings.GEMINI_API_KEY = "a-key"
    settings.GEMINI_API_VERSION = "v1beta1"
    assert not emulated.capabilities(REQUEST.model).stores_files
    received, error = await read_all(emulated, REQUEST, model="plotline-demo")
    assert error is None
    assert parts_of(received)
    with pytest.raises(InvalidRequest):
        await emulated.upload_file(b"x", mime_type="text/plain", name="a.txt")
