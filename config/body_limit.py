"""The maximum size of a request's body, for the server and for the pages that show this limit."""

from __future__ import annotations

BODY_LIMIT_BYTES = 16 * 1024 * 1024
"""The size of the largest upload, with the form around it."""
