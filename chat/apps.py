"""The chat app."""

from __future__ import annotations

from django.apps import AppConfig


class ChatConfig(AppConfig):
    """Conversations, turns, providers, rendering."""

    name = "chat"
