"""The outputs of a notebook's code cells, source: nbformat.readthedocs.io/en/latest/format_description.html. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from attachments.validation import JSON_TYPE, PLAIN, RASTER_TYPES
from chat.exports.commonmark import sanitize_markdown
from chat.parts import OUTCOME_DEADLINE_EXCEEDED, OUTCOME_OK, CodeExecutionResult, Display, JSONObject

MARKDOWN = "text/markdown"
STRING_TYPES = (PLAIN, MARKDOWN, "text/latex", *sorted(RASTER_TYPES))
"""Types of rich outputs that are exported, besides JSON. HTML, SVG and JavaScript can run code, so they are not."""

_ERROR_LINE = re.compile(r"^([A-Za-z_][\w.]*)(?:: (.*))?$")
_TRACEBACK = "Traceback (most recent call last)"


def result_outputs(part: CodeExecutionResult) -> Iterator[JSONObject]:
    """Yield the outputs of a result: what the code printed, then the error that it ended with."""
    text = part.output or ""
    if part.outcome in (OUTCOME_OK, ""):
        if text:
            yield _stream(text)
        return
    printed, separator, traceback = text.rpartition(_TRACEBACK)
    if not separator:
        # Some errors have no traceback, and some have their message before it.
        printed, traceback = "", text
    if printed:
        yield _stream(printed)
    lines = f"{separator}{traceback}".rstrip("\n").split("\n")
    name, message = _error_in(lines)
    if part.outcome == OUTCOME_DEADLINE_EXCEEDED:
        name, message = "TimeoutError", "The code ran out of time."
    yield {"output_type": "error", "ename": name, "evalue": message, "traceback": [*lines]}


def _stream(text: str) -> JSONObject:
    return {"output_type": "stream", "name": "stdout", "text": text}


def _error_in(lines: list[str]) -> tuple[str, str]:
    """Return the name and the message of the error in the last line that has the form of one."""
    for line in reversed(lines):
        if match := _ERROR_LINE.match(line):
            return match[1], match[2] or ""
    return "Error", ""


def display_output(part: Display) -> JSONObject:
    """Return a rich output with those of its types that can be shown without running code."""
    data: JSONObject = {}
    for mime_type in STRING_TYPES:
        value = part.bundle.get(mime_type)
        if isinstance(value, str):
            data[mime_type] = sanitize_markdown(value) if mime_type == MARKDOWN else value
    if JSON_TYPE in part.bundle:
        data[JSON_TYPE] = part.bundle[JSON_TYPE]
    if not data:
        data[PLAIN] = f"<Output of type {', '.join(part.bundle) or 'unknown'} that cannot be shown here>"
    return {"output_type": "display_data", "metadata": {}, "data": data}
