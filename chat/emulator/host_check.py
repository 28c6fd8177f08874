"""Rejects requests that come from web pages.

A page can post to any port of this machine, and with DNS rebinding it can also read the responses.
"""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from chat.emulator.wire import WireError


def only_for_host(own_host: str) -> Middleware:
    """Return a middleware that rejects scripts of web pages, and every Host header except `own_host` and loopback."""

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        host = request.headers.get("Host", "")
        if not _is_loopback(host) and _host_name(host) != own_host.lower():
            raise WireError(403, f"The emulator is not {host[:100]!r}.", "PERMISSION_DENIED")
        # Only browsers send this header, for requests of scripts and forms.
        if "Origin" in request.headers:
            raise WireError(403, "The emulator is not for web pages.", "PERMISSION_DENIED")
        return await handler(request)

    return check


def _is_loopback(host: str) -> bool:
    name = _host_name(host)
    try:
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _host_name(host: str) -> str:
    """Return the name or address in a Host header without its port, or an empty text if the header is invalid."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
