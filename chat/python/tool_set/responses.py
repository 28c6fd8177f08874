"""Makes results for the model. They have a limited length, and say what was cut. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence

from chat.python.sessions.outcomes import OUTCOMES
from chat.python.sessions.run import CellResult
from chat.vocabulary import code_outcomes
from chat.vocabulary.bounded_output import OUTPUT_LIMIT_CHARS, shortened
from chat.vocabulary.data_uris import without_data_uris
from chat.vocabulary.parts import JSON, JSONObject

FILES_LIMIT = 50


def cell_response(result: CellResult, graph_count: int) -> JSONObject:
    """Return the result of a cell, as the model that ran it gets it."""
    execution = result.execution
    notes = list(result.notes)
    # Remove images as Base64, which a model cannot read. The page shows the whole output.
    text = without_data_uris(execution.text)
    if len(text) > OUTPUT_LIMIT_CHARS:
        notes.append(f"The output has {len(text):,} characters; its middle is left out here.")
    if execution.is_truncated:
        notes.append("The code wrote more than is kept; see the notices in the output.")
    files: list[JSON] = [
        {"name": file.name, "size_bytes": file.size_bytes} for file in result.written_files[:FILES_LIMIT]
    ]
    if (left_out := len(result.written_files) - FILES_LIMIT) > 0:
        notes.append(f"{left_out} more files were written; list_files lists them.")
    response: JSONObject = {
        "outcome": code_outcomes.OUTCOMES[OUTCOMES[execution.status]].word,
        "output": shortened(text),
        "graphs": graph_count,
        "files": files,
    }
    if result.table_changes:
        response["changed_tables"] = list(result.table_changes)
    if notes:
        response["note"] = " ".join(notes)
    return response


def fitting_items(items: Sequence[JSONObject]) -> tuple[list[JSON], int]:
    """Return the first items that fit into `OUTPUT_LIMIT_CHARS` of JSON, and the number of those that are left out."""
    fitting: list[JSON] = []
    size_chars = 0
    for item in items:
        size_chars += len(json.dumps(item, ensure_ascii=False)) + 2
        if size_chars > OUTPUT_LIMIT_CHARS:
            break
        fitting.append(item)
    return fitting, len(items) - len(fitting)
