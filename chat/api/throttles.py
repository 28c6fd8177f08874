"""Limits on how often a user may call the API. A refused call gets `Retry-After`."""

from __future__ import annotations

from django.conf import settings
from rest_framework.throttling import UserRateThrottle


class CallThrottle(UserRateThrottle):
    """Limits all calls to `API_CALLS_PER_MINUTE`."""

    scope = "api-calls"

    def get_rate(self) -> str:
        """Return the rate in the notation of Django REST framework."""
        return f"{settings.API_CALLS_PER_MINUTE}/minute"


class WriteThrottle(UserRateThrottle):
    """Limits calls that start a turn, upload a file or import conversations to `API_WRITES_PER_MINUTE`."""

    scope = "api-writes"

    def get_rate(self) -> str:
        """Return the rate in the notation of Django REST framework."""
        return f"{settings.API_WRITES_PER_MINUTE}/minute"
