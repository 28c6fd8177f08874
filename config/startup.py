"""What a server process does once before it serves. Import this module after Django is set up.

Daphne sends no lifespan events, so `config.serve` calls `prepare_process` itself.
"""

from __future__ import annotations

import asyncio
import gc
import logging

from django.conf import settings
from django.core.signals import request_finished
from django.db import DatabaseError, close_old_connections, connection
from django.urls import get_resolver

from chat.answering.turns import deletions, recovery
from chat.models.database_thread import close_connection
from chat.people.account import due_deletions
from chat.providers import warm_up
from chat.python.reruns import rows as reruns
from chat.python.sessions import reaper

logger = logging.getLogger(__name__)


def prepare_process(loop: asyncio.AbstractEventLoop) -> None:
    """Load what the first requests need, and start the threads that clean up after processes that have died.

    `loop`: the event loop on which the process will serve.
    """
    # The thread of a request ends with it.
    request_finished.connect(close_connection)
    import_views()
    import_providers()
    warn_without_timeouts()
    recovery.start(loop)
    reaper.start(reruns.end_abandoned)
    due_deletions.start()
    deletions.start()
    exempt_imports_from_garbage_collection()


def warn_without_timeouts() -> None:
    """Log a warning if the database lets a statement or a lock wait for ever.

    PgBouncer can drop the timeouts that a connection asks for. The database role must have them then.
    """
    if connection.vendor != "postgresql" or not settings.DATABASE_STATEMENT_LIMIT_S:
        return
    names = ("statement_timeout", "lock_timeout")
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT name FROM pg_settings WHERE setting = '0' AND name IN (%s, %s) ORDER BY name", names)
            for (name,) in cursor.fetchall():
                logger.warning("The database role has no %s. Set it with ALTER ROLE, see docs/deployment.md.", name)
    except DatabaseError:
        logger.warning("The database did not say which timeouts it has.", exc_info=True)
    finally:
        close_old_connections()


def import_views() -> None:
    """Import all views, which takes half a second, so that the first page does not wait for it."""
    # Django imports them when this attribute is read.
    list(get_resolver().url_patterns)


def import_providers() -> None:
    """Make the providers ahead of the first chat."""
    warm_up(settings.CHAT_PROVIDERS)


def exempt_imports_from_garbage_collection() -> None:
    """Let the garbage collector skip all objects that exist now.

    Imported modules stay for the life of the process. Without this, full collections would examine them while
    answers are streamed.
    """
    gc.collect()
    gc.freeze()
