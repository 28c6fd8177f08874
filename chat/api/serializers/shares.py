"""Shares in requests and responses."""

from __future__ import annotations

from rest_framework import serializers

from chat.api.pagination import NEXT_HELP
from chat.api.serializers.fields import StrictSerializer
from chat.models import Share


class NewShareSerializer(StrictSerializer):
    """When a new link ends."""

    expires_at = serializers.DateTimeField(
        required=False,
        allow_null=True,
        help_text="A time in the future. Null or left out: the link works until revoked.",
    )


class ShareSerializer(serializers.Serializer[Share]):
    """A link to the messages of a conversation so far."""

    id = serializers.UUIDField()
    url = serializers.CharField(
        source="get_absolute_url", help_text="Of the page for readers, relative to the server. It needs no account."
    )
    title = serializers.CharField(allow_blank=True, help_text="The conversation's title when the link was made.")
    created_at = serializers.DateTimeField(help_text="The page shows the conversation as it was then.")
    expires_at = serializers.DateTimeField(allow_null=True, help_text="Null: the link works until it is revoked.")
    opened_count = serializers.IntegerField(min_value=0, help_text="How often others have opened the page.")
    last_opened_at = serializers.DateTimeField(allow_null=True, help_text="Null: nobody has opened the page.")


class SharePageSerializer(serializers.Serializer[None]):
    """The links of a conversation, newest first."""

    results = ShareSerializer(many=True)
    next = serializers.CharField(allow_null=True, help_text=NEXT_HELP)
