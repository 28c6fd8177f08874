"""Addresses of links in mails. They come from settings alone: a client can write any host and port into a request."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address

from django.conf import settings
from django.http import HttpRequest


def find_host(allowed_hosts: Sequence[str], *, is_public: bool = False) -> str:
    """Return the first of the allowed hosts that is a host, not a pattern; empty if there is none.

    `is_public`: names of this machine and IP addresses come last, because they are often listed for health checks.
    """
    hosts = [host for host in allowed_hosts if host != "*" and not host.startswith(".")]
    return min(hosts, key=lambda host: is_public and _is_local(host), default="")


def _is_local(host: str) -> bool:
    """Return whether a host is an IP address, or a name of this machine."""
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return True


def build_link(request: HttpRequest, path: str) -> str:
    """Return the address of a page, for a mail: at `PUBLIC_URL`, or else at a host of `ALLOWED_HOSTS` (`find_host`).

    Without HTTPS, the port is that of the socket on which this server listens.
    """
    if settings.PUBLIC_URL:
        return f"{settings.PUBLIC_URL}{path}"
    host = find_host(settings.ALLOWED_HOSTS, is_public=settings.HTTPS)
    if settings.HTTPS:
        return f"https://{host}{path}"
    port = request.META.get("SERVER_PORT", "")
    return f"http://{host}{path}" if port in ("", "0", "80") else f"http://{host}:{port}{path}"
