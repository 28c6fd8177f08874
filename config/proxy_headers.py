"""Rewrites two headers of proxies, so that scheme and host can be compared with the Origin that browsers send.

Chains of proxies send lists of schemes, Traefik sends the scheme of the socket (`wss`), and some proxies write the port
that browsers leave out, or a host in upper case.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from asgiref.typing import ASGI3Application, ASGIReceiveCallable, ASGISendCallable, HTTPScope, WebSocketScope
from django.conf import settings

PROTO = b"x-forwarded-proto"
DEFAULT_PORTS = {b"http": b":80", b"https": b":443"}
SECURE_SCHEMES = (b"https", b"wss")
CHECKS = ("/healthz", "/readyz")
"""Paths that load balancers request directly, without a proxy."""

logger = logging.getLogger(__name__)


class ProxyHeaders:
    """ASGI middleware that rewrites the headers, and logs a warning once if a proxy does not send the scheme."""

    def __init__(self, application: ASGI3Application) -> None:
        self._application = application
        self._is_scheme_expected = settings.SECURE_PROXY_SSL_HEADER is not None

    async def __call__(
        self, scope: HTTPScope | WebSocketScope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        """Pass the request to the application."""
        headers = normalize(scope["headers"], scope.get("scheme", ""))
        if self._is_scheme_expected and scope["path"] not in CHECKS and PROTO not in dict(headers):
            self._is_scheme_expected = False
            logger.warning(
                "A request has no X-Forwarded-Proto: pages redirect to themselves until the proxy in front sets it."
                " In a network that you trust, HTTPS=0 serves pages without HTTPS."
            )
        passed = scope.copy()
        passed["headers"] = headers
        await self._application(passed, receive, send)


def normalize(headers: Iterable[tuple[bytes, bytes]], scheme: str) -> list[tuple[bytes, bytes]]:
    """Return the headers with one scheme, `http` or `https`, and with the host as browsers write it in Origin.

    `scheme`: that of the connection. It is not used if a proxy sends the scheme.
    """
    headers = list(headers)
    protos = [value for name, value in headers if name == PROTO]
    # Each proxy of a chain may add its own scheme. The first one is that of the client's request.
    first = b",".join(protos).partition(b",")[0].strip().lower() if protos else scheme.encode()
    own = b"https" if first in SECURE_SCHEMES else b"http"
    others = [
        (name, value.lower().removesuffix(DEFAULT_PORTS[own]) if name == b"host" else value)
        for name, value in headers
        if name != PROTO
    ]
    return [*others, (PROTO, own)] if protos else others
