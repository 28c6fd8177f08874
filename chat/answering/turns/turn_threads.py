"""The threads on which live turns use the database."""

from __future__ import annotations

from chat.models.database_thread import DatabaseThread

turn_store = DatabaseThread("turn-store")
"""The thread that stores the changes of live turns."""

prompt_reader = DatabaseThread("prompt-reader")
"""The thread that reads the rows for prompts. A long history must not delay `turn_store`."""

log_folder = DatabaseThread("log-folder")
"""The thread that changes turns by their logs (`StoredLog`). A long log must not delay `turn_store`."""
