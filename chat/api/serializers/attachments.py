"""Attachments in requests and responses."""

from __future__ import annotations

from django.conf import settings
from django.urls import reverse
from rest_framework import serializers

from attachments.models import Attachment
from chat.api.serializers.fields import StrictSerializer
from chat.vocabulary.parts import JSONObject

NO_FILE = "There is no file in this request: send it as the field file of a form."


class FileUploadSerializer(StrictSerializer):
    """A form with one file."""

    file = serializers.FileField(
        allow_empty_file=True,
        help_text=f"At most {settings.UPLOAD_LIMIT_BYTES >> 20} MB.",
        error_messages={"required": NO_FILE, "invalid": NO_FILE, "no_name": NO_FILE},
    )


class AttachmentSerializer(serializers.Serializer[Attachment]):
    """A file: a graph that code drew, an image that a model made, or an upload."""

    id = serializers.UUIDField()
    index = serializers.SerializerMethodField(
        help_text="The n of its marker `[GRAPH:n]` or `[IMAGE:n]`. Null outside of messages."
    )
    is_graph = serializers.BooleanField(help_text="Whether executed code drew it.")
    mime_type = serializers.CharField()
    name = serializers.CharField()
    size_bytes = serializers.IntegerField(min_value=0)
    width = serializers.IntegerField(allow_null=True, help_text="In pixels. Null for files that are not images.")
    height = serializers.IntegerField(allow_null=True, help_text="In pixels. Null for files that are not images.")
    status = serializers.ChoiceField(
        Attachment.Status.choices, help_text="Whether it is in storage. Its bytes can be read in every state."
    )
    url = serializers.SerializerMethodField(help_text="URL of its bytes, relative to the server.")

    def get_index(self, attachment: Attachment) -> int | None:
        """Return the index in the message. `context["index"]` holds it."""
        index: int | None = self.context.get("index")
        return index

    def get_url(self, attachment: Attachment) -> str:
        """Return the path of the call that returns the bytes."""
        return reverse("api-attachment-content", args=[attachment.pk])


def attachment_json(attachment: Attachment, index: int | None = None) -> JSONObject:
    """Return an attachment as JSON. `index`: its index in a message."""
    json: JSONObject = AttachmentSerializer(attachment, context={"index": index}).data
    return json
