"""Runs inside a kernel: withholds cells of private files from texts, with the filter that `private_filter` has left."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping

from chat.python.kernels.in_kernel.shell_attributes import PRIVATE

WITHHELD = "[withheld]"


def main(namespace: Mapping[str, object], files_json: str, texts_json: str, known: str) -> dict[str, object]:
    """Return the texts without cells of the files, in their order; nothing if some files were not read yet.

    `files_json`: names of the private files in the working directory -> versions. `texts_json`: the texts. `known`:
    what the model has written or was sent; its words come through.
    """
    kept = vars(sys.modules["IPython"].get_ipython()).get(PRIVATE)
    versions = [f"{name}/{version}" for name, version in json.loads(files_json).items()]
    if kept is None or not kept.files.keys() >= {*versions}:
        return {}
    return {"texts": kept.without_cells(json.loads(texts_json), known, versions)}
