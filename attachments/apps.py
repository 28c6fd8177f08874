"""The attachments app."""

from __future__ import annotations

from django.apps import AppConfig


class AttachmentsConfig(AppConfig):
    """Files and their way into storage."""

    name = "attachments"
