"""Shortens tracebacks: frames of libraries are left out first, and the person's code and the error stay. Pure.

The lines come from a kernel, which may send any text. The work is linear in their length.
"""

from __future__ import annotations

import re

LINES_LIMIT = 40
"""Maximum number of lines of a traceback that a page shows at first, and that a model reads."""
CHARS_LIMIT = 6_000
"""Maximum number of characters of the lines that a page shows at first, and that a model reads."""
WHOLE_LINES_LIMIT = 100
"""Maximum number of lines of the longer form, which a page shows folded."""

_LINE_LIMIT_CHARS = 500
_NARROW_LINE_LIMIT_CHARS = 110
_ERROR_LIMIT_CHARS = 1_500
_NAME_LIMIT_CHARS = 1_000
_MESSAGE_LINES_LIMIT = 12
"""Maximum number of lines of the error at the end of a traceback."""
_LIBRARY_FRAME = re.compile(r"[ |+]{0,40}File ")


def shorten_traceback(text: str, name: str) -> tuple[str, str]:
    """Return the short and the longer form of a traceback. `name`: the class of the error, at the start of its text.

    The short form has at most `LINES_LIMIT` lines and `CHARS_LIMIT` characters, with the error at its end. The longer
    form has up to `WHOLE_LINES_LIMIT` lines, and is empty if it would show no more of the frames.
    """
    lines = text.rstrip("\n").split("\n")
    if len(lines) <= LINES_LIMIT and len(text) <= CHARS_LIMIT:
        return text, ""
    trace, error = _split_error(lines, name)
    error = [_cut_line(line, _ERROR_LIMIT_CHARS) for line in _cut_lines(error, _MESSAGE_LINES_LIMIT)]
    whole = [_cut_line(line, _LINE_LIMIT_CHARS) for line in _cut_lines(trace, WHOLE_LINES_LIMIT - len(error))]
    if len(trace) + len(error) > LINES_LIMIT:
        trace = _without_libraries(trace)
    trace = _cut_lines(trace, LINES_LIMIT - len(error))
    for limit_chars in (_LINE_LIMIT_CHARS, _NARROW_LINE_LIMIT_CHARS):
        trace = [_cut_line(line, limit_chars) for line in trace]
        if len("\n".join(trace + error)) <= CHARS_LIMIT:
            break
    else:
        error = [_cut_line(line, _NARROW_LINE_LIMIT_CHARS) for line in error]
    return "\n".join(trace + error), "\n".join(whole + error) if whole != trace else ""


def _split_error(lines: list[str], name: str) -> tuple[list[str], list[str]]:
    """Return the lines of the frames, and the lines of the error, whose message may have many lines."""
    for index in range(len(lines) - 1, -1, -1):
        word = lines[index][:_NAME_LIMIT_CHARS].partition(":")[0]
        if name and word.rpartition(".")[2] == name:
            return lines[:index], lines[index:]
    return lines[:-1], lines[-1:]


def _without_libraries(lines: list[str]) -> list[str]:
    """Leave out frames of libraries. Of successive ones, the last frame stays."""
    kept: list[str] = []
    frames: list[list[str]] = []
    indent = 0

    def keep_last_frame() -> None:
        if len(frames) > 1:
            number = len(frames) - 1
            kept.append(f"{' ' * indent}[{number} frame{'s' if number > 1 else ''} of libraries left out]")
        kept.extend(frames[-1] if frames else ())
        frames.clear()

    for line in lines:
        line_indent = len(line) - len(line.lstrip(" |+"))
        if _LIBRARY_FRAME.match(line):
            indent = line_indent
            frames.append([line])
        elif frames and line_indent > indent:
            frames[-1].append(line)
        else:
            keep_last_frame()
            kept.append(line)
    keep_last_frame()
    return kept


def _cut_lines(lines: list[str], limit: int) -> list[str]:
    """Return at most this number of lines: the first and the last ones, with a notice in between."""
    if len(lines) <= limit:
        return lines
    head = limit // 2
    tail = limit - head - 1
    notice = f"[... {len(lines) - head - tail:,} lines are left out here ...]"
    return [*lines[:head], notice, *lines[len(lines) - tail :]]


def _cut_line(line: str, limit_chars: int) -> str:
    """Return the line, or its beginning and its end."""
    if len(line) <= limit_chars:
        return line
    tail = limit_chars // 4
    head = limit_chars - tail - 5
    return f"{line[:head]} ... {line[-tail:]}"
