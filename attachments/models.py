"""The files of users: graphs drawn by code, images made by a model, and uploads.

The bytes of a new attachment are in its `PendingUpload` row until storage has confirmed their size and checksum. The
pending row, not a task, records that the upload is still to be done.
"""

from __future__ import annotations

import uuid
from typing import ClassVar, TypedDict

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.urls import reverse
from django.utils.translation import gettext

from attachments.images import MaybeImage


class AttachmentJSON(TypedDict):
    """An attachment in the responses of the upload view. `chat.api.serializers` has the same form for the REST API."""

    id: str
    index: None
    """None: an attachment that was just uploaded is in no message, and has no marker."""
    is_graph: bool
    mime_type: str
    name: str
    size_bytes: int
    width: int | None
    height: int | None
    status: str
    url: str


class AttachmentQuerySet(models.QuerySet["Attachment"]):
    """Queries for attachments."""

    def readable_by(self, user: AbstractBaseUser | AnonymousUser) -> AttachmentQuerySet:
        """Return the user's own attachments, except those that only deleted conversations and runs of their code show.

        These rows stay until they are deleted in the background. Reviewers read the files of other users only in the
        admin, which logs each access.
        """
        is_kept = Q(project_files__isnull=False)
        for shown in ("message_attachments__message__conversation", "newer_file_runs__conversation"):
            is_kept |= Q(**{f"{shown}__isnull": False, f"{shown}__deleted_at": None})
        # Files that nothing shows yet are kept.
        is_kept |= Q(message_attachments__isnull=True, newer_file_runs__isnull=True)
        return self.filter(Exists(self.model.objects.filter(is_kept, pk=OuterRef("pk"))), owner_id=user.pk)


class Attachment(MaybeImage, models.Model):
    """One file. Only the fields that describe its upload to storage ever change."""

    class Status(models.TextChoices):
        """The place that holds the bytes of the file: storage or the database."""

        PENDING = "pending", "waiting for storage"
        STORED = "stored", "in storage"
        FAILED = "failed", "storage refuses it; kept in the database and retried from time to time"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="attachments")
    name = models.CharField(max_length=255, help_text="A label, never a path.")
    mime_type = models.CharField(max_length=100)
    size_bytes = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64, help_text="SHA-256 of the bytes, in hexadecimal.")
    width = models.PositiveIntegerField(
        null=True, blank=True, help_text="In pixels; empty if the file is not an image."
    )
    height = models.PositiveIntegerField(
        null=True, blank=True, help_text="In pixels; empty if the file is not an image."
    )
    scale = models.PositiveSmallIntegerField(
        db_default=1, default=1, help_text="Pixels of the image for one pixel of the page, in each direction."
    )
    is_graph = models.BooleanField(default=False, help_text="Whether executed code drew this image.")
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
        """The path under which the bytes are served to users who may read them."""
        return reverse("attachment-content", args=[self.pk])

    def as_json(self) -> AttachmentJSON:
        """Return the JSON form of the API. A new upload is in no message, so its index is None."""
        return {
            "id": str(self.pk),
            "index": None,
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
    """The bytes of an attachment that storage has not confirmed yet, and the state of its upload attempts."""

    attachment = models.OneToOneField(
        Attachment, on_delete=models.CASCADE, primary_key=True, related_name="pending_upload"
    )
    attempts = models.PositiveIntegerField(default=0)
    next_attempt_at = models.DateTimeField(db_index=True)
    last_error = models.TextField(blank=True)
    is_permanent = models.BooleanField(
        default=False, help_text="Storage refuses the upload until its configuration or permissions change."
    )
    claimed_until = models.DateTimeField(
        null=True, blank=True, help_text="A worker has claimed this upload until then."
    )
    # The last column, because SQLite reads through a large value to reach the columns behind it.
    data = models.BinaryField()

    class Meta:
        ordering: ClassVar[list[str]] = ["next_attempt_at"]

    def __str__(self) -> str:
        return gettext("pending bytes of %(id)s") % {"id": self.attachment_id}


class ObjectDeletion(models.Model):
    """An object that must be deleted from storage, because an attachment that used it was deleted.

    A trigger of the database writes the row in the transaction that deletes the attachment; see the migration
    `0002_owner`. The row does not refer to the account, which may be deleted too.
    """

    owner_id = models.BigIntegerField(help_text="Id of the account that owned the file.")
    sha256 = models.CharField(max_length=64)
    mime_type = models.CharField(max_length=100)
    size_bytes = models.PositiveBigIntegerField()
    storage_name = models.CharField(
        max_length=255, blank=True, help_text="Empty: storage had not confirmed the upload. An object may exist anyway."
    )
    attempts = models.PositiveIntegerField(default=0)
    next_attempt_at = models.DateTimeField(db_index=True)
    last_error = models.TextField(blank=True)
    is_permanent = models.BooleanField(
        default=False, help_text="Storage refuses the deletion until its configuration or permissions change."
    )
    claimed_until = models.DateTimeField(
        null=True, blank=True, help_text="A worker has claimed this deletion until then."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["next_attempt_at"]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["owner_id", "sha256"], name="deletions_by_object")
        ]

    def __str__(self) -> str:
        names = {"id": self.pk, "account": self.owner_id}
        return gettext("deletion %(id)s of an object of account %(account)s") % names


class AttachmentPreview(models.Model):
    """A description of an attachment, which a program in the sandbox has made. The chat app defines its content."""

    attachment = models.OneToOneField(Attachment, on_delete=models.CASCADE, primary_key=True, related_name="preview")
    version = models.PositiveSmallIntegerField(help_text="The version of the program that described the file.")
    content = models.JSONField()
    choices = models.JSONField(
        null=True, blank=True, help_text="How the owner wants the file to be read; empty if nothing was chosen."
    )
    chosen_at = models.DateTimeField(null=True, blank=True, help_text="When the owner last chose how to read it.")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"preview of {self.attachment_id}"
