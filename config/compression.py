"""Compression of pages. Static files are compressed when they are collected, and downloads are not compressed."""

from __future__ import annotations

import re
import secrets

import brotli
from django.http import HttpRequest
from django.http.response import HttpResponse, HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.utils.cache import patch_vary_headers

QUALITY = 5
"""Brotli's quality. At 5 it takes as long as gzip, and the pages are an eighth smaller."""
WINDOW_BITS = 18
"""Brotli's window: 2**18 bytes (256 KB), in which most pages fit. With the usual 4 MB, each thread needs megabytes."""
PADDING_LIMIT_BYTES = 100
_TAKES_BROTLI = re.compile(r"\bbr\b")


class CompressPages(GZipMiddleware):
    """Compresses HTML: whole pages with Brotli if the browser accepts it, and other HTML with gzip.

    Pages hold both secrets and text that their reader typed, so their size could reveal a secret (the BREACH attack).
    Therefore each response has random bytes, which Django's middleware adds to gzip, and Django masks the CSRF token.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Compress the response if it is a page."""
        if response.streaming or not response.headers.get("Content-Type", "").startswith("text/html"):
            return response
        takes_brotli = _TAKES_BROTLI.search(request.headers.get("Accept-Encoding", ""))
        if takes_brotli and isinstance(response, HttpResponse) and response.content.startswith(b"<!doctype html>"):
            return _with_brotli(response)
        return super().process_response(request, response)


def _with_brotli(page: HttpResponse) -> HttpResponse:
    padding = secrets.token_hex(secrets.randbelow(PADDING_LIMIT_BYTES)).encode()
    page.content = brotli.compress(page.content + b"<!--" + padding + b"-->", quality=QUALITY, lgwin=WINDOW_BITS)
    page.headers["Content-Encoding"] = "br"
    page.headers["Content-Length"] = str(len(page.content))
    patch_vary_headers(page, ("Accept-Encoding",))
    return page
