"""What libraries do for nothing here: words of a log that nobody reads, and a driver for another database."""

from __future__ import annotations

import sys

from autobahn.twisted import websocket as twisted_side
from autobahn.websocket import protocol


def _unsaid(*words: object, **options: object) -> str:
    return ""


def leave_out_debug_words() -> None:
    """Before the server is made. Autobahn makes the words of its debug log for every connection and every read.

    They are coloured and laid out whether anything logs them or not; its forty options alone take 1.5 ms.
    """
    for module in (protocol, twisted_side):
        for name in {"pformat", "hltype", "hlval"} & vars(module).keys():
            setattr(module, name, _unsaid)


def leave_out_postgresql() -> None:
    """Before REST framework is imported, which imports the driver wherever it is installed: 9 MB for SQLite alone.

    What Python finds as None here cannot be imported, as if it were not installed.
    """
    sys.modules.setdefault("django.contrib.postgres.fields", None)  # type: ignore[arg-type]
