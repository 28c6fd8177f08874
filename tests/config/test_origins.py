"""The scheme of a page behind proxies, and the reasons of refused handshakes."""

from __future__ import annotations

from typing import cast

import pytest
from asgiref.typing import WebSocketScope
from pytest_django import Settings

from config.origins import refusal_of


def scope(origin: str, *protos: str, host: str = "chat.example.org") -> WebSocketScope:
    """Return a handshake that a proxy passes on."""
    headers = [("host", host), ("origin", origin), *(("x-forwarded-proto", proto) for proto in protos)]
    encoded = [(name.encode(), value.encode()) for name, value in headers]
    return cast("WebSocketScope", {"type": "websocket", "scheme": "ws", "headers": encoded})


@pytest.fixture(autouse=True)
def behind_a_proxy(settings: Settings) -> None:
    """Serve one host over HTTPS by a proxy."""
    settings.ALLOWED_HOSTS = ["chat.example.org"]
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")


@pytest.mark.parametrize("protos", [["https"], ["wss"], ["WSS"], ["https, http"], ["https,https"], ["https", "http"]])
def test_page_of_this_server_is_accepted_in_all_that_proxies_write(protos: list[str]) -> None:
    assert refusal_of(scope("https://chat.example.org", *protos)) is None
    other = refusal_of(scope("https://evil.example", *protos))
    assert other is not None
    assert "https://evil.example" in other


def test_host_may_have_the_port_that_browsers_leave_out() -> None:
    assert refusal_of(scope("https://chat.example.org", "https", host="chat.example.org:443")) is None
    assert refusal_of(scope("https://chat.example.org", "https", host="chat.example.org:80")) is not None


@pytest.mark.parametrize("protos", [[], ["http"], ["ws"], ["http, https"], ["xhttps"]])
def test_reason_names_what_the_proxy_must_set(protos: list[str]) -> None:
    reason = refusal_of(scope("https://chat.example.org", *protos))
    assert reason is not None
    assert "this server is 'http://chat.example.org'" in reason
    assert "X-Forwarded-Proto" in reason


def test_reason_names_a_host_that_is_not_allowed() -> None:
    reason = refusal_of(scope("https://other.example", "https", host="other.example"))
    assert reason == "ALLOWED_HOSTS does not have its Host, 'other.example'."
