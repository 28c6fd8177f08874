"""Feedback in requests and responses."""

from __future__ import annotations

from rest_framework import serializers

from chat.api.serializers.fields import JSONBooleanField, StrictSerializer, TextField
from chat.models import REASON_LIMIT, Feedback
from chat.page.message_views import Rating

IS_GOOD_HELP = "True for thumbs up, false for thumbs down."


class RatingSerializer(StrictSerializer):
    """What the caller thinks of an answer."""

    is_good = JSONBooleanField(help_text=IS_GOOD_HELP)
    reason = TextField(
        default="",
        allow_blank=True,
        max_length=REASON_LIMIT,
        help_text="Why. If left out or empty: no reason.",
        error_messages={"max_length": f"A reason can have at most {REASON_LIMIT:,} characters. Shorten it."},
    )


class FeedbackSerializer(serializers.Serializer[Feedback | Rating]):
    """What the conversation's owner thinks of an answer."""

    is_good = serializers.BooleanField(help_text=IS_GOOD_HELP)
    reason = serializers.CharField(allow_blank=True, help_text="Empty: no reason was given.")
