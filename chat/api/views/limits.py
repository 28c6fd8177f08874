"""The call that says how much the caller may still use."""

from __future__ import annotations

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from chat.api.serializers.limits import LimitsSerializer
from chat.api.views.base import ApiView
from chat.people.quotas.resources import Resource, day_end, day_of
from chat.people.quotas.usage import read_usage


class Limits(ApiView):
    """The limits of the caller."""

    @extend_schema(operation_id="limits", summary="Read your limits", responses=LimitsSerializer)
    def get(self, request: Request) -> Response:
        """Return what the caller has used today, or stores, and how much of it they may use."""
        now = timezone.now()
        limits = [
            {
                "name": resource.counter,
                "used": max(0, usage.used),
                "limit": usage.limit,
                "left": usage.left,
                "estimated": usage.estimated,
                "resets_at": day_end(now) if resource.is_daily else None,
            }
            for resource, usage in read_usage(self.caller.pk, Resource, day=day_of(now)).items()
        ]
        return Response(LimitsSerializer({"limits": limits}).data)
