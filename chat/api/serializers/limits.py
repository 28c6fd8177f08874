"""The limits of the caller in responses."""

from __future__ import annotations

from rest_framework import serializers

from chat.people.quotas.resources import Resource


class LimitSerializer(serializers.Serializer[object]):
    """One limit of the caller, and how much of it is used."""

    name = serializers.ChoiceField(
        [(resource.counter, resource.counter) for resource in Resource],
        help_text="Counts of `turns`, `tokens` and `conversations`; milliseconds in `kernel_ms`; bytes in the others.",
    )
    used = serializers.IntegerField(min_value=0)
    limit = serializers.IntegerField(min_value=0, allow_null=True, help_text="Null: there is no limit.")
    left = serializers.IntegerField(min_value=0, allow_null=True, help_text="Null: there is no limit.")
    estimated = serializers.IntegerField(
        min_value=0, help_text="How much of `used` is an estimate: tokens that a model's service did not report."
    )
    resets_at = serializers.DateTimeField(
        allow_null=True, help_text="When it is counted from 0 again. Null: it is a total, which deleting lowers."
    )


class LimitsSerializer(serializers.Serializer[object]):
    """All limits of the caller."""

    limits = LimitSerializer(many=True)
