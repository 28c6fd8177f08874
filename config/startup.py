"""What a server process does once before it serves. Import this module after Django is set up.

Daphne sends no lifespan events, so `config.serve` calls `prepare_process` itself.
"""

from __future__ import annotations

import gc

from django.urls import get_resolver

from chat.providers import warm_up as import_providers
from chat.turns import recovery


def prepare_process() -> None:
    """Load what the first requests need, and start the thread that recovers interrupted turns."""
    import_views()
    import_providers()
    recovery.start()
    exempt_imports_from_garbage_collection()


def import_views() -> None:
    """Import all views, which takes half a second, so that the first page does not wait for it."""
    assert get_resolver().url_patterns


def exempt_imports_from_garbage_collection() -> None:
    """Let the garbage collector skip all objects that exist now.

    Imported modules stay for the life of the process. Without this, full collections would examine them while
    answers are streamed.
    """
    gc.collect()
    gc.freeze()
