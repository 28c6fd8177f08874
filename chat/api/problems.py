"""What went wrong, as `application/problem+json` (RFC 9457).

One table of kinds, and one place where errors become answers.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import DatabaseError
from django.http import Http404, HttpRequest, JsonResponse, UnreadablePostError
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions

PROBLEM_JSON = "application/problem+json"
DOCS = "/api/docs/#problem-"
RETRY_S = 5
SIGN_IN = "Send a token as “Authorization: Bearer …”, or the cookie of a session."

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Kind:
    """A sort of problem; its `type` is the address of its explanation."""

    status: int
    title: str
    meaning: str
    """For readers of the documentation."""


KINDS = {
    "malformed": Kind(400, "Malformed", "The body, a header or a parameter cannot be read at all."),
    "invalid": Kind(400, "Invalid", "Fields are missing, unknown or refused; `errors` says which, each in a sentence."),
    "unauthenticated": Kind(401, "Not signed in", "No token, one that lets nobody in, or no session."),
    "forbidden": Kind(403, "Forbidden", "A call with the session cookie lacks its CSRF token."),
    "absent": Kind(404, "Not found", "There is no such thing, or it is not yours: nobody is told which."),
    "method": Kind(405, "Method not allowed", "`Allow` says what the address takes."),
    "conflict": Kind(409, "Cannot start", "An answer cannot begin now; `detail` says why."),
    "not-ratable": Kind(409, "Cannot be rated", "Only answers that have ended can be rated."),
    "turn-live": Kind(409, "An answer is being written", "Only one at a time: `turn` is its id. Stop it, or wait."),
    "forgotten": Kind(410, "Steps are forgotten", "Begin again without `Last-Event-ID`: steps are not kept for ever."),
    "changed": Kind(412, "It has changed", "It is not what `If-Match` names any more: read it again."),
    "too-large": Kind(413, "Too large", "`detail` says how much may be sent."),
    "media-type": Kind(415, "Unsupported media type", "The body is of a type that this call does not take."),
    "refused": Kind(422, "Refused", "Well-formed, but it names what there is not: a model, a file. See `errors`."),
    "key-reused": Kind(422, "Key used before", "The `Idempotency-Key` belongs to another question."),
    "too-fast": Kind(429, "Too many calls", "Wait `Retry-After` seconds."),
    "internal": Kind(500, "Defect", "Something went wrong on the server; its log says what."),
    "unavailable": Kind(503, "Unavailable", "Try again after `Retry-After` seconds."),
    "wrong-server": Kind(503, "Wrong server", "Answers and streams need the ASGI server: `python -m config.serve`."),
}


class Problem(exceptions.APIException):
    """An error that is answered in words; `members` stand in it beside the usual ones."""

    def __init__(
        self,
        kind: str,
        detail: str,
        *,
        errors: Mapping[str, list[str]] | None = None,
        headers: Mapping[str, str] | None = None,
        **members: str,
    ) -> None:
        super().__init__(detail)
        self.kind = kind
        self.sentence = detail
        self.errors = errors
        self.headers = dict(headers or {})
        self.members = members
        self.status_code = KINDS[kind].status


def invalid(kind: str = "invalid", **errors: str) -> Problem:
    """Fields that are refused, each with a sentence."""
    return Problem(kind, " ".join(errors.values()), errors={name: [text] for name, text in errors.items()})


def unavailable(detail: str) -> Problem:
    """It may go better soon."""
    return Problem("unavailable", detail, headers={"Retry-After": str(RETRY_S)})


def response_of(problem: Problem) -> JsonResponse:
    """The answer."""
    kind = KINDS[problem.kind]
    said: dict[str, Any] = {
        "type": f"{DOCS}{problem.kind}",
        "title": kind.title,
        "status": kind.status,
        "detail": problem.sentence,
        **problem.members,
    }
    if problem.errors:
        said["errors"] = problem.errors
    return JsonResponse(said, status=kind.status, content_type=PROBLEM_JSON, headers=problem.headers)


def problem_response(error: Exception, context: Mapping[str, Any]) -> JsonResponse:
    """Whatever a view raised, as an answer; Django REST framework's hook."""
    return response_of(_problem_of(error))


@csrf_exempt
def not_found(request: HttpRequest, rest: str) -> JsonResponse:
    """For addresses under /api/ that there are not."""
    hint = "" if rest.endswith("/") else " Addresses end with a slash."
    return response_of(Problem("absent", f"There is nothing at this address.{hint}"))


def _problem_of(error: Exception) -> Problem:
    match error:
        case Problem():
            return error
        case exceptions.ValidationError():
            errors = _sentences(error.detail)
            return Problem("invalid", " ".join(text for texts in errors.values() for text in texts), errors=errors)
        case exceptions.AuthenticationFailed() | exceptions.NotAuthenticated():
            said = getattr(error, "auth_header", "Bearer")
            words = str(error.detail) if isinstance(error, exceptions.AuthenticationFailed) else SIGN_IN
            return Problem("unauthenticated", words, headers={"WWW-Authenticate": said})
        case exceptions.PermissionDenied() | PermissionDenied():
            return Problem("forbidden", str(error) or "You may not do this.")
        case exceptions.NotFound() | Http404():
            return Problem("absent", "There is nothing here that you may see.")
        case exceptions.MethodNotAllowed():
            return Problem("method", str(error.detail))
        case exceptions.UnsupportedMediaType():
            return Problem("media-type", str(error.detail))
        case exceptions.Throttled():
            wait_s = max(1, math.ceil(getattr(error, "wait", None) or 1))
            words = f"Too many calls within a minute. Wait {wait_s} second{'' if wait_s == 1 else 's'}."
            return Problem("too-fast", words, headers={"Retry-After": str(wait_s)})
        case RequestDataTooBig():
            return Problem("too-large", "There is too much in this request.")
        case exceptions.ParseError():
            return Problem("malformed", str(error.detail))
        case SuspiciousOperation() | BadRequest() | UnreadablePostError():
            return Problem("malformed", "This request cannot be read.")
        case DatabaseError():
            logger.error("a call failed at the database", exc_info=error)
            return unavailable("The server's database does not answer just now. Try again soon.")
        case _:
            logger.error("a call failed by a defect", exc_info=error)
            return Problem("internal", "Something went wrong on this server.")


def _sentences(detail: Any) -> dict[str, list[str]]:  # noqa: ANN401 - lists and dicts of any depth
    """Field -> sentences; of lists and objects within fields, all of their sentences."""
    if isinstance(detail, Mapping):
        return {str(name): list(dict.fromkeys(_flat(inner))) for name, inner in detail.items()}
    return {"body": list(dict.fromkeys(_flat(detail)))}


def _flat(detail: Any) -> list[str]:  # noqa: ANN401 - as above
    if isinstance(detail, Mapping):
        return [text for inner in detail.values() for text in _flat(inner)]
    if isinstance(detail, list | tuple):
        return [text for inner in detail for text in _flat(inner)]
    return [str(detail)]
