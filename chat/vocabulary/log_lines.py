"""Formats lines of the log and of terminals so that texts of other people cannot forge lines. Pure.

A record of the log has one unindented line. All its other lines, such as a traceback, are indented.
"""

from __future__ import annotations

import logging
from types import TracebackType
from typing import TypeAlias

ExcInfo: TypeAlias = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]

INDENT = "    "


def escape_line(text: str) -> str:
    """Return the text with line breaks, control characters and invisible characters as escapes, such as `\\n`."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in text)


def indent_lines(text: str) -> str:
    """Return the lines of a text, each escaped and indented."""
    return "\n".join(INDENT + escape_line(line) for line in text.splitlines())


class LineFormatter(logging.Formatter):
    """Writes the message of a record on one line, and its traceback on indented lines."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return the first line of the record."""
        return escape_line(super().formatMessage(record))

    def formatException(self, ei: ExcInfo) -> str:
        """Return the traceback as indented lines, because its error may quote texts of other people."""
        return indent_lines(super().formatException(ei))

    def formatStack(self, stack_info: str) -> str:
        """Return the stack as indented lines."""
        return indent_lines(super().formatStack(stack_info))
