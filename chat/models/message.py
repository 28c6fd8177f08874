"""Messages: a tree for each conversation, their parts, and their attachments."""

from __future__ import annotations

import uuid
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext

from attachments.models import Attachment
from chat.models.conversation import Conversation
from chat.vocabulary import parts
from chat.vocabulary.part_json import part_from_json, part_to_json
from chat.vocabulary.parts import PartKind, Role


class Message(models.Model):
    """One entry of a conversation. Messages form a tree: those with the same parent are versions of one another."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="messages")
    parent = models.ForeignKey(
        "self",
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="versions",
        help_text="The message that this one follows.",
    )
    index = models.PositiveIntegerField(help_text="Position on its path, from 0.")
    is_shown = models.BooleanField(
        default=True,
        help_text="Whether the message is on the path that is shown and continued. Other versions are not.",
    )
    last_shown = models.PositiveBigIntegerField(
        default=0,
        help_text="The conversation's revision when the message was last shown.",
    )
    role = models.CharField(max_length=5, choices=[(role.value, role.value) for role in Role])
    text = models.TextField(
        blank=True,
        help_text="The text parts joined; `[GRAPH:n]` stands on a line of its own where attachment n was drawn.",
    )
    # Null is allowed, because SQLite can then add the column without rebuilding the table. A rebuilt table loses its
    # triggers.
    reruns = models.JSONField(
        null=True,
        blank=True,
        help_text="Blocks of code that were run again: index of the part -> verdict, detail, from_start and at.",
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering: ClassVar[list[str]] = ["conversation", "index"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(
                fields=["conversation", "index"], condition=Q(is_shown=True), name="one_shown_message_per_index"
            ),
            models.CheckConstraint(
                condition=Q(index=0, parent__isnull=True) | Q(index__gt=0, parent__isnull=False),
                name="first_messages_follow_none",
            ),
        ]

    def __str__(self) -> str:
        return gettext("%(role)s message %(index)s") % {"role": gettext(self.role), "index": self.index}


class Part(models.Model):
    """One part of a message; `chat.vocabulary.parts` defines the kinds and their fields."""

    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="parts", db_index=False)
    index = models.PositiveIntegerField()
    kind = models.CharField(max_length=30, choices=[(kind.value, kind.value) for kind in PartKind])
    text = models.TextField(null=True, blank=True, help_text="The part's text, code or output.")
    data = models.JSONField(
        default=dict, blank=True, help_text="The part's other fields, as `part_to_json` writes them."
    )
    attachment = models.ForeignKey(
        Attachment, on_delete=models.PROTECT, null=True, blank=True, related_name="+", help_text="Bytes of inline_data."
    )

    class Meta:
        ordering: ClassVar[list[str]] = ["message", "index"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["message", "index"], name="one_part_per_index"),
        ]

    def __str__(self) -> str:
        return gettext("%(kind)s part %(index)s") % {"kind": self.kind, "index": self.index}

    @classmethod
    def from_value(cls, part: parts.Part, *, index: int, **columns: object) -> Part:
        """Return the unsaved row of a part. `columns`: `message` or `message_id`, and perhaps `attachment`."""
        data = part_to_json(part)
        del data["kind"]
        has_text = data.pop(part.text_field, None) is not None
        return cls(index=index, kind=part.kind.value, text=part.long_text if has_text else None, data=data, **columns)

    @property
    def value(self) -> parts.Part:
        """The part without the bytes of its attachment."""
        text_field = parts.PART_TYPES[PartKind(self.kind)].text_field
        text = {text_field: self.text} if text_field and self.text is not None else {}
        return part_from_json({"kind": self.kind, **self.data, **text})


CLEARED_INDEX = 1_000_000
"""Minimum index of graphs that the code of an answer has shown and then cleared. They are not part of the message's
text.
"""


class MessageAttachment(models.Model):
    """The position of an attachment in a message; `index` is the number n of its marker."""

    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="message_attachments", db_index=False)
    attachment = models.ForeignKey(Attachment, on_delete=models.PROTECT, related_name="message_attachments")
    index = models.PositiveIntegerField()
    part_index = models.PositiveIntegerField(
        null=True, blank=True, help_text="The part after which it is shown. Empty: at the message's end."
    )

    class Meta:
        ordering: ClassVar[list[str]] = ["message", "index"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["message", "index"], name="one_attachment_per_index"),
        ]

    def __str__(self) -> str:
        return gettext("attachment %(index)s of %(id)s") % {"index": self.index, "id": self.message_id}


class ProviderFile(models.Model):
    """An attachment that a provider stores until it expires, so that requests need not contain its bytes."""

    attachment = models.ForeignKey(Attachment, on_delete=models.CASCADE, related_name="provider_files")
    account = models.CharField(max_length=64, help_text="Digest of the provider, address and key that it belongs to.")
    uri = models.TextField()
    mime_type = models.CharField(max_length=100, help_text="The type under which the provider accepts it.")
    expires_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["attachment", "account"], name="one_file_per_account"),
        ]

    def __str__(self) -> str:
        return self.uri


class RefusedFile(models.Model):
    """An attachment that a model does not accept. Requests have a sentence in its place."""

    attachment = models.ForeignKey(Attachment, on_delete=models.CASCADE, related_name="refused_files")
    account = models.CharField(max_length=64, help_text="Digest of the provider, address and key; see the provider.")
    model = models.CharField(max_length=200)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["attachment", "account", "model"], name="one_refusal_per_model"),
        ]

    def __str__(self) -> str:
        return f"{self.attachment_id} refused by {self.model}"
