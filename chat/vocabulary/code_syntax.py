"""Parses the Python code of answers. The code is not executed."""

from __future__ import annotations

import ast
import re
import threading
import warnings
from typing import Final

CODE_LIMIT_CHARS: Final = 20_000
"""Maximum length of code. Parsing it takes less than 0.1 s, for which the frames of other answers are delayed."""
_COMMAND: Final = re.compile(r"^([ \t]*)[%!]", re.MULTILINE)
"""The beginning of a command of IPython, which is not Python."""

_lock = threading.Lock()


def parse_code(code: str) -> ast.Module | None:
    """Return the syntax tree of code; `None` if it is longer than `CODE_LIMIT_CHARS`, or is not Python.

    Commands of IPython are read as comments. Each character keeps its position.
    """
    if len(code) > CODE_LIMIT_CHARS:
        return None
    try:
        # The lock is needed because warning filters apply to the whole process.
        with _lock, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(_COMMAND.sub(r"\1#", code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
