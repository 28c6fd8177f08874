"""The scheme and the host of a page behind proxies, and the reasons of refused handshakes."""

from __future__ import annotations

import io
from typing import cast

import pytest
from asgiref.typing import WebSocketScope
from channels.testing import ApplicationCommunicator
from django.core.handlers.asgi import ASGIRequest
from pytest_django import Settings

from config.origins import refusal_of
from config.proxy_headers import ProxyHeaders, normalize


def scope(origin: str, *protos: str, host: str = "chat.example.org") -> WebSocketScope:
    """Return a handshake that a proxy passes on."""
    headers = [("host", host), ("origin", origin), *(("x-forwarded-proto", proto) for proto in protos)]
    encoded = normalize([(name.encode(), value.encode()) for name, value in headers], "ws")
    return cast("WebSocketScope", {"type": "websocket", "scheme": "ws", "headers": encoded})


@pytest.fixture(autouse=True)
def behind_a_proxy(settings: Settings) -> None:
    """Serve one host over HTTPS by a proxy."""
    settings.ALLOWED_HOSTS = ["chat.example.org"]
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")


PROTOS = [["https"], ["HTTPS"], ["wss"], ["WSS"], ["https, http"], ["https,https"], ["wss,https"], ["https", "http"]]


@pytest.mark.parametrize("host", ["chat.example.org", "chat.example.org:443", "Chat.Example.org"])
@pytest.mark.parametrize("protos", PROTOS)
def test_absolute_urls_have_scheme_and_host_of_the_site_behind_every_kind_of_proxy(
    protos: list[str], host: str
) -> None:
    request = ASGIRequest(
        {**scope("https://chat.example.org", *protos, host=host), "path": "/", "method": "GET"}, io.BytesIO()
    )
    assert request.build_absolute_uri() == "https://chat.example.org/"


@pytest.mark.parametrize(
    ("origin", "is_trusted"),
    [
        ("https://chat.example.org", True),
        ("https://a.b.example.org", True),
        ("http://chat.example.org", False),
        ("https://evilexample.org", False),
        ("https://example.org.evil.example", False),
    ],
)
def test_pattern_of_trusted_origins_applies_to_sockets(settings: Settings, origin: str, *, is_trusted: bool) -> None:
    settings.CSRF_TRUSTED_ORIGINS = ["https://*.example.org"]
    assert (refusal_of(scope(origin, "https", host="10.0.0.5")) is None) == is_trusted


async def test_missing_x_forwarded_proto_header_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    async def application(*_: object) -> None:
        pass

    passed = ProxyHeaders(application)
    for path in ("/healthz", "/", "/"):
        await ApplicationCommunicator(passed, {"type": "http", "path": path, "headers": []}).wait()
    assert [record.message[:35] for record in caplog.records] == ["A request has no X-Forwarded-Proto:"]


@pytest.mark.parametrize("protos", PROTOS)
def test_socket_from_a_page_of_this_server_is_accepted_behind_every_kind_of_proxy(protos: list[str]) -> None:
    assert refusal_of(scope("https://chat.example.org", *protos)) is None
    other = refusal_of(scope("https://evil.example", *protos))
    assert other is not None
    assert "https://evil.example" in other


def test_host_header_may_contain_the_default_port_of_the_scheme() -> None:
    assert refusal_of(scope("https://chat.example.org", "https", host="chat.example.org:443")) is None
    assert refusal_of(scope("https://chat.example.org", "https", host="chat.example.org:80")) is not None


@pytest.mark.parametrize("protos", [[], ["http"], ["ws"], ["http, https"], ["xhttps"]])
def test_reason_of_a_refused_handshake_names_the_header_that_the_proxy_must_set(protos: list[str]) -> None:
    reason = refusal_of(scope("https://chat.example.org", *protos))
    assert reason is not None
    assert "this server is 'http://chat.example.org'" in reason
    assert "X-Forwarded-Proto" in reason


def test_reason_of_a_refused_handshake_names_a_host_that_is_not_allowed() -> None:
    reason = refusal_of(scope("https://other.example", "https", host="other.example"))
    assert reason == "ALLOWED_HOSTS does not have its Host, 'other.example'."
