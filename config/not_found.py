"""The product's page for addresses that do not exist, also while DEBUG is on."""

from __future__ import annotations

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin
from django.views.defaults import page_not_found


class NotFoundPage(MiddlewareMixin):
    """Answers with the product's page where Django, while DEBUG is on, would list all URLs of the server.

    `make run` turns DEBUG on, and who tries the product there is a user of it.
    """

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Answer for a view that found nothing."""
        return page_not_found(request, exception) if settings.DEBUG and isinstance(exception, Http404) else None

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Answer for an address that no view has."""
        is_missing = response.status_code == 404 and request.resolver_match is None
        return page_not_found(request, Http404()) if settings.DEBUG and is_missing else response
