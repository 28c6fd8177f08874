"""Errors of google-genai, aiohttp and google-auth, as ours; nothing of theirs gets past this module.

A detail never holds the key, whatever the other side repeats.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import aiohttp
from google.auth import exceptions as auth_errors
from google.genai import errors as sdk_errors

from chat.providers.base import (
    InvalidRequest,
    MalformedResponse,
    ModelNotFound,
    Overloaded,
    ProviderError,
    RateLimited,
    Unauthorised,
    Unreachable,
)

#: What reading a stream through the SDK can raise. It checks little of what it parses: bytes that are JSON but
#: not a response end in a TypeError or an AttributeError somewhere inside it.
SDK_ERRORS = (
    sdk_errors.APIError,
    aiohttp.ClientError,
    auth_errors.GoogleAuthError,
    OSError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    RuntimeError,
)

DETAIL_LIMIT_CHARS = 2000
KEY_LIKE = re.compile(r"AIza[\w-]{20,}|(?<=[?&]key=)[^&\s\"']+")
DURATION = re.compile(r"(\d+(?:\.\d+)?)s")


def failure_of(error: Exception, *, http_status: int | None, api_key: str) -> ProviderError:
    """The error to raise instead; `http_status` is the response's, None when there was none."""
    detail = _told(error)
    if api_key:
        detail = detail.replace(api_key, "[key]")
    detail = KEY_LIKE.sub("[key]", detail)[:DETAIL_LIMIT_CHARS]
    retry_after_s = _retry_after_s(error.details) if isinstance(error, sdk_errors.APIError) else None
    return _kind(error, http_status)(detail, retry_after_s=retry_after_s)


def _told(error: Exception) -> str:
    if isinstance(error, sdk_errors.APIError):
        return f"{error.code} {error.status or ''}: {error.message or error.details}"
    return f"{type(error).__name__}: {error}"


def _kind(error: Exception, http_status: int | None) -> type[ProviderError]:
    if isinstance(error, sdk_errors.APIError):
        if any(detail.get("reason") == "API_KEY_INVALID" for detail in _details(error.details)):
            return Unauthorised
        return _kind_of_status(error.code)
    if http_status not in (None, 200):
        # The body of an HTTP error was broken, which tells less than the status.
        return _kind_of_status(http_status)
    if isinstance(error, auth_errors.GoogleAuthError):
        passing = isinstance(error, auth_errors.TransportError) or error.retryable
        return Unreachable if passing else Unauthorised
    if isinstance(error, aiohttp.ClientResponseError):
        return MalformedResponse
    if isinstance(error, (aiohttp.ClientError, OSError)):
        return Unreachable
    # Before anything was answered, only the request can be at fault.
    return InvalidRequest if http_status is None else MalformedResponse


def _kind_of_status(status: object) -> type[ProviderError]:
    kinds: Mapping[object, type[ProviderError]] = {
        401: Unauthorised,
        403: Unauthorised,
        404: ModelNotFound,
        429: RateLimited,
        # Given up by the other side, not refused.
        408: Overloaded,
        499: Overloaded,
    }
    if status in kinds:
        return kinds[status]
    if isinstance(status, int) and 500 <= status < 600:
        return Overloaded
    if isinstance(status, int) and 400 <= status < 500:
        return InvalidRequest
    return MalformedResponse


def _details(body: object) -> Iterator[Mapping[str, Any]]:
    """The entries of `error.details`, however little of the body is as it should be."""
    error = body.get("error") if isinstance(body, dict) else None
    entries = error.get("details") if isinstance(error, dict) else None
    return (entry for entry in entries if isinstance(entry, dict)) if isinstance(entries, list) else iter(())


def _retry_after_s(body: object) -> float | None:
    """Seconds of google.rpc.RetryInfo: `"retryDelay": "34.4s"`."""
    for entry in _details(body):
        delay = DURATION.fullmatch(str(entry.get("retryDelay")))
        if delay:
            return float(delay[1])
    return None
