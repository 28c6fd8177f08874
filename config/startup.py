"""What a server process does once before it serves. Import this module after Django is set up.

Daphne sends no lifespan events, so `config.serve` calls `prepare_process` itself.
"""

from __future__ import annotations

import gc
import logging

from django.conf import settings
from django.db import DatabaseError, close_old_connections
from django.urls import get_resolver

from chat.catalogue.endpoints import has_endpoints
from chat.models import ENDPOINT_PROVIDER
from chat.providers import warm_up
from chat.turns import recovery

logger = logging.getLogger(__name__)


def prepare_process() -> None:
    """Load what the first requests need, and start the thread that recovers interrupted turns."""
    import_views()
    import_providers()
    recovery.start()
    exempt_imports_from_garbage_collection()


def import_views() -> None:
    """Import all views, which takes half a second, so that the first page does not wait for it."""
    assert get_resolver().url_patterns


def import_providers() -> None:
    """Make the providers ahead of the first chat.

    The one for endpoints costs 50 MB and up to 3 s, so it is made only if there is an endpoint. Without a database,
    this is not known, and the first chat waits.
    """
    try:
        is_used = has_endpoints()
    except DatabaseError:
        logger.warning("The database did not say whether there are endpoints.", exc_info=True)
        is_used = False
    finally:
        close_old_connections()
    warm_up(name for name in settings.CHAT_PROVIDERS if is_used or name != ENDPOINT_PROVIDER)


def exempt_imports_from_garbage_collection() -> None:
    """Let the garbage collector skip all objects that exist now.

    Imported modules stay for the life of the process. Without this, full collections would examine them while
    answers are streamed.
    """
    gc.collect()
    gc.freeze()
