"""The attachments app."""

from __future__ import annotations

from django.apps import AppConfig


class AttachmentsConfig(AppConfig):
    """Stores the files of users and uploads them to storage."""

    name = "attachments"
