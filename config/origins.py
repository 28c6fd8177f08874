"""Who may open a socket: only pages of this very origin, or of one that the operator trusts.

A browser sends cookies with a cross-site handshake, so the Origin header is what tells our page from another's. It
must be there, and scheme, host and port must all be ours.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.http.request import split_domain_port, validate_host

Application = Callable[[Any, Any, Any], Awaitable[None]]


class SameOriginOnly:
    """Refuses the handshake of any other origin."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:  # noqa: ANN401 - ASGI's own
        """Pass the socket on, or deny it."""
        if is_same_origin(scope):
            await self._application(scope, receive, send)
        else:
            await WebsocketDenier()(scope, receive, send)


def is_same_origin(scope: dict[str, Any]) -> bool:
    """Whether a handshake comes from a page of this server."""
    headers: dict[bytes, list[bytes]] = {}
    for name, value in scope["headers"]:
        headers.setdefault(name, []).append(value)
    origins, hosts = headers.get(b"origin", []), headers.get(b"host", [])
    if len(origins) != 1 or len(hosts) != 1:
        return False
    origin, host = origins[0].decode("latin-1").lower(), hosts[0].decode("latin-1").lower()
    if origin in (trusted.lower() for trusted in settings.CSRF_TRUSTED_ORIGINS):
        return True
    domain, _ = split_domain_port(host)
    if not domain or not validate_host(domain, settings.ALLOWED_HOSTS):
        return False
    return origin == f"{_scheme(scope, headers)}://{host}" and bool(urlsplit(origin).hostname)


def _scheme(scope: dict[str, Any], headers: dict[bytes, list[bytes]]) -> str:
    if settings.SECURE_PROXY_SSL_HEADER:
        name, value = settings.SECURE_PROXY_SSL_HEADER
        sent = headers.get(name.removeprefix("HTTP_").replace("_", "-").lower().encode(), [])
        return "https" if sent == [value.encode()] else "http"
    return "https" if scope.get("scheme") in ("wss", "https") else "http"
