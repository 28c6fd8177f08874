"""Checks the Origin header of WebSocket handshakes, which prevents cross-site WebSocket hijacking.

A browser sends cookies with a cross-site handshake too, so only the Origin header tells which site opened the socket.
The header is required. Its scheme, host and port must be those of this server, or it must be in `CSRF_TRUSTED_ORIGINS`.
`config.proxy_headers` has already rewritten the headers of proxies.
"""

from __future__ import annotations

import logging
from urllib.parse import urlsplit

from asgiref.typing import ASGI3Application, ASGIReceiveCallable, ASGISendCallable, WebSocketScope
from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.http.request import split_domain_port, validate_host
from django.utils.http import is_same_domain

from config.proxy_headers import PROTO

SHOWN_CHARS = 200

logger = logging.getLogger(__name__)


class SameOriginMiddleware:
    """ASGI middleware that denies handshakes from other origins."""

    def __init__(self, application: ASGI3Application) -> None:
        self._application = application

    async def __call__(self, scope: WebSocketScope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Pass the connection to the application, or deny it."""
        reason = refusal_of(scope)
        if reason is None:
            await self._application(scope, receive, send)
            return
        logger.warning("A WebSocket handshake was refused: %s", reason)
        await WebsocketDenier()(scope, receive, send)


def refusal_of(scope: WebSocketScope) -> str | None:
    """Return why a handshake does not come from a page of this server or of a trusted origin; `None` if it does."""
    headers: dict[bytes, list[bytes]] = {}
    for name, value in scope["headers"]:
        headers.setdefault(name, []).append(value)
    origins, hosts = headers.get(b"origin", []), headers.get(b"host", [])
    if len(origins) != 1 or len(hosts) != 1:
        return "it must have one Origin and one Host."
    origin, host = origins[0].decode("latin-1").lower(), hosts[0].decode("latin-1").lower()
    if _is_trusted(origin):
        return None
    domain, _ = split_domain_port(host)
    if not domain or not validate_host(domain, settings.ALLOWED_HOSTS):
        return f"ALLOWED_HOSTS does not have its Host, {host[:SHOWN_CHARS]!r}."
    own = f"{_get_scheme(scope, headers)}://{host}"
    if origin == own and urlsplit(origin).hostname:
        return None
    return (
        f"its page is of {origin[:SHOWN_CHARS]!r}, and this server is {own[:SHOWN_CHARS]!r}. A proxy must pass Host on,"
        " and set X-Forwarded-Proto; pages of another origin need CSRF_TRUSTED_ORIGINS."
    )


def _is_trusted(origin: str) -> bool:
    """Return whether the settings trust the origin, perhaps by a pattern such as `https://*.example.org`."""
    scheme, _, host = origin.partition("://")
    trusted = (pattern.partition("://") for pattern in settings.CSRF_TRUSTED_ORIGINS)
    return any(scheme == other and is_same_domain(host, pattern.lstrip("*")) for other, _, pattern in trusted)


def _get_scheme(scope: WebSocketScope, headers: dict[bytes, list[bytes]]) -> str:
    """Return `http` or `https`. Behind a proxy, `X-Forwarded-Proto` gives the scheme."""
    if settings.SECURE_PROXY_SSL_HEADER:
        return "https" if headers.get(PROTO) == [b"https"] else "http"
    return "https" if scope.get("scheme") in ("wss", "https") else "http"
