"""The outputs of a notebook's code cells, source: nbformat.readthedocs.io/en/latest/format_description.html. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from attachments.validation import JSON_TYPE, PLAIN, RASTER_TYPES
from chat.library.exports.commonmark import sanitize_markdown
from chat.page.rendering.displays import SVG
from chat.page.rendering.html_tables import read_html
from chat.page.rendering.jinja import render
from chat.page.rendering.svg import sanitize_svg
from chat.vocabulary.display_bundles import TRACEBACK
from chat.vocabulary.display_text import HTML, LATEX, MARKDOWN, display_text, informative_text
from chat.vocabulary.parts import OUTCOME_DEADLINE_EXCEEDED, OUTCOME_FAILED, CodeExecutionResult, Display, JSONObject
from chat.vocabulary.terminal_text import terminal_text

STRING_TYPES = (PLAIN, LATEX, *sorted(RASTER_TYPES))
"""Types of rich outputs that are exported as they are."""
DATA_TYPES = (
    JSON_TYPE,
    "application/geo+json",
    "application/vnd.plotly.",
    "application/vnd.vegalite.",
    "application/vnd.vega.",
)
"""JSON types, or their prefixes, that are exported as they are: data, and charts that Jupyter draws from data.

JavaScript is left out, and so are types that need it, such as Bokeh's, or that need a kernel, such as widgets.
"""

_ERROR_LINE = re.compile(r"^([A-Za-z_][\w.]*)(?:: (.*))?$")
_TRACEBACK = "Traceback (most recent call last)"


def result_outputs(part: CodeExecutionResult) -> Iterator[JSONObject]:
    """Yield the outputs of a result: what the code printed, then the error that it ended with."""
    text = terminal_text(part.output or "")
    if part.outcome not in (OUTCOME_FAILED, OUTCOME_DEADLINE_EXCEEDED):
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
    """Return the name and the message of an error, from the last line of the form `Name` or `Name: message`."""
    for line in reversed(lines):
        if match := _ERROR_LINE.match(line):
            return match[1], match[2] or ""
    return "Error", ""


def display_output(part: Display) -> JSONObject:
    """Return a rich output with only those of its types that cannot run code.

    HTML is replaced by its tables, built from the text of their cells, or by its text. Pictures and Markdown are
    sanitized.
    """
    data: JSONObject = {}
    for mime_type, value in part.bundle.items():
        if isinstance(value, str):
            mime_type = PLAIN if mime_type == TRACEBACK else mime_type
            if text := _safe_text(mime_type, value):
                data[mime_type] = text
        elif mime_type.startswith(DATA_TYPES):
            data[mime_type] = value
    if not data.keys() - {PLAIN} and not informative_text(part.bundle) and (text := display_text(part.bundle)):
        data[PLAIN] = text.removesuffix("\n")
    if not data:
        data[PLAIN] = f"<Output of type {', '.join(part.bundle) or 'unknown'} that cannot be shown here>"
    return {"output_type": "display_data", "metadata": {}, "data": data}


def _safe_text(mime_type: str, text: str) -> str:
    """Return the safe content of the text; empty if no content is safe."""
    if mime_type in STRING_TYPES or mime_type.startswith(DATA_TYPES):
        return text
    if mime_type == MARKDOWN:
        return sanitize_markdown(text)
    if mime_type == SVG:
        picture = sanitize_svg(text)
        return picture.svg if picture else ""
    if mime_type == HTML:
        return "".join(render("exports/table", {"table": table}) for table in read_html(text).tables)
    return ""
