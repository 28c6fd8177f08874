"""Small documents and archives to import, valid and changed."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

MINIMAL = json.loads((Path(__file__).parent / "minimal.json").read_text())
"""An export of one question without files."""


def changed(path: str, value: object, document: Mapping[str, Any] = MINIMAL) -> bytes:
    """Return a document with another value at a path such as `messages.0.role`."""
    document = deepcopy(document)
    *parents, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    holder: Any = document
    for step in parents:
        holder = holder[step]
    holder[last] = value
    return json.dumps(document).encode()


def with_file(content: bytes, **fields: object) -> bytes:
    """Return the minimal document with a file, some of whose fields may be changed."""
    attachment = {
        "id": "file",
        "name": "a.png",
        "mime_type": "image/png",
        "is_graph": True,
        "size_bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "width": 1,
        "height": 1,
        "created_at": "2026-01-31",
        "data": base64.b64encode(content).decode(),
    }
    document = deepcopy(MINIMAL)
    document["attachments"].append(attachment | fields)
    document["messages"][0]["attachments"].append({"id": "file", "index": 0, "part_index": None})
    return json.dumps(document).encode()


def zipped(entries: Mapping[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return an archive of these files."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return file.getvalue()
