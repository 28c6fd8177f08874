"""Converts errors that servers report to `ProviderError`s. Pure.

The form of an error differs between servers: `{"error": {...}}`, `{"error": "text"}`, `{"detail": "text"}`, the fields
at the top, a list, or HTML. The same errors come as HTTP responses and inside a stream.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from chat.providers.provider_errors import (
    ContextTooLong,
    FileRefused,
    InvalidRequest,
    MalformedResponse,
    ModelNotFound,
    OutOfCredit,
    Overloaded,
    ProviderError,
    RateLimited,
    SignatureRefused,
    ToolsUnsupported,
    Unauthorised,
    refuses_tools,
)
from chat.providers.reasons import clean_reason, without_secrets
from chat.providers.untrusted_json import read_json
from chat.vocabulary.parts import JSON

DETAIL_LIMIT_CHARS = 2000
MESSAGE_LIMIT_CHARS = 10_000
"""Maximum number of characters of a report that are searched."""
LONGEST_DELAY_S = 86_400.0

CONTENT_TYPE = re.compile(r"[\w.+-]{1,50}/[\w.+-]{1,50}", re.ASCII)

CONTEXT_CODES = frozenset({"context_length_exceeded", "exceed_context_size_error", "context_window_exceeded"})
CONTEXT_MESSAGE = re.compile(
    r"context (?:length|size|window)|maximum context|too many tokens|prompt (?:is )?too long|exceed.{0,20} context",
    re.IGNORECASE,
)
CREDIT_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "insufficient_balance"})
RATE_CODES = frozenset({"rate_limit_exceeded"})
REASONING_CODES = frozenset({"invalid_encrypted_content"})
MODEL_CODES = frozenset({"model_not_found", "model_not_available", "invalid_model"})
MODEL_MESSAGE = re.compile(r"\bmodels?\b", re.IGNORECASE)
NO_MODEL_MESSAGE = re.compile(r"\bmodel (?:does )?not exist\b", re.IGNORECASE)
"""DeepSeek sends this message with status 400."""
FILE_CODES = frozenset(
    {
        *("invalid_image", "invalid_image_format", "invalid_base64_image", "invalid_image_url", "image_parse_error"),
        *("invalid_base64", "image_too_large", "image_too_small", "unsupported_file_mimetype"),
        *("empty_image_file", "unsupported_image_media_type", "image_file_too_large"),
    }
)
FILE_MESSAGE = re.compile(
    r"unsupported image|\b(?:load|process|decode|parse)\b.{0,20}\b(?:image|audio|pdf)\b"
    r"|\b(?:image|document)\b.{0,20}\b(?:is not valid|is invalid|has no pages)",
    re.IGNORECASE,
)
CONFIGURATION_MESSAGE = re.compile(
    r"requires --jinja|not supported|Failed to parse tool call arguments|failed to parse|unable to parse", re.IGNORECASE
)
"""llama.cpp sends these messages, with status 500, for requests that it will never accept."""


@dataclass(frozen=True, slots=True)
class ReportedError:
    """An error in words, whatever the form in which the server reported it."""

    message: str
    code: str = ""
    type: str = ""
    parameter: str = ""
    status: int | None = None
    """A status inside the report, for errors in a stream."""
    summary: str = ""
    """Text for the detail of the error if the message must not be used, because it may repeat the request."""


def report_of(value: JSON) -> ReportedError:
    """Return the error that a JSON value reports."""
    if isinstance(value, list):
        return report_of(value[0] if value else None)
    if not isinstance(value, dict):
        return ReportedError(_text(value)[:MESSAGE_LIMIT_CHARS])
    if isinstance(value.get("detail"), list):
        return _validation_error(value["detail"])
    inner = value.get("error")
    if isinstance(inner, str) and isinstance(value.get("message"), str):
        return report_of({**value, "error": None, "type": inner})
    if inner:
        return report_of(inner)
    code, raw = value.get("code"), _metadata_text(value)
    message = _text(value.get("message")) or _text(value.get("detail")) or _text(value)
    return ReportedError(
        (f"{message}: {raw}" if raw else message)[:MESSAGE_LIMIT_CHARS],
        code="" if code is None else str(code),
        type=_text(value.get("type")) if isinstance(value.get("type"), str) else "",
        parameter=_text(value.get("param")) if isinstance(value.get("param"), str) else "",
        status=next((one for one in (code, value.get("status")) if isinstance(one, int)), None),
    )


def _validation_error(details: JSON) -> ReportedError:
    """Return the first error of a list as FastAPI writes it. The refused input, which it repeats, is left out."""
    first = details[0] if isinstance(details, list) and details else None
    if not isinstance(first, dict):
        return ReportedError(_text(details)[:MESSAGE_LIMIT_CHARS])
    location = first.get("loc")
    names = [str(one) for one in location] if isinstance(location, list) else []
    message = f"{_text(first.get('type'))}: {_text(first.get('msg'))}: {'.'.join(names)}"
    return ReportedError(message[:MESSAGE_LIMIT_CHARS], parameter=names[-1] if names else "")


def report_of_body(body: bytes, content_type: str) -> ReportedError:
    """Return the error in the body of a response.

    If the body is not JSON, its text determines the type of the error, and the detail gives only its size and type.
    """
    text = body.decode("utf-8", "replace")
    try:
        return report_of(read_json(text))
    except ValueError:
        message = " ".join(re.sub(r"<[^>]{0,300}>", " ", text[:4_000]).split())[:500]
        summary = f"The body is not JSON: {len(body):,} bytes, {shown_content_type(content_type)}."
        return ReportedError(message, summary=summary)


def shown_content_type(header: str) -> str:
    """Return the type in a Content-Type header, without parameters, or words that say that it has none."""
    kind = header.partition(";")[0].strip().lower()
    return kind if CONTENT_TYPE.fullmatch(kind) else "an invalid content type" if kind else "no content type"


def provider_error(
    report: ReportedError, *, status: int | None, headers: Mapping[str, str], api_key: str
) -> ProviderError:
    """Map a reported error to a ProviderError. `status`: HTTP status; `None` for an error inside a stream.

    Its detail begins with the status.
    """
    ends_an_answer = status is None
    status = report.status if status is None else status
    words = (status, report.code or report.type, report.summary or report.message)
    detail = " ".join(str(one) for one in words if one)[:MESSAGE_LIMIT_CHARS]
    error_type = _type_by_content(report, status) or _type_by_status(status)
    retry_after_s = _retry_after_s(headers) if error_type in (RateLimited, Overloaded) else None
    says_why = error_type in (InvalidRequest, ToolsUnsupported) or (error_type is Overloaded and ends_an_answer)
    reason = clean_reason(report.message, api_key) if says_why else ""
    return error_type(without_key(detail, api_key), status=status, retry_after_s=retry_after_s, reason=reason)


def without_key(text: str, api_key: str) -> str:
    """Return the beginning of a text of the server, without this key and without anything that looks like one."""
    return without_secrets(text, api_key)[:DETAIL_LIMIT_CHARS]


def _type_by_content(report: ReportedError, status: int | None) -> type[ProviderError] | None:
    """Return the type of the error if the report determines it; `None` if the status does."""
    words = {report.code, report.type}
    if words & CREDIT_CODES or status == 402:
        return OutOfCredit
    if status is None and words & RATE_CODES:
        return RateLimited
    if words & REASONING_CODES:
        return SignatureRefused
    if words & CONTEXT_CODES or (status in (None, 400, 413, 422, 500) and CONTEXT_MESSAGE.search(report.message)):
        return ContextTooLong
    if status in (None, 400, 422) and (words & FILE_CODES or FILE_MESSAGE.search(report.message)):
        return FileRefused
    if status in (None, 400, 404, 422, 500, 501) and refuses_tools(report.message):
        return ToolsUnsupported
    if words & MODEL_CODES or (status == 400 and NO_MODEL_MESSAGE.search(report.message)):
        return ModelNotFound
    if status == 404:
        # If the message does not mention the model, the URL is wrong.
        return ModelNotFound if MODEL_MESSAGE.search(report.message) else InvalidRequest
    if status is None and ("invalid_request" in report.type or report.code == "invalid_prompt"):
        return InvalidRequest
    if status == 500 and CONFIGURATION_MESSAGE.search(report.message):
        return InvalidRequest
    return None


def _type_by_status(status: int | None) -> type[ProviderError]:
    if status in (401, 403):
        return Unauthorised
    if status == 429:
        return RateLimited
    if status is None or status in (408, 499) or status >= 500:
        return Overloaded
    return InvalidRequest if 400 <= status < 500 else MalformedResponse


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    try:
        return min(max(0.0, float(headers.get("retry-after", ""))), LONGEST_DELAY_S)
    except ValueError:
        return None


def _metadata_text(value: Mapping[str, JSON]) -> str:
    """Return the message of the server behind OpenRouter, which OpenRouter quotes."""
    metadata = value.get("metadata")
    return _text(metadata.get("raw")) if isinstance(metadata, dict) and metadata.get("raw") else ""


def _text(value: JSON) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)
