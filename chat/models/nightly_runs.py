"""The columns of a conversation about nightly runs of its code, which it has while it is pinned."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import models


class NightlyRuns(models.Model):
    """Whether all code of a pinned conversation runs again each night, and what this has shown."""

    pinned_at = models.DateTimeField(
        null=True, blank=True, help_text="When its owner pinned it. Empty: it is not pinned."
    )
    nightly = models.BooleanField(
        null=True, blank=True, help_text="Whether all its code runs again each night, while it is pinned."
    )
    nightly_at = models.DateTimeField(null=True, blank=True, help_text="When the last nightly run began.")
    nightly_result = models.JSONField(null=True, blank=True, help_text="What it has shown: `verdict` and `detail`.")

    class Meta:
        abstract = True

    @property
    def nightly_outcome(self) -> Mapping[str, str] | None:
        """What the last nightly run has shown: `verdict` and `detail`. `None` if there are no such runs (any more)."""
        return self.nightly_result if self.nightly and self.pinned_at else None
