"""The threads on which live turns use the database."""

from __future__ import annotations

from chat.models.database_thread import DatabaseThread

turn_store = DatabaseThread("turn-store")
"""Stores the changes of live turns."""

prompt_reader = DatabaseThread("prompt-reader")
"""Reads what prompts are made from. A long history must not delay the store."""

log_folder = DatabaseThread("log-folder")
"""Changes turns by what their logs describe (`StoredLog`). A long log must not delay the store."""
