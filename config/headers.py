"""Response headers that neither Django nor the packages here set."""

from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin


class NoDNSPrefetch(MiddlewareMixin):
    """Browsers look up the hosts of a page's links beforehand: a model's link would tell its host of the visit."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Forbid it, whatever the response."""
        response.headers["X-DNS-Prefetch-Control"] = "off"
        return response
