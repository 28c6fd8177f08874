"""Prepares a server process once, before it serves. Import this module after Django is set up.

Daphne sends no lifespan events, so `config.serve` calls `prepare_process` itself.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Sequence

from django.conf import settings
from django.core.signals import request_finished
from django.db import DatabaseError, close_old_connections, connection
from django.urls import get_resolver

from chat.answering.prompt.intent.classifier import WEIGHTS_FILE
from chat.answering.turns import deletions, recovery
from chat.models.database_thread import close_connection
from chat.page.rendering.temml import missing_scripts
from chat.people.account import due_deletions
from chat.providers import get_provider
from chat.python.reruns import rows as reruns
from chat.python.sessions import reaper
from config.env import Env

logger = logging.getLogger(__name__)

REMOVED_VARIABLES = """
ACCOUNT_DELETION_DAYS ALLOW_UNLISTED_MODELS ANSWER_PARTS_LIMIT APPROVAL_LIMIT_H DATABASE_POOL_SIZE
DATABASE_STATEMENT_LIMIT_S DELETION_UNDO_S GEMINI_API_VERSION GEMINI_EMULATOR_URL GEMINI_STREAM_READER
HSTS_INCLUDE_SUBDOMAINS HSTS_PRELOAD KERNEL_CELL_LIMIT_S KERNEL_IDLE_LIMIT_S KERNEL_WAIT_LIMIT_S
PROVIDER_ATTEMPTS PROVIDER_FIRST_BYTE_LIMIT_S PROVIDER_IDLE_LIMIT_S PROVIDER_RETRY_LIMIT_S
QUOTA_CONVERSATIONS_PER_DAY QUOTA_IMPORT_MB_PER_DAY QUOTA_KERNEL_SECONDS_PER_DAY QUOTA_UPLOAD_MB_PER_DAY
REQUEST_LIMIT_BYTES ROUNDS_LIMIT TEMPORARY_LIMIT_MIN TURN_LEASE_S TURN_LIMIT_S WARM_KERNELS
"""
"""Environment variables of earlier versions, which operators may still set."""


def refuse_path(arguments: Sequence[str]) -> None:
    """End the process if its arguments ask it to serve below a path of another site.

    `arguments`: of the server's command.
    """
    names = ["FORCE_SCRIPT_NAME"] if Env().text("FORCE_SCRIPT_NAME").strip("/") else []
    names += [word.partition("=")[0] for word in arguments if word.startswith("--root-path")]
    if names:
        raise SystemExit(
            f"Plotline cannot be served below a path of another site: remove {' and '.join(names)}, and give it a host"
            " name of its own, see docs/deployment.md."
        )


def prepare_process(loop: asyncio.AbstractEventLoop) -> None:
    """Load what the first requests need, and start the threads that clean up.

    `loop`: the event loop on which the process will serve.
    """
    # Each request has its own thread, so no later request could use its connection.
    request_finished.connect(close_connection)
    import_views()
    import_providers()
    warn_without_timeouts()
    warn_of_removed_variables()
    warn_without_weights()
    warn_without_scripts()
    warn_without_host_for_mails()
    recovery.start(loop)
    reaper.start(reruns.end_abandoned)
    due_deletions.start()
    deletions.start()
    exempt_imports_from_garbage_collection()


def warn_without_timeouts() -> None:
    """Log a warning if the database lets a statement or a lock wait for ever.

    PgBouncer can drop the timeouts that a connection asks for. The database role must have them then.
    """
    if connection.vendor != "postgresql":
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


def warn_of_removed_variables() -> None:
    """Log a warning that names the removed variables that are still set."""
    if names := [name for name in REMOVED_VARIABLES.split() if Env().text(name)]:
        logger.warning("These variables have no effect any more, see CHANGELOG.md: %s.", ", ".join(names))


def warn_without_weights() -> None:
    """Log a warning if the classifier that decides in the mode "auto" whether code helps has not been trained."""
    if not WEIGHTS_FILE.exists():
        logger.warning(
            "The weights of the mode “auto” are missing: rules decide alone until `make setup` and a restart."
        )


def warn_without_scripts() -> None:
    """Log a warning if the scripts that render formulas are not installed."""
    if missing_scripts():
        logger.warning("Temml is missing: formulas are shown as their source until `make setup` and a restart.")


def warn_without_host_for_mails() -> None:
    """Log a warning if mail is set up, but no setting says to which host the links in mails lead."""
    if Env().secret("EMAIL_URL") and not settings.EMAIL_URL:
        logger.warning("No mail is sent, because ALLOWED_HOSTS names no single host. Set PUBLIC_URL.")


def import_views() -> None:
    """Import all views, which takes half a second, so that the first page does not wait for it."""
    # Django imports all views when this attribute is read.
    list(get_resolver().url_patterns)


def import_providers() -> None:
    """Create the providers. The first conversation would otherwise wait 0.5-3 s for their imports."""
    for name in settings.CHAT_PROVIDERS:
        get_provider(name)


def exempt_imports_from_garbage_collection() -> None:
    """Let the garbage collector skip all objects that exist now.

    Imported modules stay for the life of the process. Without this, full collections would examine them while
    answers are streamed.
    """
    gc.collect()
    gc.freeze()
