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
    ContextTooLong,
    FileGone,
    InvalidRequest,
    MalformedResponse,
    ModelNotFound,
    Overloaded,
    ProviderError,
    RateLimited,
    SignatureRefused,
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
LONGEST_DELAY_S = 86_400.0
KEY_LIKE = re.compile(r"AIza[\w-]{20,}|(?<=[?&]key=)[^&\s\"']+")
#: `Corrupted thought signature.`, `Thought signature is not valid`, `Function call is missing a thought_signature in
#: functionCall parts`, `Invalid value at '...thought_signature' (TYPE_BYTES), Base64 decoding failed`.
SIGNATURE_LIKE = re.compile(r"thought[ _]?signature", re.IGNORECASE)
#: "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)."
LENGTH_LIKE = re.compile(r"token count.{0,30} exceeds the maximum number of tokens", re.IGNORECASE)
#: `You do not have permission to access the File ID or it may not exist.`: 403 for a file that is gone, expired, or of
#: another key; 404 in some places.
FILE_LIKE = re.compile(r"permission to access the file\b|\bfile\b.{0,200}\b(may not exist|not found)", re.IGNORECASE)
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
        return _kind_of_refusal(error) or _kind_of_status(error.code)
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


def _kind_of_refusal(error: sdk_errors.APIError) -> type[ProviderError] | None:
    """What only the message tells; None where the status says it all."""
    message = str(error.message or "")
    if error.code == 400 and SIGNATURE_LIKE.search(message):
        return SignatureRefused
    if error.code == 400 and LENGTH_LIKE.search(message):
        return ContextTooLong
    if error.code in (403, 404) and FILE_LIKE.search(message):
        return FileGone
    return None


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
            return min(float(delay[1]), LONGEST_DELAY_S)
    return None
