"""Errors as `application/problem+json` (RFC 9457): the problem types, and how every exception becomes a response."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import TypeAlias

from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import DatabaseError
from django.http import Http404, HttpRequest, JsonResponse, UnreadablePostError
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions

from chat.answering.turns.draining import Draining
from chat.people.quotas.resources import QuotaExceeded
from chat.people.quotas.throttles import wait_sentence
from chat.vocabulary.parts import JSONObject
from chat.vocabulary.sentences import translate_sentence

PROBLEM_JSON = "application/problem+json"
TYPE_URI = "/api/docs/#problem-"
"""The prefix of the `type` of every problem. The documentation page has an anchor for each slug."""
RETRY_AFTER_S = 5
SIGN_IN = "Send a token as “Authorization: Bearer …”, or the cookie of a session."

ErrorTree: TypeAlias = "str | Sequence[ErrorTree] | Mapping[str, ErrorTree]"
"""Error messages as Django REST framework nests them."""

logger = logging.getLogger(__name__)


class ProblemType(Enum):
    """All types of problems. Clients tell them apart by the slug, the end of `type`."""

    MALFORMED = "malformed", 400, "Malformed", "The body, a header or a parameter cannot be parsed."
    INVALID = "invalid", 400, "Invalid", "Fields are missing, unknown or not valid. `errors` has a sentence for each."
    UNAUTHENTICATED = "unauthenticated", 401, "Not logged in", "There is no valid token and no session."
    FORBIDDEN = "forbidden", 403, "Forbidden", "A call with the session cookie lacks its CSRF token."
    ABSENT = "absent", 404, "Not found", "It does not exist, or it is not yours. The response is the same for both."
    METHOD = "method", 405, "Method not allowed", "The header `Allow` lists the methods of this URL."
    CONFLICT = "conflict", 409, "Cannot start", "An answer cannot start now. `detail` says why."
    NOT_RATABLE = "not-ratable", 409, "Cannot be rated", "Only answers that have ended can be rated."
    NOT_SHARABLE = "not-sharable", 409, "Cannot be shared", "A link cannot be made now. `detail` says why."
    NOT_WAITING = "not-waiting", 409, "Does not wait", "The turn does not wait for this decision. `detail` says why."
    NOT_RUNNING = "not-running", 409, "No Python session", "The conversation has no running Python session."
    NOT_KEPT = "not-kept", 409, "Cannot be kept", "The limit of kept Python sessions is reached. `detail` says which."
    TURN_LIVE = (
        "turn-live",
        409,
        "An answer is being written",
        "A conversation has one live turn at a time. `turn` is its id. Stop it, or wait for its end.",
    )
    FORGOTTEN = (
        "forgotten",
        410,
        "Events have expired",
        "The log of this turn is deleted some minutes after its end. Follow the turn again without `Last-Event-ID`.",
    )
    FILE_ENDED = "file-ended", 410, "The file has ended", "The file ended with the Python session, or code removed it."
    CHANGED = "changed", 412, "It has changed", "It no longer has the `ETag` of `If-Match`. Read it again."
    TOO_LARGE = "too-large", 413, "Too large", "The body is too large. `detail` says how much may be sent."
    MEDIA_TYPE = "media-type", 415, "Unsupported media type", "This call does not accept the body's `Content-Type`."
    REFUSED = (
        "refused",
        422,
        "Refused",
        "The request is well-formed, but it names a model or a file that does not exist or cannot be used."
        " `errors` says which.",
    )
    KEY_REUSED = "key-reused", 422, "Key used before", "This `Idempotency-Key` has started a turn for another question."
    STORAGE_FULL = (
        "storage-full",
        403,
        "No room",
        "The caller has stored as much as they may. `detail` has the sizes.",
    )
    QUOTA = (
        "quota",
        429,
        "Used up for today",
        "The caller has used up what they may use in a day. `detail` has the numbers, `Retry-After` the wait.",
    )
    EXPORT_RUNNING = (
        "export-running",
        409,
        "An export is under way",
        "One person can export everything once at a time. Wait for the end of the other download, or end it.",
    )
    TOO_FAST = "too-fast", 429, "Too many calls", "Wait as many seconds as `Retry-After` says."
    INTERNAL = "internal", 500, "Internal error", "Something went wrong on the server. Its log has the details."
    UNAVAILABLE = "unavailable", 503, "Unavailable", "Try again after as many seconds as `Retry-After` says."
    WRONG_SERVER = (
        "wrong-server",
        503,
        "Wrong server",
        "Answers and streams need the ASGI server: `python -m config.serve`.",
    )

    def __init__(self, slug: str, status: int, title: str, meaning: str) -> None:
        self.slug = slug
        self.status = status
        self.title = title
        self.meaning = meaning
        """An explanation for the documentation."""


class Problem(exceptions.APIException):
    """An error with its response. `extensions` become further members of the JSON object."""

    def __init__(
        self,
        problem_type: ProblemType,
        detail: str,
        *,
        errors: Mapping[str, Sequence[str]] | None = None,
        headers: Mapping[str, str] | None = None,
        **extensions: str,
    ) -> None:
        super().__init__(detail)
        self.type = problem_type
        self.status_code = problem_type.status
        self.sentence = detail
        self.errors = errors or {}
        self.headers = dict(headers or {})
        self.extensions = extensions

    def response(self) -> JsonResponse:
        body: JSONObject = {
            "type": f"{TYPE_URI}{self.type.slug}",
            "title": self.type.title,
            "status": self.type.status,
            # Programs get the sentence in English, and scripts of a page in the language of the page.
            "detail": translate_sentence(self.sentence),
            **self.extensions,
        }
        if self.errors:
            body["errors"] = {name: list(sentences) for name, sentences in self.errors.items()}
        return JsonResponse(body, status=self.type.status, content_type=PROBLEM_JSON, headers=self.headers)


def refused(field: str, sentence: str) -> Problem:
    """Return the problem of a field whose value has a valid form but cannot be accepted."""
    return Problem(ProblemType.REFUSED, sentence, errors={field: [sentence]})


def unavailable(sentence: str) -> Problem:
    """Return the problem of something that may work again soon."""
    return Problem(ProblemType.UNAVAILABLE, sentence, headers={"Retry-After": str(RETRY_AFTER_S)})


def handle_exception(error: Exception, context: Mapping[str, object]) -> JsonResponse:
    """Return the response to an exception of a view. The `EXCEPTION_HANDLER` of Django REST framework."""
    return _problem_of(error).response()


@csrf_exempt
def not_found(request: HttpRequest, rest: str) -> JsonResponse:
    """Answer requests for URLs under /api/ that do not exist."""
    hint = "" if rest.endswith("/") else " Addresses end with a slash."
    return Problem(ProblemType.ABSENT, f"There is nothing at this address.{hint}").response()


def _problem_of(error: Exception) -> Problem:
    match error:
        case Problem():
            return error
        case Draining():
            return unavailable(str(error))
        case QuotaExceeded():
            return _quota_exceeded(error)
        case exceptions.ValidationError():
            errors = _errors_by_field(error.detail)
            detail = " ".join(sentence for sentences in errors.values() for sentence in sentences)
            return Problem(ProblemType.INVALID, detail, errors=errors)
        case exceptions.AuthenticationFailed() | exceptions.NotAuthenticated():
            return _unauthenticated(error)
        case exceptions.PermissionDenied() | PermissionDenied():
            return Problem(ProblemType.FORBIDDEN, str(error) or "You may not do this.")
        case exceptions.NotFound() | Http404():
            return Problem(ProblemType.ABSENT, "This does not exist, or you may not see it.")
        case exceptions.MethodNotAllowed():
            return Problem(ProblemType.METHOD, str(error.detail))
        case exceptions.UnsupportedMediaType():
            return Problem(ProblemType.MEDIA_TYPE, str(error.detail))
        case exceptions.Throttled():
            return _throttled(error)
        case RequestDataTooBig():
            return Problem(ProblemType.TOO_LARGE, "There is too much in this request.")
        case exceptions.ParseError():
            return Problem(ProblemType.MALFORMED, str(error.detail))
        case SuspiciousOperation() | BadRequest() | UnreadablePostError():
            return Problem(ProblemType.MALFORMED, "This request cannot be read.")
        case DatabaseError():
            logger.error("an API call failed at the database", exc_info=error)
            return unavailable("The server's database does not answer just now. Try again soon.")
        case _:
            logger.error("an API call failed", exc_info=error)
            return Problem(ProblemType.INTERNAL, "Something went wrong on this server.")


def _unauthenticated(error: exceptions.AuthenticationFailed | exceptions.NotAuthenticated) -> Problem:
    detail = str(error.detail) if isinstance(error, exceptions.AuthenticationFailed) else SIGN_IN
    # The framework sets this attribute before it calls the exception handler.
    challenge: str = getattr(error, "auth_header", "Bearer")
    return Problem(ProblemType.UNAUTHENTICATED, detail, headers={"WWW-Authenticate": challenge})


def _throttled(error: exceptions.Throttled) -> Problem:
    # The stubs of the framework lack this attribute.
    wait: float | None = getattr(error, "wait", None)
    wait_s = max(1, math.ceil(wait or 1))
    return Problem(ProblemType.TOO_FAST, wait_sentence(wait_s), headers={"Retry-After": str(wait_s)})


def _quota_exceeded(error: QuotaExceeded) -> Problem:
    if error.retry_after_s is None:
        return Problem(ProblemType.STORAGE_FULL, str(error))
    return Problem(ProblemType.QUOTA, str(error), headers={"Retry-After": str(error.retry_after_s)})


def _errors_by_field(detail: ErrorTree) -> dict[str, list[str]]:
    """Return field -> sentences, each once. A sentence about an item of a list or object belongs to the field."""
    if isinstance(detail, Mapping):
        return {str(name): list(dict.fromkeys(_sentences(inner))) for name, inner in detail.items()}
    return {"body": list(dict.fromkeys(_sentences(detail)))}


def _sentences(detail: ErrorTree) -> Iterator[str]:
    if isinstance(detail, str):
        yield str(detail)
        return
    for inner in detail.values() if isinstance(detail, Mapping) else detail:
        yield from _sentences(inner)
