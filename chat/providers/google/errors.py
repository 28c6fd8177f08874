"""Converts errors of google-genai, aiohttp and google-auth to `ProviderError`s, so that none leaves the provider.

The detail of an error never holds the key, even if the other side repeats it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

import aiohttp
from google.auth import exceptions as auth_errors
from google.genai import errors as sdk_errors

from chat.providers.google.access import Access
from chat.providers.provider_errors import (
    ContextTooLong,
    CredentialsRefused,
    FileGone,
    FileRefused,
    InvalidRequest,
    MalformedResponse,
    ModelNotFound,
    Overloaded,
    ProviderError,
    RateLimited,
    SignatureRefused,
    ToolsRefused,
    ToolsUnsupported,
    Unauthorised,
    Unreachable,
    refuses_tools,
)
from chat.providers.reasons import clean_reason, without_secrets
from chat.providers.untrusted_json import WireObject, as_object, as_objects


class ReportedError(Exception):
    """An error that the API reports inside a stream that began with status 200."""

    def __init__(self, code: int | str, body: WireObject) -> None:
        """`code`: an HTTP status, or a word of the Interactions API, perhaps at the end of a URL."""
        super().__init__(code)
        self.code = code
        self.body = body


FOREIGN_ERRORS = (
    ReportedError,
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
"""The errors that sending a request and reading its response can raise.

