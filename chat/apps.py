"""The chat app."""

from __future__ import annotations

from django.apps import AppConfig
from django.db.backends.signals import connection_created

from chat.search.index import register_words_function


class ChatConfig(AppConfig):
    """The configuration of the chat app."""

    name = "chat"

    def ready(self) -> None:
        """Register the SQL function of the search index on every new database connection."""
        connection_created.connect(register_words_function, dispatch_uid="chat.search.index")
