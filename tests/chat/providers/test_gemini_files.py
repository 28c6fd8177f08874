"""Files that Gemini keeps: how they get there, until when, and what goes wrong."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pytest_django import Settings

from chat.parts import Content, GenerateRequest, Part, PartKind, Role
from chat.providers import gemini
from chat.providers.base import (
    FileGone,
    InvalidRequest,
    MalformedResponse,
    ProviderError,
    RateLimited,
    Stalled,
    Unreachable,
)
from chat.providers.gemini import GeminiProvider
from tests.chat.providers.conftest import REQUEST, Serve, all_of, parts_of
from tests.chat.providers.raw_server import Answer, Exchange, failing
from tests.emulator_server import running_emulator

KEY = "AIzaSyTheKeyOfThisTestThatNobodyMaySee"


@pytest.fixture(scope="module")
def emulator_url() -> Iterator[str]:
    """An emulator of these tests' own: its files are theirs."""
    with running_emulator() as url:
        yield url


@pytest.fixture
async def emulated(emulator_url: str, settings: Settings, provider: GeminiProvider) -> AsyncGenerator[GeminiProvider]:
    """The provider, pointed at the emulator."""
    settings.GOOGLE_GEMINI_BASE_URL = emulator_url
    yield provider
    await provider.aclose()


async def test_kept_file_is_there_until_it_expires(emulated: GeminiProvider) -> None:
    kept = await emulated.keep_file(b"a,b\n1,2\n", mime_type="text/csv", name="größe 😀.csv")
    assert kept.uri.startswith("http")
    assert kept.mime_type == "text/csv"
    assert kept.expires_at.utcoffset() == timedelta()
    assert timedelta(hours=47) < kept.expires_at - datetime.now(UTC) <= timedelta(hours=48)


async def test_kept_file_is_read_by_the_model(emulated: GeminiProvider) -> None:
    kept = await emulated.keep_file(b"city,temp\nOslo,3\nRome,19\n", mime_type="text/csv", name="cities.csv")
    file = Part(PartKind.FILE_DATA, mime_type=kept.mime_type, fields={"fileUri": kept.uri})
    asked = Content(Role.USER, (file, Part(PartKind.TEXT, text="Describe the attached file.")))
    received, error = await all_of(emulated, GenerateRequest("plotline-demo", (asked,), code_execution=True))
    assert error is None
    said = "".join(part.text or "" for part in parts_of(received))
    assert "Oslo" in said or "city" in said


async def test_large_file_is_kept_whole(emulated: GeminiProvider, emulator_url: str) -> None:
    # More than the 8 MB that the SDK sends at once.
    data = bytes(range(256)) * 40_000
    kept = await emulated.keep_file(data, mime_type="application/pdf", name="large.pdf")
    async with emulated._clients.use() as client:
        file = await client.aio.files.get(name="files/" + kept.uri.rpartition("/")[2])
    assert (file.size_bytes, file.display_name) == (len(data), "large.pdf")


async def test_file_that_is_gone_says_so(emulated: GeminiProvider, emulator_url: str) -> None:
    with pytest.raises(FileGone):
        async with emulated._clients.use() as client:
            await client.aio.files.get(name="files/absent")


def uploading(*states: dict[str, Any]) -> Answer:
    """Answer an upload, and each later question for the file with the next of these states, the last for ever."""
    left = list(states)

    async def answer(exchange: Exchange) -> None:
        told = left.pop(0) if len(left) > 1 else left[0]
        file = {"name": "files/a", "uri": "https://files.test/a", "expirationTime": "2030-01-02T03:04:05.678901234Z"}
        if exchange.headers.get("x-goog-upload-command") == "start":
            left.insert(0, told)
            exchange.head(headers={"X-Goog-Upload-URL": "https://upload.test/upload/v1beta/files?upload_id=1"})
        elif exchange.headers.get("x-goog-upload-command"):
            exchange.head(content_type="application/json", headers={"X-Goog-Upload-Status": "final"})
            exchange.send(json.dumps({"file": file | told}).encode())
        else:
            exchange.head(content_type="application/json")
            exchange.send(json.dumps(file | told).encode())
        exchange.end()

    return answer


async def test_upload_goes_to_the_address_of_the_settings(provider: GeminiProvider, serve: Serve) -> None:
    async with serve(uploading({"state": "ACTIVE"})) as server:
        kept = await provider.keep_file(b"x" * 1000, mime_type="text/plain", name="a.txt")
    started, sent = server.exchanges
    assert started.path == "/upload/v1beta/files"
    assert started.json == {"file": {"display_name": "a.txt", "mime_type": "text/plain", "size_bytes": 1000}}
    assert (sent.path, sent.body) == ("/upload/v1beta/files?upload_id=1", b"x" * 1000)
    assert kept.expires_at == datetime(2030, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)


