"""Content negotiation."""

from __future__ import annotations

from collections.abc import Iterable

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class FixedContentNegotiation(DefaultContentNegotiation):
    """Ignores `Accept`: each call has one format. So a client that accepts only event streams can read errors."""

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """Return the first renderer and its media type."""
        renderer = next(iter(renderers))
        return renderer, renderer.media_type
