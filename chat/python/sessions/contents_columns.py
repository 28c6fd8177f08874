"""Makes columns of `PythonSession` from the contents of a kernel. Pure."""

from __future__ import annotations

from dataclasses import asdict

from chat.python.kernels.kernel_contents import KernelContents
from chat.vocabulary.parts import JSONObject


def contents_columns(contents: KernelContents) -> dict[str, object]:
    """Return the columns of `PythonSession` that the contents of a kernel fill.

    If the contents could not be read, this is only `note`, so the other columns keep their earlier values.
    """
    if contents.error:
        return {"note": contents.error}
    variables = [{**asdict(variable), "shape": list(variable.shape)} for variable in contents.variables]
    return {"execution_count": contents.execution_count, "variables": variables, "files": files_as_json(contents)}


def files_as_json(contents: KernelContents) -> list[JSONObject]:
    """Return the files as JSON: name, size_bytes and modified_at."""
    return [
        {"name": file.name, "size_bytes": file.size_bytes, "modified_at": file.modified_at.isoformat()}
        for file in contents.files
    ]
