"""Limits how often a user may call the API and send some requests of pages. A refused request gets `Retry-After`.

The counts are kept in the memory of each server process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.core.cache import caches
from rest_framework.throttling import UserRateThrottle

from chat.people.account.number_format import format_count

if TYPE_CHECKING:
    # These imports would be circular at run time: the framework imports the throttles that its settings name.
    from rest_framework.request import Request
    from rest_framework.views import APIView


class _ClientThrottle(UserRateThrottle):
    """Counts requests by user, or without a login by the client's address, which no header can forge."""

    cache = caches["process"]

    def get_ident(self, request: Request) -> str:
        """Return the address of the client."""
        address: str = get_adapter().get_client_ip(request)
        return address


class CallThrottle(_ClientThrottle):
    """Limits all calls to `API_CALLS_PER_MINUTE`."""

    scope = "api-calls"

    def get_rate(self) -> str:
        """Return the rate in the notation of Django REST framework."""
        return f"{settings.API_CALLS_PER_MINUTE}/minute"


class WriteThrottle(_ClientThrottle):
    """Limits calls that start costly work to `API_WRITES_PER_MINUTE`: turns, code in sessions, uploads and imports."""

    scope = "api-writes"

    def get_rate(self) -> str:
        """Return the rate in the notation of Django REST framework."""
        return f"{settings.API_WRITES_PER_MINUTE}/minute"


class ShareThrottle(CallThrottle):
    """Limits requests for pages and files of shares to `API_CALLS_PER_MINUTE` from one address."""

    scope = "shares"

    def get_cache_key(self, request: Request, view: APIView) -> str:
        """Return the key under which the requests of an address are counted."""
        return self.cache_format % {"scope": self.scope, "ident": self.get_ident(request)}


def wait_sentence(wait_s: int) -> str:
    """Return the sentence for a request that was refused because it came too soon."""
    return f"Too many calls within a minute. Wait {format_count(wait_s, 'second')}."