async def test_file_is_waited_for(provider: GeminiProvider, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gemini, "POLL_S", 0.01)
    states = [{"state": "PROCESSING"}, {"state": "PROCESSING"}, {"state": "PROCESSING"}, {"state": "ACTIVE"}]
    async with serve(uploading(*states)) as server:
        kept = await provider.keep_file(b"x", mime_type="text/plain", name="a.txt")
    assert kept.uri == "https://files.test/a"
    assert [exchange.path for exchange in server.exchanges[2:]] == ["/v1beta/files/a"] * 3


async def test_file_that_is_never_ready_is_not_waited_for_long(
    provider: GeminiProvider, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gemini, "POLL_S", 0.01)
    monkeypatch.setattr(gemini, "KEEP_LIMIT_S", 0.2)
    began_at = time.monotonic()
    async with serve(uploading({"state": "PROCESSING"})):
        with pytest.raises(Stalled):
            await provider.keep_file(b"x", mime_type="text/plain", name="a.txt")
    assert time.monotonic() - began_at < 2


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        ({"state": "FAILED", "error": {"code": 3, "message": "not a film"}}, InvalidRequest),
        ({"state": "FAILED"}, InvalidRequest),
        ({"state": "ACTIVE", "expirationTime": None}, MalformedResponse),
        ({"state": "ACTIVE", "expirationTime": "soon"}, MalformedResponse),
        ({"state": "ACTIVE", "uri": ""}, MalformedResponse),
    ],
)
async def test_file_that_cannot_be_kept_is_an_error(
    state: dict[str, Any], kind: type[ProviderError], provider: GeminiProvider, serve: Serve
) -> None:
    async with serve(uploading(state)):
        with pytest.raises(kind):
            await provider.keep_file(b"x", mime_type="text/plain", name="a.txt")


async def test_refused_upload_is_an_error_that_does_not_tell_the_key(
    provider: GeminiProvider, serve: Serve, settings: Settings
) -> None:
    settings.GEMINI_EMULATED = False
    settings.GEMINI_API_KEY = KEY
    async with serve(failing(429, json.dumps({"error": {"code": 429, "message": f"slow down, {KEY}"}}).encode())):
        with pytest.raises(RateLimited) as caught:
            await provider.keep_file(b"x", mime_type="text/plain", name="a.txt")
    assert KEY not in repr(caught.value) + caught.value.detail


async def test_upload_that_breaks_is_unreachable(provider: GeminiProvider, serve: Serve) -> None:
    async def answer(exchange: Exchange) -> None:
        exchange.transport.abort()

    async with serve(answer):
        with pytest.raises(Unreachable):
            await provider.keep_file(b"x", mime_type="text/plain", name="a.txt")


async def test_cancelled_upload_closes_its_request(provider: GeminiProvider, serve: Serve) -> None:
    async def answer(exchange: Exchange) -> None:
        await asyncio.sleep(60)

    async with serve(answer) as server:
        task = asyncio.create_task(provider.keep_file(b"x", mime_type="text/plain", name="a.txt"))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(server.exchanges[0].closed.wait(), 0.5)


def test_account_is_another_for_another_key_or_address_and_tells_neither(
    provider: GeminiProvider, settings: Settings
) -> None:
    settings.GEMINI_EMULATED = False
    accounts = set()
    for key in (KEY, "another"):
        for url in ("", "https://gateway.test"):
            settings.GEMINI_API_KEY, settings.GOOGLE_GEMINI_BASE_URL = key, url
            accounts.add(provider.account)
            assert provider.account == provider.account
    settings.GOOGLE_GENAI_USE_VERTEXAI = True
    for project, location in (("p", "global"), ("p", "europe-west4"), ("q", "global")):
        settings.GOOGLE_CLOUD_PROJECT, settings.GOOGLE_CLOUD_LOCATION = project, location
        accounts.add(provider.account)
    assert len(accounts) == 7
    for account in accounts:
        assert len(account) == 64
        assert int(account, 16)


async def test_vertex_generates_but_keeps_no_files(
    emulated: GeminiProvider, settings: Settings, emulator_url: str
) -> None:
    assert emulated.keeps_files
    settings.GOOGLE_GENAI_USE_VERTEXAI = True
    settings.GEMINI_EMULATED = False
    settings.GEMINI_API_KEY = "a-key"
    settings.GEMINI_API_VERSION = "v1beta1"
    assert not emulated.keeps_files
    received, error = await all_of(emulated, REQUEST, model="plotline-demo")
    assert error is None
    assert parts_of(received)
    with pytest.raises(InvalidRequest):
        await emulated.keep_file(b"x", mime_type="text/plain", name="a.txt")
