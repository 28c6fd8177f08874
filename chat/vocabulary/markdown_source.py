"""Writes text and code as Markdown that shows them unchanged. Pure."""

from __future__ import annotations

import re

_SPECIAL = re.compile(r"[\\`*_\[\]<>&~$|!#]")
_SPECIAL_AT_LINE_START = re.compile(r"^(?=[-+=:])|^(\d{1,9})(?=[.)])")
_INDENTATION = re.compile(r"^[ \t]+")
_HARD_SPACE = "&nbsp;"
_ESCAPED_INDENTATION = re.compile(rf"^(?:{_HARD_SPACE})+", re.MULTILINE)
_BACKTICKS = re.compile(r"`+")


def escape_text(text: str) -> str:
    """Return Markdown that shows a text as it was typed: none of it is markup, and each line stays a line."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(_add_hard_breaks([_escape_line(line) for line in lines]))


def _escape_line(line: str) -> str:
    indentation = _INDENTATION.match(line)
    width = len(indentation[0].expandtabs(4)) if indentation else 0
    rest = _SPECIAL.sub(lambda match: f"\\{match[0]}", line[len(indentation[0]) if indentation else 0 :].rstrip())
    rest = _SPECIAL_AT_LINE_START.sub(lambda match: f"{match[1]}\\" if match[1] else "\\", rest, count=1)
    return _HARD_SPACE * width + rest if rest else ""


def _add_hard_breaks(lines: list[str]) -> list[str]:
    """Return the lines with a hard line break between lines of the same paragraph."""
    next_lines = [*lines[1:], ""]
    return [f"{line}\\" if line and next_line else line for line, next_line in zip(lines, next_lines, strict=True)]


def unescape_text(text: str) -> str:
    """Return the text from which `escape_text` made this Markdown.

    Spaces at the ends of lines are lost. A tab at the beginning of a line becomes spaces, and each line break becomes a
    line feed.
    """
    text = text.replace("\\\n", "\n")
    text = _ESCAPED_INDENTATION.sub(lambda match: " " * match[0].count(_HARD_SPACE), text)
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text)


def escape_label(text: str) -> str:
    """Return the text escaped and on one line, for a heading or the label of a link."""
    return _escape_line(" ".join(text.split()))


def fence_code(code: str, info: str = "") -> str:
    """Return a fenced code block. Its fence is longer than any run of backticks in the code."""
    longest = max((len(ticks) for ticks in _BACKTICKS.findall(code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{info}\n{code}{'' if code.endswith(chr(10)) or not code else chr(10)}{fence}"
