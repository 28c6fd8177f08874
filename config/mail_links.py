"""Addresses of links in mails. They come from settings alone: a client can write any host and port into a request."""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.http import HttpRequest


def find_host(allowed_hosts: Sequence[str]) -> str:
    """Return the first of the allowed hosts that is one host, not a pattern; empty: there is none."""
    return next((host for host in allowed_hosts if host != "*" and not host.startswith(".")), "")


def build_link(request: HttpRequest, path: str) -> str:
    """Return the address of a page, for a mail: at `PUBLIC_URL`, or else at the first of `ALLOWED_HOSTS`.

    Without HTTPS, the port is the one on which this server listens, as its socket says.
    """
    if settings.PUBLIC_URL:
        return f"{settings.PUBLIC_URL}{path}"
    host = find_host(settings.ALLOWED_HOSTS)
    if settings.HTTPS:
        return f"https://{host}{path}"
    port = request.META.get("SERVER_PORT", "")
    return f"http://{host}{path}" if port in ("", "0", "80") else f"http://{host}:{port}{path}"
