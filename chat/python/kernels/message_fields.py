"""Reads fields of a kernel's messages. Pure.

A kernel runs untrusted code and may send any JSON. Fields of an unexpected shape are read as absent.
Source of the message shapes: https://jupyter-client.readthedocs.io/en/stable/messaging.html
"""

from __future__ import annotations

from collections.abc import Mapping

from chat.python.kernels.output_limits import DISPLAY_ID_LIMIT_CHARS, TEXT_LIMIT_BYTES
from chat.python.kernels.outputs import DisplayOutput, ErrorOutput, Output, clean_text
from chat.python.kernels.tracebacks import shorten_traceback
from chat.vocabulary.display_bundles import TRACEBACK

TITLE_KEY = "plotline_title"
"""The key of a figure's title in the metadata of a display; see `in_kernel.hook_figures`."""
TITLE_LIMIT_CHARS = 200


def display_id(content: Mapping[str, object]) -> str:
    """Return the id by which later messages change a display; empty if it has none."""
    transient = content.get("transient")
    value = transient.get("display_id") if isinstance(transient, dict) else None
    return value[:DISPLAY_ID_LIMIT_CHARS] if isinstance(value, str) else ""


def graph_title(metadata: Mapping[str, object]) -> str | None:
    """Return the title of a figure that the kernel reports; `None` if it reports none."""
    title = metadata.get(TITLE_KEY)
    return " ".join(clean_text(title[:TITLE_LIMIT_CHARS]).split()) if isinstance(title, str) else None


def error_outputs(content: Mapping[str, object]) -> tuple[list[Output], bool]:
    """Return the outputs of an error message, the error itself last, and whether some of its text was left out."""
    lines = content.get("traceback")
    texts = [line for line in lines if isinstance(line, str)] if isinstance(lines, list) else []
    traceback = clean_text("\n".join(texts))
    name, value = clean_text(content.get("ename"))[:200], clean_text(content.get("evalue"))
    limit_chars = TEXT_LIMIT_BYTES // 10
    is_cut = len(traceback) > 2 * limit_chars or len(value) > limit_chars
    if is_cut:
        traceback, value = f"{traceback[:limit_chars]}\n{traceback[-limit_chars:]}", value[:limit_chars]
    short, whole = shorten_traceback(traceback, name)
    display: list[Output] = [DisplayOutput({TRACEBACK: whole})] if whole else []
    return [*display, ErrorOutput(name, value, short)], is_cut
