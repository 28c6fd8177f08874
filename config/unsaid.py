"""Autobahn without the words of its debug log.

It makes them for every connection and every read, coloured and laid out, whether anything logs them or not: its forty
options alone take it 1.5 ms of each handshake.
"""

from __future__ import annotations

from autobahn.twisted import websocket as twisted_side
from autobahn.websocket import protocol


def _unsaid(*words: object, **options: object) -> str:
    return ""


def install() -> None:
    """Leave them out; before the server is made."""
    for module in (protocol, twisted_side):
        for name in {"pformat", "hltype", "hlval"} & vars(module).keys():
            setattr(module, name, _unsaid)
