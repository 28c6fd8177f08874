"""What is sent, where to, and over which connection."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from pytest_django import Settings

from chat.parts import (
    JSON,
    Content,
    FinishReported,
    GenerateRequest,
    MetadataReported,
    Part,
    PartKind,
    PartReceived,
    ResponseDescribed,
    Role,
)
from chat.providers.base import Unreachable
from chat.providers.gemini import GeminiProvider
from tests.chat.providers.camel import in_camel_case
from tests.chat.providers.conftest import REQUEST, Serve, all_of, parts_of, text_event
from tests.chat.providers.raw_server import Exchange, events, serving, whole


async def test_plain_request_says_nothing_but_the_text(provider: GeminiProvider, serve: Serve) -> None:
    async with serve(events({})) as server:
        await all_of(provider, GenerateRequest("gemini-x", REQUEST.contents, include_thoughts=False))
    exchange = server.exchanges[0]
    assert exchange.path == "/v1beta/models/gemini-x:streamGenerateContent?alt=sse"
    assert exchange.json == {"contents": [{"role": "user", "parts": [{"text": "?"}]}], "generationConfig": {}}
    assert "x-server-timeout" not in exchange.headers


async def test_full_request_has_tool_thoughts_and_instruction(provider: GeminiProvider, serve: Serve) -> None:
    request = GenerateRequest("m", REQUEST.contents, system_instruction="Be brief.", code_execution=True)
    async with serve(events({})) as server:
        await all_of(provider, request)
    body = in_camel_case(server.exchanges[0].json)
    assert body.pop("systemInstruction")["parts"] == [{"text": "Be brief."}]
    assert body == {
        "contents": [{"role": "user", "parts": [{"text": "?"}]}],
        "tools": [{"codeExecution": {}}],
        "generationConfig": {"thinkingConfig": {"includeThoughts": True}},
    }


async def test_what_is_not_sent_back_is_left_out(provider: GeminiProvider, serve: Serve) -> None:
    thought = Part(PartKind.THOUGHT, text="hm", thought_signature=b"s")
    drawn_in_thought = Part(PartKind.INLINE_DATA, mime_type="image/png", data=b"x", fields={"thought": True})
    unknown = Part(PartKind.UNSUPPORTED)
    signature = Part(PartKind.UNSUPPORTED, thought_signature=b"\xff\xfe")
    contents = (
        *REQUEST.contents,
        Content(Role.MODEL, (thought, drawn_in_thought, unknown)),
        Content(Role.MODEL, (thought, Part(PartKind.TEXT, text=""), signature)),
        *REQUEST.contents,
    )
    async with serve(events({})) as server:
        _, error = await all_of(provider, GenerateRequest("m", contents))
    assert error is None
    sent = server.exchanges[0].json["contents"]
    assert [content["role"] for content in sent] == ["user", "model", "user"]
    assert sent[1]["parts"] == [{"text": ""}, {"text": "", "thoughtSignature": "__4="}]


async def test_what_the_sdk_does_not_know_is_left_out_and_the_rest_is_sent(
    provider: GeminiProvider, serve: Serve
) -> None:
    stranger = Part(PartKind.UNSUPPORTED, fields={"hologram": {"x": 1}})
    signed = Part(PartKind.UNSUPPORTED, fields={"hologram": {"x": 1}}, thought_signature=b"\xff\xfe")
    newer = Part(PartKind.EXECUTABLE_CODE, text="1", language="PYTHON", fields={"mood": "good", "hue": {"a": 1}})
    contents = (*REQUEST.contents, Content(Role.MODEL, (stranger, signed, newer)), *REQUEST.contents)
    async with serve(events({})) as server:
        _, error = await all_of(provider, GenerateRequest("m", contents))
    assert error is None
    assert server.exchanges[0].json["contents"][1]["parts"] == [
        {"text": "", "thoughtSignature": "__4="},
        {"executableCode": {"code": "1", "language": "PYTHON"}},
    ]


KINDS: list[tuple[dict[str, object], Part]] = [
    ({"text": "", "thoughtSignature": ""}, Part(PartKind.TEXT, text="", thought_signature=b"")),
    ({"text": "a", "partMetadata": {"b": 1}}, Part(PartKind.TEXT, text="a", fields={"partMetadata": {"b": 1}})),
    (
        {"executableCode": {"code": "", "language": "PYTHON"}},
        Part(PartKind.EXECUTABLE_CODE, text="", language="PYTHON"),
    ),
    ({"codeExecutionResult": {"outcome": "OUTCOME_OK"}}, Part(PartKind.CODE_EXECUTION_RESULT, outcome="OUTCOME_OK")),
    (
        {"codeExecutionResult": {"outcome": "OUTCOME_DEADLINE_EXCEEDED", "output": "", "id": "i"}},
        Part(PartKind.CODE_EXECUTION_RESULT, text="", outcome="OUTCOME_DEADLINE_EXCEEDED", call_id="i"),
    ),
    (
        {"inlineData": {"mimeType": "image/png", "data": "+/8=", "displayName": "n"}, "thought": True},
        Part(
            PartKind.INLINE_DATA,
            mime_type="image/png",
            data=b"\xfb\xff",
            fields={"displayName": "n", "thought": True},
        ),
    ),
    (
        {"fileData": {"fileUri": "gs://a", "mimeType": "text/csv"}},
        Part(PartKind.FILE_DATA, mime_type="text/csv", fields={"fileUri": "gs://a"}),
    ),
    (
        {"functionCall": {"name": "f", "args": {"snake_case": None, "camelCase": [1]}, "id": "i"}},
        Part(
            PartKind.FUNCTION_CALL,
            call_id="i",
            fields={"name": "f", "args": {"snake_case": None, "camelCase": [1]}},
        ),
    ),
    (
        {"functionResponse": {"name": "f", "response": {"a": None}}},
        Part(PartKind.FUNCTION_RESPONSE, fields={"name": "f", "response": {"a": None}}),
    ),
    ({"thoughtSignature": "AA=="}, Part(PartKind.UNSUPPORTED, thought_signature=b"\x00")),
    (
        {"text": "a", "fileData": {"fileUri": "b"}},
        Part(PartKind.UNSUPPORTED, fields={"text": "a", "fileData": {"fileUri": "b"}}),
    ),
]


@pytest.mark.parametrize(("wire", "part"), KINDS, ids=lambda value: "-".join(value) if isinstance(value, dict) else "")
async def test_part_of_any_kind_is_kept_whole(
    wire: dict[str, object], part: Part, provider: GeminiProvider, serve: Serve
) -> None:
    async with serve(events({"candidates": [{"content": {"parts": [wire]}}]})):
        received, error = await all_of(provider)
    assert (received, error) == ([PartReceived(part)], None)


async def test_part_of_a_kind_newer_than_the_sdk_is_kept_by_the_lean_reader(
    reader: str, provider: GeminiProvider, serve: Serve
) -> None:
    async with serve(events({"candidates": [{"content": {"parts": [{"hologram": {"x": 1}}]}}]})):
        received, error = await all_of(provider)
    fields: dict[str, JSON] = {"hologram": {"x": 1}} if reader == "lean" else {}
    assert (received, error) == ([PartReceived(Part(PartKind.UNSUPPORTED, fields=fields))], None)


@pytest.mark.filterwarnings("ignore:.* is not a valid :UserWarning")
@pytest.mark.parametrize(("vertexai", "message"), [(True, "late"), (False, "")], ids=["vertex", "developer"])
async def test_values_newer_than_the_sdk_are_kept(
    vertexai: bool, message: str, reader: str, provider: GeminiProvider, serve: Serve, settings: Settings
) -> None:
    # The SDK drops the message of the Developer API; our own reading does not.
    message = "late" if reader == "lean" else message
    settings.GOOGLE_GENAI_USE_VERTEXAI = vertexai
    parts = [
        {"codeExecutionResult": {"outcome": "OUTCOME_LOST", "output": "a"}},
        {"executableCode": {"language": "COBOL", "code": "b"}},
    ]
    ratings: list[JSON] = [{"category": "HARM_CATEGORY_NOISE", "probability": "LOUD"}]
    last = {
        "content": {"parts": parts},
        "safetyRatings": ratings,
        "finishReason": "WENT_HOME",
        "finishMessage": "late",
    }
    async with serve(events({"candidates": [last]})):
        received, error = await all_of(provider)
    assert error is None
    assert [(part.outcome, part.language) for part in parts_of(received)] == [("OUTCOME_LOST", ""), ("", "COBOL")]
    assert received[-2:] == [MetadataReported("safetyRatings", ratings), FinishReported("WENT_HOME", message)]


async def test_half_a_surrogate_pair_is_replaced_wherever_it_stands(provider: GeminiProvider, serve: Serve) -> None:
    half = json.loads(r'"a\ud83d"')
    parts = [
        {"text": half},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": half}},
        {"functionCall": {"name": "f", "args": {half: [half]}}},
    ]
    candidate = {"content": {"parts": parts}, "citationMetadata": {"citationSources": [{"title": half}]}}
    # In escapes, as raw ones are not UTF-8 to begin with.
    body = json.dumps({"candidates": [candidate], "responseId": half}, ensure_ascii=True)
    async with serve(whole(f"data: {body}\r\n\r\n".encode())):
        received, error = await all_of(provider)
    assert error is None
    texts = [part.text for part in parts_of(received)]
    assert texts == ["a\ufffd", "a\ufffd", None]
    args = parts_of(received)[2].fields["args"]
    assert isinstance(args, dict)
    assert list(args.values()) == [["a\ufffd"]]
    repr(received).encode()


async def test_response_is_described_when_that_changes(provider: GeminiProvider, serve: Serve) -> None:
    chunks = [
        {"responseId": "a"},
        {"responseId": "a", "modelVersion": "m-1"},
        {"modelVersion": "m-1"},
        {},
        {"responseId": "b", "modelVersion": "m-1"},
    ]
    async with serve(events(*chunks)):
        received, _ = await all_of(provider)
    assert received == [ResponseDescribed("a", ""), ResponseDescribed("a", "m-1"), ResponseDescribed("b", "m-1")]


async def test_finished_streams_leave_their_connection_to_the_next(provider: GeminiProvider, serve: Serve) -> None:
    async with serve(events(text_event("a"))) as server:
        for _ in range(3):
            await all_of(provider)
        assert (len(server.exchanges), server.connections) == (3, 1)
        await provider.aclose()
        await asyncio.wait_for(server.exchanges[0].closed.wait(), 1)
        received, _ = await all_of(provider)
    assert len(parts_of(received)) == 1


def test_each_event_loop_has_a_client(provider: GeminiProvider, settings: Settings) -> None:
    async def once() -> int:
        async with serving(events(text_event("a"))) as server:
            settings.GOOGLE_GEMINI_BASE_URL = server.url
            received, _ = await all_of(provider)
            return len(received)

    assert [asyncio.run(once()) for _ in range(3)] == [1, 1, 1]


async def test_vertex_with_a_key(provider: GeminiProvider, serve: Serve, settings: Settings) -> None:
    settings.GEMINI_EMULATED = False
    settings.GOOGLE_GENAI_USE_VERTEXAI = True
    settings.GEMINI_API_KEY = "a-key"
    settings.GEMINI_API_VERSION = "v1beta1"
    async with serve(events(text_event("a"))) as server:
        received, error = await all_of(provider)
    assert (len(received), error) == (1, None)
    assert server.exchanges[0].path == "/v1beta1/publishers/google/models/gemini-test:streamGenerateContent?alt=sse"
    assert server.exchanges[0].headers["x-goog-api-key"] == "a-key"


async def test_vertex_with_credentials_of_the_machine(
    provider: GeminiProvider, serve: Serve, settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def answer(exchange: Exchange) -> None:
        if exchange.path == "/token":
            exchange.head(200, "application/json")
            exchange.send(b'{"access_token": "a-token", "expires_in": 3600, "token_type": "Bearer"}')
            exchange.end()
        else:
            await events(text_event("a"))(exchange)

    settings.GEMINI_EMULATED = False
    settings.GOOGLE_GENAI_USE_VERTEXAI = True
    settings.GOOGLE_CLOUD_PROJECT = "a-project"
    settings.GOOGLE_CLOUD_LOCATION = "europe-west4"
    settings.GEMINI_API_VERSION = "v1"
    async with serve(answer) as server:
        file = tmp_path / "account.json"
        file.write_text(json.dumps(_service_account(f"{server.url}/token")))
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
        received, error = await all_of(provider)
    assert (len(received), error) == (1, None)
    asked = server.exchanges[-1]
    model = "projects/a-project/locations/europe-west4/publishers/google/models/gemini-test"
    assert asked.path == f"/v1/{model}:streamGenerateContent?alt=sse"
    assert asked.headers["authorization"] == "Bearer a-token"
    assert "x-goog-api-key" not in asked.headers


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
async def test_proxy_of_the_environment_is_used_but_for_its_exceptions(
    provider: GeminiProvider, settings: Settings, monkeypatch: pytest.MonkeyPatch, exceptions: str
) -> None:
    for name in ("http_proxy", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("no_proxy", exceptions)
    settings.GEMINI_EMULATED, settings.GEMINI_API_KEY = False, "k"
    settings.GOOGLE_GEMINI_BASE_URL = "http://gemini.test:1"
    async with serving(events(text_event("hi"))) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        said, error = await all_of(provider)
    if exceptions in ("", "other.test"):
        assert parts_of(said) == [Part(PartKind.TEXT, text="hi")]
        assert proxy.exchanges[0].path.startswith(f"{settings.GOOGLE_GEMINI_BASE_URL}/v1beta/models/")
    else:
        # There is no such host.
        assert isinstance(error, Unreachable)
        assert not proxy.exchanges


async def test_passwords_of_other_programs_are_not_sent(
    provider: GeminiProvider, serve: Serve, settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings.GEMINI_EMULATED, settings.GEMINI_API_KEY = False, "k"
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login someone password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    async with serve(events(text_event("hi"))) as server:
        await all_of(provider)
    assert "authorization" not in {name.lower() for name in server.exchanges[0].headers}
