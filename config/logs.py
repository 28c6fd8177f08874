"""Settings of logging."""

from __future__ import annotations

import logging
import re


def is_not_a_health_check(record: logging.LogRecord) -> bool:
    """Return False for a record of `django.request` about `/readyz`, and True for other requests.

    Load balancers ask every second. `config.health` logs what has changed.
    """
    request = getattr(record, "request", None)
    return getattr(request, "path_info", None) != "/readyz"


_SECRET_IN_PATH = re.compile(r"(/s/|/accounts/password/reset/|/accounts/email/confirm/)[^/\s]+")


def hide_secrets(record: logging.LogRecord) -> bool:
    """Replace the secrets of links in the paths that a record names, and return True to keep the record.

    Whoever has the path of a share can read it. Django logs the paths of refused and failed requests.
    """
    if isinstance(record.args, tuple):
        record.args = tuple(_SECRET_IN_PATH.sub(r"\1…", one) if isinstance(one, str) else one for one in record.args)
    return True


def is_not_a_lost_redis(record: logging.LogRecord) -> bool:
    """Return False for a record of `asyncio` about an error of the Redis client, and True for all others.

    The channel layer does not await some of its tasks. `chat.page.relay.channel_bridge` logs once that Redis is not
    available. The client is imported only if Redis is configured, so the name of its module is compared.
    """
    error = record.exc_info[1] if record.exc_info else None
    return type(error).__module__ != "redis.exceptions"


def without_traceback(record: logging.LogRecord) -> bool:
    """Remove the traceback of a record, and return True to keep the record.

    Its message says all that an operator needs.
    """
    record.exc_info = None
    return True


LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": "chat.vocabulary.log_lines.LineFormatter",
            "fmt": "{asctime} {levelname} {name}: {message}",
            "style": "{",
        }
    },
    "filters": {
        "requests": {"()": "django.utils.log.CallbackFilter", "callback": is_not_a_health_check},
        "redis": {"()": "django.utils.log.CallbackFilter", "callback": is_not_a_lost_redis},
        "database": {"()": "chat.vocabulary.outage_log.DatabaseOutageFilter"},
        "secrets": {"()": "django.utils.log.CallbackFilter", "callback": hide_secrets},
        "plain": {"()": "django.utils.log.CallbackFilter", "callback": without_traceback},
    },
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["database", "secrets"]}
    },
    "root": {"handlers": ["console"], "level": "INFO"},
    "loggers": {
        # With the handler that Django adds if DEBUG is on, each line would be there twice, once without a time.
        "django": {"level": "INFO", "handlers": []},
        # Daphne's access log would duplicate the proxy's, and its paths contain the ids of conversations.
        "django.channels.server": {"level": "WARNING"},
        "daphne": {"level": "WARNING"},
        "asyncio": {"filters": ["redis"]},
        "django.request": {"filters": ["requests"]},
        "django.security.DisallowedHost": {"filters": ["plain"]},
        "httpx2": {"level": "WARNING"},
        "google_genai": {"level": "WARNING"},
        # The pool logs each attempt to connect, more than fifty lines a second while the database is away.
        "psycopg.pool": {"level": "ERROR"},
    },
}
