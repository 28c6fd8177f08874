"""Removes sentences of the server before the output of code in a stored result. Pure."""

from __future__ import annotations

import re

from chat.python.sessions.files import NOT_PLACED
from chat.python.sessions.limits import PERSON_HAS_ALL, SERVER_IS_FULL
from chat.python.sessions.run import STARTED_ANEW
from chat.python.sessions.session_kernel import IS_BUSY

_PLACEHOLDER = re.compile(r"\\{[a-z]+\\}")
_SENTENCES = "|".join(
    _PLACEHOLDER.sub(".*", re.escape(template))
    for template in (IS_BUSY, SERVER_IS_FULL, PERSON_HAS_ALL, STARTED_ANEW, NOT_PLACED)
)
_NOTE = re.compile(rf"\[(?:{_SENTENCES})\]\n")


def without_notes(output: str) -> str:
    """Return the output without the server's sentences before it. All are written before the code begins."""
    start = 0
    while note := _NOTE.match(output, start):
        start = note.end()
    return output[start:]