Neither the SDK nor our codec checks the type of each value that it reads: JSON that is not a response ends in a
TypeError or an AttributeError.
"""

DETAIL_LIMIT_CHARS = 2000
MESSAGE_LIMIT_CHARS = 10_000
"""Maximum number of characters of a message that are searched."""
LONGEST_DELAY_S = 86_400.0
SIGNATURE_MESSAGE = re.compile(r"thought[ _]?signature", re.IGNORECASE)
"""Matches `Corrupted thought signature.`, `Function call is missing a thought_signature in functionCall parts`,
`Invalid value at '...thought_signature' (TYPE_BYTES), Base64 decoding failed`, `Thought signature is not valid`.
"""
LENGTH_MESSAGE = re.compile(r"token count.{0,30} exceeds the maximum number of tokens", re.IGNORECASE)
"""Matches `The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).`"""
TOOLS_MESSAGE = re.compile(
    r"tool call context circulation is not enabled|built-in tools.{0,120}(?:function calling|custom tools)",
    re.IGNORECASE,
)
"""Matches `Tool call context circulation is not enabled for models/gemini-2.5-flash`, `Built-in tools ({google_search})
and Custom tools (Function Calling) cannot be combined in the same request.`, `Please enable
tool_config.include_server_side_tool_invocations to use Built-in tools with Function calling.`
"""
FILE_MESSAGE = re.compile(r"permission to access the file\b|\bfile\b.{0,200}\b(may not exist|not found)", re.IGNORECASE)
"""Matches `You do not have permission to access the File ID or it may not exist.`: 403 for a file that does not exist,
has expired or belongs to another key; 404 in some cases.
"""
UNREADABLE_MESSAGE = re.compile(
    r"\b(?:process|read|decode|load)\b.{0,20}\b(?:image|document|file|video|audio)\b"
    r"|\b(?:image|document|file|video|audio)\b.{0,20}\b(?:is not valid|is invalid|has no pages|is corrupt)"
    r"|unsupported mime ?type",
    re.IGNORECASE,
)
"""Matches `Unable to process input image. Please retry`, `Provided image is not valid.`, `The document has no pages.`,
`Unsupported MIME type: text/x`.
"""
KEY_MESSAGE = re.compile(r"\bapi key (?:not valid|expired|not found)", re.IGNORECASE)
"""Matches `API key not valid. Please pass a valid API key.`, which the Interactions API sends without a `reason`."""
STATUS_OF_WORD: Mapping[str, int] = {
    "invalid_request": 400,
    "invalid_argument": 400,
    "failed_precondition": 400,
    "unauthenticated": 401,
    "permission_denied": 403,
    "not_found": 404,
    "rate_limit_exceeded": 429,
    "resource_exhausted": 429,
    "too_many_requests": 429,
    "cancelled": 499,
    "unavailable": 503,
    "gateway_timeout": 504,
}
"""Codes of the Interactions API and their HTTP statuses. Codes that are not listed count as 500."""
DURATION = re.compile(r"(\d+(?:\.\d+)?)s")

TYPE_BY_STATUS: Mapping[object, type[ProviderError]] = {
    401: Unauthorised,
    403: Unauthorised,
    404: ModelNotFound,
    429: RateLimited,
    # The API ran out of time; the request may be valid.
    408: Overloaded,
    499: Overloaded,
}


def provider_error(error: Exception, *, http_status: int | None, access: Access) -> ProviderError:
    """Map an error to a ProviderError. `http_status`: HTTP status; `None` if there was no response."""
    if isinstance(error, sdk_errors.APIError):
        status, message = str(error.status or ""), str(error.message or "")
        return _error_of_the_api(
            error.code, error.details, status, message, access, says_why=(InvalidRequest, ToolsUnsupported)
        )
    if isinstance(error, ReportedError):
        report = error.body["error"]
        status, message = str(report.get("status") or ""), str(report.get("message") or "")
        says_why = (InvalidRequest, Overloaded, ToolsUnsupported)
        code = STATUS_OF_WORD.get(error.code.rpartition("/")[2], 500) if isinstance(error.code, str) else error.code
        status = status or (error.code if isinstance(error.code, str) else "")
        return _error_of_the_api(code, error.body, status, message, access, says_why=says_why)
    error_type = _for_access(_type_of_local_error(error, http_status), access)
    return error_type(
        without_secrets(f"{type(error).__name__}: {error}", access.api_key)[:DETAIL_LIMIT_CHARS], status=http_status
    )


def _error_of_the_api(
    code: object,
    body: object,
    status: str,
    message: str,
    access: Access,
    *,
    says_why: Collection[type[ProviderError]],
) -> ProviderError:
    """Map an error of the API. `says_why`: types of errors whose message the reader may see."""
    error_type = _type_by_message(code, message) or _type_by_status(code)
    details = _details(body)
    if any(detail.get("reason") == "API_KEY_INVALID" for detail in details):
        error_type = Unauthorised
    error_type = _for_access(error_type, access)
    return error_type(
        without_secrets(f"{code} {status}: {message}", access.api_key)[:DETAIL_LIMIT_CHARS],
        status=code if isinstance(code, int) else None,
        retry_after_s=_retry_after_s(details),
        reason=clean_reason(message, access.api_key) if error_type in says_why else "",
    )


def _for_access(error_type: type[ProviderError], access: Access) -> type[ProviderError]:
    """Return the type of error that names what the operator must check: the key or, on Vertex AI, the credentials."""
    return CredentialsRefused if error_type is Unauthorised and access.uses_credentials else error_type


def _type_of_local_error(error: Exception, http_status: int | None) -> type[ProviderError]:
    if http_status not in (None, 200):
        # The body of an HTTP error could not be read. The status is more useful than the parser's error.
        return _type_by_status(http_status)
    if isinstance(error, auth_errors.GoogleAuthError):
        is_transient = isinstance(error, auth_errors.TransportError) or error.retryable
        return Unreachable if is_transient else Unauthorised
    if isinstance(error, aiohttp.ClientResponseError):
        return MalformedResponse
    if isinstance(error, (aiohttp.ClientError, OSError)):
        return Unreachable
    # No HTTP status: the SDK rejected our request.
    return InvalidRequest if http_status is None else MalformedResponse


def _type_by_message(code: object, message: str) -> type[ProviderError] | None:
    """Return the type of error if the message determines it; `None` if the status does."""
    message = message[:MESSAGE_LIMIT_CHARS]
    if code == 400 and SIGNATURE_MESSAGE.search(message):
        return SignatureRefused
    if code == 400 and KEY_MESSAGE.search(message):
        return Unauthorised
    if code == 400 and LENGTH_MESSAGE.search(message):
        return ContextTooLong
    if code == 400 and UNREADABLE_MESSAGE.search(message):
        return FileRefused
    if code == 400 and TOOLS_MESSAGE.search(message):
        return ToolsRefused
    if code in (400, 404) and refuses_tools(message):
        return ToolsUnsupported
    if code in (403, 404) and FILE_MESSAGE.search(message):
        return FileGone
    return None


def _type_by_status(status: object) -> type[ProviderError]:
    if status in TYPE_BY_STATUS:
        return TYPE_BY_STATUS[status]
    if isinstance(status, int) and 500 <= status < 600:
        return Overloaded
    if isinstance(status, int) and 400 <= status < 500:
        return InvalidRequest
    return MalformedResponse


def _details(body: object) -> list[WireObject]:
    """Return the objects of `error.details`. Values of an unexpected type are ignored."""
    return as_objects(as_object(as_object(body).get("error")).get("details"))


def _retry_after_s(details: list[WireObject]) -> float | None:
    """Return the seconds of google.rpc.RetryInfo, such as `"retryDelay": "34.4s"`."""
    for entry in details:
        delay = DURATION.fullmatch(str(entry.get("retryDelay")))
        if delay:
            return min(float(delay[1]), LONGEST_DELAY_S)
    return None
