"""Converts the cells of a notebook of any version of nbformat to the form of nbformat 4. Pure.

Source: nbformat's `v4/convert.py`. That package is not used here, because it reads a notebook completely or not at all.
"""

from __future__ import annotations

from chat.library.imports.json_paths import JSONValue
from chat.library.imports.records import MESSAGES_LIMIT
from chat.vocabulary.parts import JSONObject

_VERSIONS = ("2", "3", "4", "4.0")
"""Readable versions of nbformat. Versions up to 3 have `worksheets` in place of `cells`."""
_OLD_TYPES = {
    "text": "text/plain",
    "html": "text/html",
    "svg": "image/svg+xml",
    "png": "image/png",
    "jpeg": "image/jpeg",
    "latex": "text/latex",
    "json": "application/json",
    "javascript": "application/javascript",
}
_OLD_OUTPUTS = {"pyout": "execute_result", "pyerr": "error"}


def read_cells(document: JSONValue) -> list[JSONValue]:
    """Return the cells. Raises RefusedImport for a version that cannot be read, and for too many cells.

    Cells of older versions keep the paths that they have in the document.
    """
    version = document.get("nbformat").value
    if str(version) not in _VERSIONS:
        raise document.get("nbformat").refusal(
            "only notebooks of formats 2 to 4 can be imported. Open this one in Jupyter, save it again, and import it."
        )
    # Each cell is converted by its own form, because a notebook may contain cells of another version.
    cells = list(document.get("cells").items(MESSAGES_LIMIT))
    for sheet in document.get("worksheets").items(MESSAGES_LIMIT):
        if sheet.value is not None:
            cells += sheet.get("cells").items(MESSAGES_LIMIT - len(cells))
    return [JSONValue(_upgrade_cell(cell.value), cell.path) if isinstance(cell.value, dict) else cell for cell in cells]


def _upgrade_cell(cell: JSONObject) -> JSONObject:
    if cell.get("cell_type") != "code":
        return cell
    outputs = cell.get("outputs")
    if isinstance(outputs, list):
        outputs = [_upgrade_output(output) if isinstance(output, dict) else output for output in outputs]
    source, count = cell.get("source", cell.get("input")), cell.get("execution_count", cell.get("prompt_number"))
    return {**cell, "source": source, "execution_count": count, "outputs": outputs}


def _upgrade_output(output: JSONObject) -> JSONObject:
    kind = output.get("output_type")
    data = output.get("data")
    if kind == "stream" or isinstance(data, dict):
        return output
    data = {_OLD_TYPES.get(name, name): value for name, value in output.items() if name in _OLD_TYPES or "/" in name}
    new_kind = _OLD_OUTPUTS.get(kind, kind) if isinstance(kind, str) else kind
    return {**output, "output_type": new_kind} | ({"data": data} if data else {})
