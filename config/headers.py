"""Middleware for response headers that neither Django nor an installed package sets."""

from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin


class NoDNSPrefetch(MiddlewareMixin):
    """Turns off DNS prefetching.

    Browsers resolve the hosts of a page's links in advance. A link in an answer would thereby reveal the visit to the
    operator of its domain.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        response.headers["X-DNS-Prefetch-Control"] = "off"
        return response
