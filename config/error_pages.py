"""Plotline's error pages for URLs that do not exist, also while DEBUG is on, and for bodies that are too large."""

from __future__ import annotations

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin
from django.views.defaults import page_not_found

from chat.people.quotas.pages import refusal
from config.body_limit import BODY_LIMIT_BYTES

OWN_LIMITS = ("/api/", "/attachments/")
"""Paths whose views check the length of a body themselves, and respond in JSON."""


class ErrorPages(MiddlewareMixin):
    """Responds with Plotline's error page where Django, while DEBUG is on, would list all URLs of the server.

    `make run` turns DEBUG on, and people who try Plotline should see what users see.
    """

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        """Return the error page for a body above the limit, which `config.daphne_server` discards; else None."""
        length = str(request.META.get("CONTENT_LENGTH") or "")
        # Only the first 18 digits are parsed, because Python refuses to convert a number of thousands of digits.
        if not length.isdecimal() or int(length[:18]) <= BODY_LIMIT_BYTES or request.path.startswith(OWN_LIMITS):
            return None
        sentence = (
            f"At most {BODY_LIMIT_BYTES // 1024**2} MB can be sent at once. Whoever runs this server can import more."
        )
        return refusal(request, sentence, status=413, heading="Too large")

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Return the error page if DEBUG is on and a view raised Http404; else None."""
        return page_not_found(request, exception) if settings.DEBUG and isinstance(exception, Http404) else None

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Return the error page if DEBUG is on and no view has this URL; else the response."""
        is_missing = response.status_code == 404 and request.resolver_match is None
        return page_not_found(request, Http404()) if settings.DEBUG and is_missing else response
