"""What a kernel holds, as columns of its row. Pure."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from chat.kernels.snapshot import Snapshot
from chat.parts import JSONObject


def snapshot_columns(snapshot: Snapshot) -> dict[str, Any]:
    """Return the columns of `PythonSession` that a snapshot fills."""
    if snapshot.error:
        return {"variables": [], "files": [], "note": snapshot.error}
    variables = [{**asdict(variable), "shape": list(variable.shape)} for variable in snapshot.variables]
    return {"execution_count": snapshot.execution_count, "variables": variables, "files": listed_files(snapshot)}


def listed_files(snapshot: Snapshot) -> list[JSONObject]:
    """Return the files of a snapshot as JSON: name, size_bytes and modified_at."""
    return [
        {"name": file.name, "size_bytes": file.size_bytes, "modified_at": file.modified_at.isoformat()}
        for file in snapshot.files
    ]
