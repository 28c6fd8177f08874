"""The server over a real socket: paths, bodies, errors, models, files, and the journal of the test server."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
import pytest
from google import genai
from google.genai import types

from tests.chat.emulator.sdk import answer, finishes_of, text_of
from tests.polling import wait_until_awaited

HELLO = {"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]}
TEXT_STREAM = "/v1beta/models/scenario-text:streamGenerateContent"
VERTEX_STREAM = "/v1beta1/publishers/google/models/scenario-text:streamGenerateContent"


async def test_stream_consists_of_events_only(http: aiohttp.ClientSession) -> None:
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


async def test_stream_without_sse_is_a_json_array(http: aiohttp.ClientSession) -> None:
    async with http.post(TEXT_STREAM, json=HELLO) as response:
        chunks = await response.json()
    assert response.content_type == "application/json"
    assert chunks[0]["candidates"][0]["content"]["parts"][0]["text"].startswith("A ")


async def test_unary_response_joins_the_stream(http: aiohttp.ClientSession) -> None:
    async with http.post("/v1/models/scenario-code:generateContent", json=HELLO) as response:
        body = await response.json()
    kinds = [next(iter(part.keys() - {"thoughtSignature"})) for part in body["candidates"][0]["content"]["parts"]]
    assert kinds == ["executableCode", "codeExecutionResult", "text", "text"]
    assert body["candidates"][0]["finishReason"] == "STOP"


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
async def test_any_version_and_the_paths_of_vertex_are_served(http: aiohttp.ClientSession, path: str) -> None:
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
async def test_only_the_developer_api_takes_a_boolean_that_says_whether_it_may_store(
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
        (TEXT_STREAM, b"{}", 400),
        ("/v1beta/models/scenario-text:embedContent", b"{}", 404),
        ("/v1beta/models/scenario-unknown-name:generateContent", json.dumps(HELLO).encode(), 404),
        ("/v1beta/models/replay-unknown-name:generateContent", json.dumps(HELLO).encode(), 404),
        ("/v1beta/nothing", b"", 404),
        ("/upload/v1beta/files", b"", 400),
        ("/upload/v1beta/files?upload_id=no", b"", 404),
    ],
)
async def test_invalid_request_gets_an_error_in_the_form_of_gemini(
    http: aiohttp.ClientSession, path: str, data: bytes, status: int
) -> None:
    async with http.post(path, data=data) as response:
        body: Any = await response.json()
    is_array = path == TEXT_STREAM
    assert isinstance(body, list) is is_array
    error = (body[0] if is_array else body)["error"]
    assert (response.status, error["code"]) == (status, status)
    assert error["message"]
    assert error["status"].isupper()


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:80", "127.0.0.1:1", "127.1.2.3", "[::1]:8300"])
async def test_loopback_is_served_under_all_its_names(http: aiohttp.ClientSession, host: str) -> None:
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
async def test_invalid_page_is_rejected(http: aiohttp.ClientSession, query: str) -> None:
    async with http.get(f"/v1beta/models?{query}") as response:
        assert (response.status, (await response.json())["error"]["status"]) == (400, "INVALID_ARGUMENT")


async def test_every_option_of_the_sdk_is_accepted(client: genai.Client, http: aiohttp.ClientSession) -> None:
    function = types.FunctionDeclaration(
        name="get_weather", parameters_json_schema={"type": "object", "properties": {"city_name": {"type": "string"}}}
    )
    config = types.GenerateContentConfig(
        system_instruction="Be brief.",
        max_output_tokens=100,
        temperature=0.5,
        top_p=0.9,
        top_k=10,
        stop_sequences=["END"],
        seed=1,
        response_modalities=["TEXT", "IMAGE"],
        image_config=types.ImageConfig(aspect_ratio="1:1"),
        media_resolution=types.MediaResolution.MEDIA_RESOLUTION_LOW,
        thinking_config=types.ThinkingConfig(include_thoughts=True, thinking_level=types.ThinkingLevel.LOW),
        safety_settings=[
            types.SafetySetting(
                category=types.HarmCategory.HARM_CATEGORY_HARASSMENT, threshold=types.HarmBlockThreshold.BLOCK_NONE
            )
        ],
        tools=[
            types.Tool(code_execution=types.ToolCodeExecution()),
            types.Tool(google_search=types.GoogleSearch()),
            types.Tool(url_context=types.UrlContext()),
            types.Tool(function_declarations=[function]),
        ],
        tool_config=types.ToolConfig(include_server_side_tool_invocations=True),
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    response = await client.aio.models.generate_content(model="scenario-text", contents="All of it", config=config)
    assert response.text
    call = await _call_of(http, "scenario-text")
    async with http.get(f"/emulator/calls/{call['number']}") as journal:
        body = (await journal.json())["request"]
    assert body["generationConfig"]["thinkingConfig"] == {"includeThoughts": True, "thinkingLevel": "LOW"}
    assert {name for tool in body["tools"] for name in tool} >= {"codeExecution", "googleSearch", "urlContext"}
    budget = types.GenerateContentConfig(thinking_config=types.ThinkingConfig(thinking_budget=-1))
    assert (await client.aio.models.generate_content(model="scenario-text", contents="Hm", config=budget)).text


async def test_tokens_are_counted_through_the_sdk(client: genai.Client) -> None:
    response = await client.aio.models.count_tokens(model="plotline-demo", contents="Hello")
    assert response.total_tokens


async def test_vertex_client_is_served(emulator_url: str) -> None:
    async with aiohttp.ClientSession() as session:
        options = types.HttpOptions(base_url=emulator_url, aiohttp_client=session)
        vertex = genai.Client(enterprise=True, api_key="any", http_options=options)
        chunks = await answer(vertex, "scenario-code-without-ids")
    assert finishes_of(chunks) == ["STOP"]


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


async def test_answer_ends_when_its_client_disconnects(client: genai.Client, http: aiohttp.ClientSession) -> None:
    task = asyncio.create_task(answer(client, "scenario-endless"))
    call = await _call_of(http, "scenario-endless")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert call["state"] == "live"

    async def has_ended() -> bool:
        return bool((await _call_of(http, "scenario-endless"))["state"] != "live")

    await wait_until_awaited(has_ended)
    assert (await _call_of(http, "scenario-endless"))["state"] == "left"


async def test_journal_stores_the_request_and_the_end_of_a_call(
    client: genai.Client, http: aiohttp.ClientSession
) -> None:
    chunks = await answer(client, "scenario-image", "Remember this")
    assert text_of(chunks)
    call = await _call_of(http, "scenario-image")
    assert (call["state"], call["steps"]) == ("done", len(chunks))
    async with http.get(f"/emulator/calls/{call['number']}") as response:
        entry = await response.json()
    assert entry["request"]["contents"] == [{"role": "user", "parts": [{"text": "Remember this"}]}]


async def _call_of(http: aiohttp.ClientSession, model: str) -> dict[str, Any]:
    """Wait until a call of this model has sent something, and return its journal entry."""

    async def newest_call() -> dict[str, Any]:
        async with http.get("/emulator/calls") as response:
            calls = [call for call in await response.json() if call["model"] == model and call["steps"]]
        return dict(calls[-1]) if calls else {}

    return await wait_until_awaited(newest_call)
