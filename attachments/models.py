"""Files that belong to a person: graphs drawn by code, images made by a model, uploads.

An attachment's bytes live in `PendingUpload` from the moment it is created until storage has confirmed their
size and checksum; the pending row, not any task, says what is still to be done.
"""

from __future__ import annotations

import uuid
from typing import ClassVar, TypedDict

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import models
from django.urls import reverse


class AttachmentJSON(TypedDict):
    """An attachment as the REST API and the upload door say it."""

    id: str
    index: int | None
    """The n of its marker, where it stands in a message."""
    is_graph: bool
    mime_type: str
    name: str
    size_bytes: int
    width: int | None
    height: int | None
    status: str
    url: str


class AttachmentQuerySet(models.QuerySet["Attachment"]):
    """Reading attachments."""

    def readable_by(self, user: AbstractBaseUser | AnonymousUser) -> AttachmentQuerySet:
        """A person's own. Who reviews conversations has a door of their own, which writes each reading down."""
        return self.filter(owner_id=user.pk)


class Attachment(models.Model):
    """One file; immutable but for its way into storage."""

    class Status(models.TextChoices):
        """Where the bytes are."""

        PENDING = "pending", "waiting for storage"
        STORED = "stored", "in storage"
        FAILED = "failed", "storage refuses it; still kept here and tried now and then"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="attachments")
    name = models.CharField(max_length=255, help_text="A label, never a path.")
    mime_type = models.CharField(max_length=100)
    size_bytes = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64, help_text="Of the bytes, in hex.")
    width = models.PositiveIntegerField(null=True, blank=True, help_text="In pixels, of images.")
    height = models.PositiveIntegerField(null=True, blank=True, help_text="In pixels, of images.")
    is_graph = models.BooleanField(default=False, help_text="Drawn by executed code.")
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.PENDING)
    storage_name = models.CharField(max_length=255, blank=True, help_text="Set once storage has confirmed the bytes.")
    created_at = models.DateTimeField(auto_now_add=True)
    stored_at = models.DateTimeField(null=True, blank=True)

    objects = AttachmentQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["created_at"]
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["owner", "created_at"])]

    def __str__(self) -> str:
        return self.name

    @property
    def url(self) -> str:
        """Where its bytes are served, to who may read it."""
        return reverse("attachment-content", args=[self.pk])

    def as_json(self, index: int | None = None) -> AttachmentJSON:
        """The contract's form; `index` is its place in a message."""
        return {
            "id": str(self.pk),
            "index": index,
            "is_graph": self.is_graph,
            "mime_type": self.mime_type,
            "name": self.name,
            "size_bytes": self.size_bytes,
            "width": self.width,
            "height": self.height,
            "status": self.status,
            "url": self.url,
        }


class PendingUpload(models.Model):
    """The bytes of an attachment that storage has not confirmed yet, and how the tries went."""

    attachment = models.OneToOneField(
        Attachment, on_delete=models.CASCADE, primary_key=True, related_name="pending_upload"
    )
    attempts = models.PositiveIntegerField(default=0)
    next_attempt_at = models.DateTimeField(db_index=True, auto_now_add=False)
    last_error = models.TextField(blank=True)
    is_permanent = models.BooleanField(
        default=False, help_text="Storage refuses for a reason that time alone does not mend."
    )
    claimed_until = models.DateTimeField(null=True, blank=True, help_text="A worker is at it until then.")
    # Last, because SQLite reads through a row's large values to reach the columns behind them.
    data = models.BinaryField()

    class Meta:
        ordering: ClassVar[list[str]] = ["next_attempt_at"]

    def __str__(self) -> str:
        return f"pending bytes of {self.attachment_id}"
