"""Compression of pages. Static files are compressed when they are collected, and downloads are not compressed."""

from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware


class CompressPages(GZipMiddleware):
    """Compresses HTML.

    Pages hold both secrets and text that their reader typed. So that their size does not reveal a secret (the BREACH
    attack), Django's middleware adds random bytes to each response, and Django masks the CSRF token.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Compress the response if it is a page."""
        if response.streaming or not response.headers.get("Content-Type", "").startswith("text/html"):
            return response
        return super().process_response(request, response)
