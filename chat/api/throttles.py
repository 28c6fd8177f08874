"""How often one person may call, by the settings; whoever calls too often is told when to come back."""

from __future__ import annotations

from django.conf import settings
from rest_framework.throttling import UserRateThrottle


class CallThrottle(UserRateThrottle):
    """Every call."""

    scope = "api-calls"
    setting = "API_CALLS_PER_MINUTE"

    def get_rate(self) -> str:
        """In the framework's notation."""
        return f"{getattr(settings, self.setting)}/minute"


class WriteThrottle(CallThrottle):
    """Calls that begin an answer, bring a file or import conversations."""

    scope = "api-writes"
    setting = "API_WRITES_PER_MINUTE"
