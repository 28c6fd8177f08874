"""Where requests are sent, with which credentials, and over which connection."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from pytest_django import Settings

from chat.providers.google.provider import GeminiProvider
from chat.providers.provider_errors import Unreachable
from chat.providers.requests import BuiltInTool, GenerateRequest
from chat.vocabulary.built_in_tools import CODE_EXECUTION
from chat.vocabulary.dialect_names import INTERACTIONS_API
from tests.chat.providers.conftest import REQUEST, Serve, read_all, text_chunk, texts_of
from tests.chat.providers.raw_server import Exchange, answer_with_events, run_server


async def test_request_has_the_expected_path_and_body(provider: GeminiProvider, serve: Serve) -> None:
    request = GenerateRequest(
        "gemini-x", REQUEST.contents, system_instruction="Be brief.", tools=(BuiltInTool(CODE_EXECUTION),)
    )
    async with serve(answer_with_events({})) as server:
        await read_all(provider, request)
    [exchange] = server.exchanges
    assert exchange.path == "/v1beta/models/gemini-x:streamGenerateContent?alt=sse"
    assert exchange.headers["content-type"] == "application/json"
    assert exchange.json == {
        "contents": [{"role": "user", "parts": [{"text": "?"}]}],
        "systemInstruction": {"parts": [{"text": "Be brief."}], "role": "user"},
        "tools": [{"codeExecution": {}}],
        "generationConfig": {"thinkingConfig": {"includeThoughts": True}},
        "store": False,
    }


async def test_request_has_no_store_field_if_the_setting_allows_storage(
    provider: GeminiProvider, serve: Serve, settings: Settings
) -> None:
    settings.GEMINI_STORE = True
    async with serve(answer_with_events({})) as server:
        await read_all(provider)
    assert "store" not in server.exchanges[0].json


@pytest.mark.parametrize(("protocol", "name"), [("", "serviceTier"), (INTERACTIONS_API, "service_tier")])
async def test_request_contains_the_service_tier_in_the_settings_unless_it_is_standard(
    provider: GeminiProvider, serve: Serve, settings: Settings, protocol: str, name: str
) -> None:
    request = replace(REQUEST, protocol=protocol)
    async with serve(answer_with_events({})) as server:
        for tier in ("standard", "flex"):
            settings.GEMINI_SERVICE_TIER = tier
            await read_all(provider, request)
    assert [exchange.json.get(name) for exchange in server.exchanges] == [None, "flex"]


async def test_request_has_no_header_with_a_time_limit_for_the_server(provider: GeminiProvider, serve: Serve) -> None:
    async with serve(answer_with_events({})) as server:
        await read_all(provider)
    assert "x-server-timeout" not in server.exchanges[0].headers


async def test_next_request_uses_the_same_connection_until_the_provider_is_closed(
    provider: GeminiProvider, serve: Serve
) -> None:
    async with serve(answer_with_events(text_chunk("a"))) as server:
        for _ in range(3):
            await read_all(provider)
        assert (len(server.exchanges), server.connections) == (3, 1)
        await provider.aclose()
        await server.exchanges[0].wait_until_closed()
        received, _ = await read_all(provider)
    assert texts_of(received) == ["a"]


def test_provider_can_be_used_from_several_event_loops_one_after_the_other(
    provider: GeminiProvider, settings: Settings
) -> None:
    async def ask() -> list[str]:
        async with run_server(answer_with_events(text_chunk("a"))) as server:
            settings.GOOGLE_GEMINI_BASE_URL = server.url
            received, _ = await read_all(provider)
            return texts_of(received)

    assert [asyncio.run(ask()) for _ in range(3)] == [["a"]] * 3


async def test_request_to_vertex_ai_can_use_a_key(provider: GeminiProvider, serve: Serve, settings: Settings) -> None:
    settings.GEMINI_EMULATED = False
    settings.GOOGLE_GENAI_USE_VERTEXAI = True
    settings.GEMINI_API_KEY = "a-key"
    settings.GEMINI_API_VERSION = "v1beta1"
    async with serve(answer_with_events(text_chunk("a"))) as server:
        received, error = await read_all(provider)
    assert (texts_of(received), error) == (["a"], None)
    assert server.exchanges[0].path == "/v1beta1/publishers/google/models/gemini-test:streamGenerateContent?alt=sse"
    assert server.exchanges[0].headers["x-goog-api-key"] == "a-key"
    # Vertex AI does not know this field.
    assert "store" not in server.exchanges[0].json


async def test_request_to_vertex_ai_can_use_the_credentials_of_the_machine(
    provider: GeminiProvider, serve: Serve, settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def answer(exchange: Exchange) -> None:
        if exchange.path == "/token":
            exchange.head(200, "application/json")
            exchange.send(b'{"access_token": "a-token", "expires_in": 3600, "token_type": "Bearer"}')
            exchange.end()
        else:
            await answer_with_events(text_chunk("a"))(exchange)

    settings.GEMINI_EMULATED = False
    settings.GOOGLE_GENAI_USE_VERTEXAI = True
    settings.GOOGLE_CLOUD_PROJECT = "a-project"
    settings.GOOGLE_CLOUD_LOCATION = "europe-west4"
    settings.GEMINI_API_VERSION = "v1"
    async with serve(answer) as server:
        file = tmp_path / "account.json"
        file.write_text(json.dumps(_service_account(f"{server.url}/token")))
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
        received, error = await read_all(provider)
    assert (texts_of(received), error) == (["a"], None)
    exchange = server.exchanges[-1]
    model = "projects/a-project/locations/europe-west4/publishers/google/models/gemini-test"
    assert exchange.path == f"/v1/{model}:streamGenerateContent?alt=sse"
    assert exchange.headers["authorization"] == "Bearer a-token"
    assert "x-goog-api-key" not in exchange.headers


def _service_account(token_uri: str) -> dict[str, str]:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return {
        "type": "service_account",
        "project_id": "a-project",
        "client_email": "plotline@a-project.test",
        "private_key": key.decode(),
        "private_key_id": "1",
        "token_uri": token_uri,
    }


@pytest.mark.parametrize("exceptions", ["", "gemini.test", "test", "*", "other.test"])
async def test_proxy_of_the_environment_is_used_except_for_the_hosts_in_no_proxy(
    provider: GeminiProvider, settings: Settings, monkeypatch: pytest.MonkeyPatch, exceptions: str
) -> None:
    for name in ("http_proxy", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("no_proxy", exceptions)
    settings.GEMINI_EMULATED, settings.GEMINI_API_KEY = False, "k"
    settings.GOOGLE_GEMINI_BASE_URL = "http://gemini.test:1"
    async with run_server(answer_with_events(text_chunk("hi"))) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        received, error = await read_all(provider)
    if exceptions in ("", "other.test"):
        assert texts_of(received) == ["hi"]
        assert proxy.exchanges[0].path.startswith(f"{settings.GOOGLE_GEMINI_BASE_URL}/v1beta/models/")
    else:
        # The host does not exist.
        assert isinstance(error, Unreachable)
        assert not proxy.exchanges


async def test_passwords_of_the_netrc_file_are_not_sent(
    provider: GeminiProvider, serve: Serve, settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings.GEMINI_EMULATED, settings.GEMINI_API_KEY = False, "k"
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login someone password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    async with serve(answer_with_events(text_chunk("hi"))) as server:
        await read_all(provider)
    assert "authorization" not in {name.lower() for name in server.exchanges[0].headers}
