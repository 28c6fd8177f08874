"""The attachments app."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy

from attachments.model_words import translate_model_words


class AttachmentsConfig(AppConfig):
    """Stores the files of users and uploads them to storage."""

    name = "attachments"
    verbose_name = gettext_lazy("Attachments")

    def ready(self) -> None:
        """Let the admin show the names of models and columns in the active language."""
        translate_model_words(self)
