"""Imports in responses."""

from __future__ import annotations

from rest_framework import serializers

from chat.library.imports.store import ImportResult


class ImportResultSerializer(serializers.Serializer[ImportResult]):
    """The conversations of an imported file."""

    ids = serializers.ListField(
        source="created", child=serializers.UUIDField(), help_text="New conversations, in the file's order."
    )
    known_ids = serializers.ListField(
        source="existing", child=serializers.UUIDField(), help_text="Conversations that an earlier import has brought."
    )
