"""Conditional requests (RFC 9110): `ETag`, `If-None-Match` and `If-Match`."""

from __future__ import annotations

import hashlib
import json

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from rest_framework.request import Request
from rest_framework.response import Response

from chat.api.problems import Problem, ProblemType
from chat.vocabulary.parts import JSONObject


def conditional_response(request: Request, body: JSONObject) -> HttpResponseBase:
    """Return the JSON with its ETag, or a response with status 304 if the client has this JSON already.

    Raises Problem if `If-Match` names another ETag.
    """
    check_if_match(request, body)
    etag = etag_of(body)
    unchanged = get_conditional_response(request._request, etag=etag)
    return with_etag(Response(body) if unchanged is None else unchanged, etag)


def check_if_match(request: Request, body: JSONObject) -> None:
    """Raise Problem if `If-Match` names another ETag than that of the JSON."""
    response = get_conditional_response(request._request, etag=etag_of(body), response=HttpResponse())
    if response is not None and response.status_code == 412:
        raise Problem(ProblemType.CHANGED, "It has changed since you read it. Read it again.")


def with_etag(response: HttpResponseBase, etag: str) -> HttpResponseBase:
    """Return the response with an ETag. The client may store it, but must ask each time whether it has changed."""
    response.headers["ETag"] = etag
    response.headers["Cache-Control"] = "private, no-cache"
    return response


def etag_of(body: JSONObject) -> str:
    """Return the ETag of a JSON object. It does not depend on the order of the keys."""
    return f'"{hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:32]}"'
