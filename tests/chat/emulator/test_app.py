"""The server over a real socket: paths, bodies, errors, models and files."""

from __future__ import annotations

import json
from collections.abc import AsyncIterable
from typing import Any

import aiohttp
import pytest
from google import genai
from google.genai import types
from google.genai.interactions import StepDelta, TextDelta

from tests.scenarios.texts import PLAIN

HELLO = {"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]}
TEXT_STREAM = "/v1beta/models/scenario-text:streamGenerateContent"
LONG = "scenario-continuation"
VERTEX_STREAM = "/v1beta1/publishers/google/models/scenario-text:streamGenerateContent"


async def test_each_event_of_a_stream_has_usage_and_the_last_has_a_finish_reason(http: aiohttp.ClientSession) -> None:
    async with http.post(TEXT_STREAM, params={"alt": "sse"}, json=HELLO) as response:
        body = await response.read()
    assert response.content_type == "text/event-stream"
    events = body.split(b"\r\n\r\n")
    assert events.pop() == b""
    chunks = [json.loads(event.removeprefix(b"data: ")) for event in events]
    assert len({chunk["responseId"] for chunk in chunks}) == 1
    for chunk in chunks:
        usage = chunk["usageMetadata"]
        terms = [count for name, count in usage.items() if name.endswith("Count") and name != "totalTokenCount"]
        assert chunk["modelVersion"] == "scenario-text"
        assert usage["totalTokenCount"] == sum(terms)
    assert chunks[-1]["candidates"][0]["finishReason"] == "STOP"


@pytest.mark.parametrize(
    "path",
    [
        "/v1/models",
        "/v1alpha/models",
        "/v1/projects/p/locations/global/publishers/google/models",
        "/v1beta1/publishers/google/models",
        "/publishers/google/models",
    ],
)
async def test_paths_of_any_api_version_and_of_vertex_are_served(http: aiohttp.ClientSession, path: str) -> None:
    url = f"{path}/scenario-text:streamGenerateContent"
    async with http.post(url, params={"alt": "sse"}, json=HELLO) as response:
        assert response.status == 200


@pytest.mark.parametrize(
    ("path", "store", "message"),
    [
        (TEXT_STREAM, False, ""),
        (TEXT_STREAM, True, ""),
        (TEXT_STREAM, "false", "Invalid value at 'store' (TYPE_BOOL)"),
        (VERTEX_STREAM, False, "Unknown name"),
    ],
)
async def test_field_store_must_be_a_boolean_and_is_unknown_to_vertex(
    http: aiohttp.ClientSession, path: str, store: object, message: str
) -> None:
    async with http.post(path, params={"alt": "sse"}, json={**HELLO, "store": store}) as response:
        assert (response.status, message in await response.text()) == (400 if message else 200, True)


@pytest.mark.parametrize(
    ("path", "data", "status"),
    [
        (TEXT_STREAM + "?alt=sse", b"{", 400),
        (TEXT_STREAM + "?alt=sse", b"[]", 400),
        (TEXT_STREAM + "?alt=sse", b'"\xff"', 400),
        (TEXT_STREAM + "?alt=sse", b"{}", 400),
        ("/v1beta/models/scenario-text:embedContent", b"{}", 404),
        ("/v1beta/models/scenario-unknown-name:generateContent", json.dumps(HELLO).encode(), 404),
        ("/v1beta/nothing", b"", 404),
        ("/upload/v1beta/files", b"", 400),
        ("/upload/v1beta/files?upload_id=no", b"", 404),
    ],
)
async def test_invalid_request_gets_an_error_in_geminis_format(
    http: aiohttp.ClientSession, path: str, data: bytes, status: int
) -> None:
    async with http.post(path, data=data) as response:
        body: Any = await response.json()
    error = body["error"]
    assert (response.status, error["code"]) == (status, status)
    assert error["message"]
    assert error["status"].isupper()


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:80", "127.0.0.1:1", "127.1.2.3", "[::1]:8300"])
async def test_requests_with_any_loopback_host_name_are_accepted(http: aiohttp.ClientSession, host: str) -> None:
    async with http.get("/v1beta/models", headers={"Host": host}) as response:
        assert response.status == 200


@pytest.mark.parametrize(
    "host", ["rebound.example", "localhost.example:8300", "127.0.0.1.example", "192.0.2.1", "[", "", "a@b", "0.0.0.0"]
)
@pytest.mark.parametrize("path", ["/v1beta/models", "/emulator/calls", "/nothing"])
async def test_request_for_another_host_is_rejected(http: aiohttp.ClientSession, host: str, path: str) -> None:
    """With DNS rebinding, a web page resolves its own name to loopback and could then read the responses."""
    async with http.get(path, headers={"Host": host}) as response:
        body = await response.json()
    assert (response.status, body["error"]["status"]) == (403, "PERMISSION_DENIED")


async def test_request_from_a_web_page_is_rejected(http: aiohttp.ClientSession) -> None:
    path = "/v1beta/models/plotline-demo:generateContent"
    async with http.post(path, data="{}", headers={"Origin": "http://page.example"}) as response:
        assert response.status == 403


async def test_google_sdk_reads_a_long_answer_completely_in_both_of_its_protocols(client: genai.Client) -> None:
    config = types.GenerateContentConfig(service_tier=types.ServiceTier.FLEX)
    chunks = await client.aio.models.generate_content_stream(model=LONG, contents="Hello", config=config)
    assert "".join([chunk.text or "" async for chunk in chunks]) == PLAIN
    question: Any = {"type": "user_input", "content": [{"type": "text", "text": "Hello"}]}
    events = await client.aio.interactions.create(
        model=LONG, input=[question], stream=True, store=False, service_tier="flex"
    )
    assert isinstance(events, AsyncIterable)
    deltas = [event.delta async for event in events if isinstance(event, StepDelta)]
    assert "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)) == PLAIN


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (TEXT_STREAM, {**HELLO, "serviceTier": "fast"}),
        (
            "/v1beta/interactions",
            {"model": "scenario-text", "input": [], "stream": True, "store": False, "service_tier": "fast"},
        ),
    ],
)
async def test_unknown_service_tier_is_refused(http: aiohttp.ClientSession, path: str, body: dict[str, object]) -> None:
    async with http.post(path, params={"alt": "sse"}, json=body) as response:
        assert response.status == 400


