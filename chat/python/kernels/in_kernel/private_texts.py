"""Runs inside a kernel: hides cells of private files in texts, with the filter that `private_filter` has stored."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping

from chat.python.kernels.in_kernel.shell_attributes import PRIVATE

WITHHELD = "[withheld]"


def main(namespace: Mapping[str, object], files_json: str, texts_json: str, known: str) -> dict[str, object]:
    """Return the texts without cells of the files, in the same order; an empty result if a file was not read yet.

    `files_json`: the versions of the private files, by their names in the working directory. `texts_json`: the texts.
    `known`: text that the model has written or was sent; its words are not hidden.
    """
    kept = vars(sys.modules["IPython"].get_ipython()).get(PRIVATE)
    versions = [f"{name}/{version}" for name, version in json.loads(files_json).items()]
    if kept is None or not kept.files.keys() >= {*versions}:
        return {}
    return {"texts": kept.without_cells(json.loads(texts_json), known, versions)}
