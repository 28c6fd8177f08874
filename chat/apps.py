"""The chat app."""

from __future__ import annotations

from django.apps import AppConfig
from django.db.backends.signals import connection_created
from django.utils.translation import gettext_lazy

from attachments.model_words import translate_model_words
from chat.outages import note_connection
from chat.search.index import register_words_function


class ChatConfig(AppConfig):
    """The configuration of the chat app."""

    name = "chat"
    verbose_name = gettext_lazy("Chat")

    def ready(self) -> None:
        """Translate the words of the models, and connect what is done for every new connection to the database."""
        translate_model_words(self)
        connection_created.connect(register_words_function, dispatch_uid="chat.search.index")
        connection_created.connect(note_connection, dispatch_uid="chat.outages")
