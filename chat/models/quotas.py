"""Quotas of people and groups, the usage of people, and the exports that are running.

`chat.people.quotas` reads and changes the counters.
"""

from __future__ import annotations

from typing import ClassVar

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext


class Quota(models.Model):
    """Limits of one person or one group. They replace the limits for everyone.

    Limits of a person take precedence over those of their groups. Of several groups, the highest limit applies.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, blank=True, related_name="quota"
    )
    group = models.OneToOneField(Group, on_delete=models.CASCADE, null=True, blank=True, related_name="quota")
    turns_per_day = models.PositiveIntegerField("answers a day", null=True, blank=True)
    tokens_per_day = models.PositiveBigIntegerField("tokens a day", null=True, blank=True)
    conversations_per_day = models.PositiveIntegerField("new conversations a day", null=True, blank=True)
    kernel_seconds_per_day = models.PositiveIntegerField("seconds of Python sessions a day", null=True, blank=True)
    import_mb_per_day = models.PositiveIntegerField("MB of imported text a day", null=True, blank=True)
    upload_mb_per_day = models.PositiveIntegerField("MB of uploads a day", null=True, blank=True)
    storage_mb = models.PositiveIntegerField("MB of stored files", null=True, blank=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["group__name", "user__username"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(
                condition=Q(user__isnull=True, group__isnull=False) | Q(user__isnull=False, group__isnull=True),
                name="quota_of_a_person_or_a_group",
                violation_error_message="Choose either a person or a group.",
            ),
        ]

    def __str__(self) -> str:
        return gettext("quota of %(name)s") % {"name": self.group or self.user}


class QuotaUse(models.Model):
    """The usage of one person on one day, including conversations that were deleted since."""

    # The index of the constraint below begins with this column.
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="quota_uses", db_index=False
    )
    day = models.DateField(help_text="In UTC.")
    turns = models.BigIntegerField("answers", default=0)
    tokens = models.BigIntegerField(default=0)
    conversations = models.BigIntegerField(default=0)
    kernel_ms = models.BigIntegerField("milliseconds of Python sessions", default=0)
    import_bytes = models.BigIntegerField("bytes of imported text", default=0)
    upload_bytes = models.BigIntegerField("bytes of uploads", default=0)

    class Meta:
        ordering: ClassVar[list[str]] = ["-day", "user"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["user", "day"], name="one_quota_use_per_day"),
        ]

    def __str__(self) -> str:
        return gettext("use by %(id)s on %(day)s") % {"id": self.user_id, "day": self.day}


class RunningExport(models.Model):
    """An export of everything that a person's client is downloading now. The row is deleted when the download ends."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="running_export"
    )
    claim = models.UUIDField(help_text="Of the download that holds the row.")
    expires_at = models.DateTimeField(help_text="End of its lease, which the process renews while it sends.")

    def __str__(self) -> str:
        return f"export of {self.user_id}"
