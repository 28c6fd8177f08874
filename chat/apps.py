"""The chat app."""

from __future__ import annotations

from django.apps import AppConfig
from django.db.backends.signals import connection_created
from django.utils.translation import gettext_lazy

from attachments.model_words import translate_model_words
from chat.vocabulary.outage_log import note_connection


class ChatConfig(AppConfig):
    """The configuration of the chat app."""

    name = "chat"
    verbose_name = gettext_lazy("Chat")

    def ready(self) -> None:
        """Translate the names in models, and report each new database connection, because it ends an outage."""
        translate_model_words(self)
        connection_created.connect(note_connection, dispatch_uid="chat.vocabulary.outage_log")
