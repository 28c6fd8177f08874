"""The chat app."""

from __future__ import annotations

from django.apps import AppConfig
from django.db.backends.signals import connection_created

from chat.search.index import teach_words


class ChatConfig(AppConfig):
    """Conversations, turns, providers, rendering."""

    name = "chat"

    def ready(self) -> None:
        """Every connection from now on knows what the index of search calls."""
        connection_created.connect(teach_words, dispatch_uid="chat.search.index")
