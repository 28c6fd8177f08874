"""Describes how the attached tables are read, for the first cell of a notebook."""

from __future__ import annotations

from chat.library.exports.sandbox_files import SandboxFiles
from chat.python.table_readings.model_notes import read_expression
from chat.python.table_readings.stored_readings import stored_readings
from chat.vocabulary.markdown_source import escape_label, fence_code

INTRODUCTION = "How the attached tables are read, with `import pandas as pd`:"


def tables_text(files: SandboxFiles) -> str:
    """Return Markdown that names each table whose reading is stored, with its code; empty if there is none.

    The code is no code cell, because a kernel under the control of a hostile file could have written it.
    """
    stored = {file.attachment.pk: file for file in files.stored()}
    readings = stored_readings(stored) if stored else {}
    blocks = [
        f"**{escape_label(file.name)}**\n\n{fence_code(code, 'python')}"
        for pk, file in stored.items()
        if pk in readings and (code := read_expression(readings[pk], file.attachment, file.name))
    ]
    return "\n\n".join([INTRODUCTION, *blocks]) if blocks else ""
