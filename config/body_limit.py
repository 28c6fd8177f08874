"""The limit of a request's body, for the server and for the pages that name it."""

from __future__ import annotations

BODY_LIMIT_BYTES = 16 * 1024 * 1024
"""The largest upload, with the form around it."""
