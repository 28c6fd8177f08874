"""Runs of a conversation's code on a newer file."""

from __future__ import annotations

from rest_framework import serializers

from attachments.models import Attachment
from chat.api.serializers.code import BlockVerdictSerializer
from chat.api.serializers.fields import JSONBooleanField, StrictSerializer
from chat.python.newer_files.numbers import LostNumberJSON

STATES = {"running": "the code runs", "done": "all code has run", "failed": "not all code ran; `detail` says why"}


class NewerFileSerializer(StrictSerializer):
    """Which file replaces which."""

    replaced = serializers.UUIDField(help_text="Id of a table that is attached to a shown question, or of the project.")
    newer = serializers.UUIDField(help_text="Id of an uploaded file of the same kind.")
    anyway = JSONBooleanField(
        default=False, help_text="Run the code also if columns are missing, or the table differs in another way."
    )


class LostNumberSerializer(serializers.Serializer[LostNumberJSON]):
    """A number of an answer that was in the results, and is not in the new ones."""

    message_id = serializers.UUIDField()
    text = serializers.CharField(help_text="The number as the answer writes it.")
    start = serializers.IntegerField(help_text="Its first character in the answer's text.")
    end = serializers.IntegerField(help_text="The character after it.")
    after = serializers.CharField(
        allow_blank=True, help_text="What stands in its place in the same line now; empty: there is no such line."
    )
    line_before = serializers.CharField(allow_blank=True, help_text="The line of the output, or the computation.")
    line_after = serializers.CharField(allow_blank=True, help_text="The line with the same words now.")


class AttachmentNameSerializer(serializers.Serializer[Attachment]):
    """A file by its name."""

    id = serializers.UUIDField()
    name = serializers.CharField()


class NewerFileRunSerializer(serializers.Serializer[object]):
    """A run on a newer file. The conversation is not changed by it."""

    id = serializers.UUIDField()
    conversation_id = serializers.UUIDField()
    replaced = AttachmentNameSerializer()
    newer = AttachmentNameSerializer()
    state = serializers.ChoiceField(choices=list(STATES.items()))
    verdict = serializers.CharField(allow_blank=True, help_text="The worst verdict so far; empty: no block has run.")
    detail = serializers.CharField(allow_blank=True, help_text="A sentence that counts the verdicts, or the failure.")
    blocks = BlockVerdictSerializer(many=True)
    numbers = LostNumberSerializer(many=True)
    created_at = serializers.DateTimeField()
