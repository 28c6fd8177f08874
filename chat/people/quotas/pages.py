"""Limits of pages: the throttles of the API, and quotas. A refused request gets the reason, as a page or as JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from rest_framework.throttling import SimpleRateThrottle

from chat.people.quotas.resources import QuotaExceeded
from chat.people.quotas.throttles import CallThrottle, wait_sentence
from chat.vocabulary.sentences import translate_sentence

P = ParamSpec("P")
R = TypeVar("R", bound=HttpRequest)
View = Callable[Concatenate[R, P], HttpResponseBase]


def limited(
    *throttles: type[SimpleRateThrottle], methods: Collection[str] = ("GET", "HEAD", "POST")
) -> Callable[[View[R, P]], View[R, P]]:
    """Decorate a view with the throttles of the API call that does the same, and with responses for exceeded quotas.

    `methods`: the HTTP methods of the requests that the throttles count.
    """

    def decorate(view: View[R, P]) -> View[R, P]:
        @wraps(view)
        def wrapped(request: R, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            if request.method in methods:
                waits = [wait_s for one in throttles if (wait_s := _wait_s(one(), request)) is not None]
                if waits:
                    return refusal(request, wait_sentence(max(waits)), status=429, retry_after_s=max(waits))
            try:
                return view(request, *args, **kwargs)
            except QuotaExceeded as error:
                return refusal(request, str(error), status=error.status, retry_after_s=error.retry_after_s)

        return wrapped

    return decorate


limited_as_calls = limited(CallThrottle)
"""Decorator that limits a view like all calls of the API."""


def refusal(
    request: HttpRequest, sentence: str, *, status: int, heading: str = "", retry_after_s: int | None = None
) -> HttpResponse:
    """Return a page that says why a request was refused. A script that does not accept HTML gets JSON with `detail`.

    `heading`: the heading of the page; empty if the request was refused only for now.
    """
    response = (
        render(request, "refused.html", {"sentence": sentence, "heading": heading}, status=status)
        if request.accepts("text/html")
        else JsonResponse({"detail": translate_sentence(sentence)}, status=status)
    )
    if retry_after_s is not None:
        response.headers["Retry-After"] = str(retry_after_s)
    return response


def _wait_s(throttle: SimpleRateThrottle, request: HttpRequest) -> int | None:
    """Count a request. Return the seconds until the next one is allowed; `None` if this one is allowed."""
    # The throttles read only the user and the address, which a request of Django has, too.
    if throttle.allow_request(request, None):  # type: ignore[arg-type]
        return None
    return max(1, math.ceil(throttle.wait() or 1))