async def test_models_are_listed_and_found_through_the_sdk(client: genai.Client) -> None:
    names = [model.name async for model in await client.aio.models.list()]
    assert "models/plotline-demo" in names
    assert "models/scenario-stall" in names
    model = await client.aio.models.get(model="plotline-demo")
    assert model.output_token_limit == 65_536


async def test_models_are_listed_in_pages(client: genai.Client, http: aiohttp.ClientSession) -> None:
    all_names = [model.name async for model in await client.aio.models.list()]
    config = types.ListModelsConfig(page_size=7)
    paged_names = [model.name async for model in await client.aio.models.list(config=config)]
    assert paged_names == all_names
    assert len(set(paged_names)) == len(paged_names) > 50
    async with http.get("/v1beta/models", params={"pageSize": "7"}) as response:
        page = await response.json()
    assert len(page["models"]) == 7
    assert page["nextPageToken"]
    required = {"name", "version", "displayName", "description", "inputTokenLimit", "outputTokenLimit"}
    assert all(model.keys() >= required | {"supportedGenerationMethods", "thinking"} for model in page["models"])
    async with http.get("/v1beta/models", params={"pageSize": "5000"}) as response:
        assert "nextPageToken" not in await response.json()


@pytest.mark.parametrize("query", ["pageSize=-1", "pageSize=many", "pageToken=%25", "pageToken=nonsense"])
async def test_list_of_models_rejects_an_invalid_page_size_or_page_token(
    http: aiohttp.ClientSession, query: str
) -> None:
    async with http.get(f"/v1beta/models?{query}") as response:
        assert (response.status, (await response.json())["error"]["status"]) == (400, "INVALID_ARGUMENT")


async def test_uploaded_file_can_be_read_listed_and_deleted(
    client: genai.Client, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("upload") / "rivers.csv"
    path.write_text("river,km\nVolga,3530\n")
    file = await client.aio.files.upload(file=path, config=types.UploadFileConfig(mime_type="text/csv"))
    assert file.name
    assert (file.mime_type, file.display_name, file.size_bytes) == ("text/csv", "rivers.csv", path.stat().st_size)
    assert file.state is types.FileState.ACTIVE
    assert (await client.aio.files.get(name=file.name)).uri == file.uri
    assert file.name in [other.name async for other in await client.aio.files.list()]
    await client.aio.files.delete(name=file.name)
    assert file.name not in [other.name async for other in await client.aio.files.list()]
