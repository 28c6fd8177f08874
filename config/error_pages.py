"""The product's pages for addresses that do not exist, also while DEBUG is on, and for bodies that are too large."""

from __future__ import annotations

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin
from django.views.defaults import page_not_found

from chat.people.quotas.pages import refusal
from config.body_limit import BODY_LIMIT_BYTES

OWN_LIMITS = ("/api/", "/attachments/")
"""Views below these paths check the length of a body themselves, and answer in JSON."""


class ErrorPages(MiddlewareMixin):
    """Answers with the product's page where Django, while DEBUG is on, would list all URLs of the server.

    `make run` turns DEBUG on, and who tries the product there is a user of it.
    """

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        """Answer a body above the limit, which `config.daphne_server` discards."""
        length = str(request.META.get("CONTENT_LENGTH") or "")
        # Only the first 18 digits are parsed, because Python refuses to convert a number of thousands of digits.
        if not length.isdecimal() or int(length[:18]) <= BODY_LIMIT_BYTES or request.path.startswith(OWN_LIMITS):
            return None
        sentence = (
            f"At most {BODY_LIMIT_BYTES // 1024**2} MB can be sent at once. Whoever runs this server can import more."
        )
        return refusal(request, sentence, status=413, heading="Too large")

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Answer for a view that found nothing."""
        return page_not_found(request, exception) if settings.DEBUG and isinstance(exception, Http404) else None

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Answer for an address that no view has."""
        is_missing = response.status_code == 404 and request.resolver_match is None
        return page_not_found(request, Http404()) if settings.DEBUG and is_missing else response
