"""The examples of the CommonMark and GFM specifications, read from the source distribution of marko on PyPI.

`make test` downloads the distribution into the virtual environment. The specifications are licensed CC BY-SA, so their
texts are not copied into this repository.
"""

from __future__ import annotations

import re
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

DISTRIBUTION = Path(sys.prefix) / "specifications" / "marko-2.2.4.tar.gz"
DOWNLOAD_COMMAND = f"pip download --no-deps --no-binary marko marko==2.2.4 --dest {DISTRIBUTION.parent}"
_EXAMPLE = re.compile(r"^`{32} example\b[^\n]*\n(.*?)^\.\n(.*?)^`{32}$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Example:
    """Markdown and its HTML according to the specification; `number` is counted from 1."""

    number: int
    markdown: str
    html: str


def load_examples(name: str) -> list[Example]:
    """Return the examples of `commonmark` or `gfm`; raise FileNotFoundError if the distribution was not downloaded."""
    if not DISTRIBUTION.exists():
        raise FileNotFoundError(f"{DISTRIBUTION} is missing. Run `make test`, or: {DOWNLOAD_COMMAND}")
    with tarfile.open(DISTRIBUTION) as archive:
        member = archive.extractfile(f"marko-2.2.4/tests/spec/{name}.txt")
        assert member is not None
        text = member.read().decode("utf-8").replace("→", "\t")
    return [Example(number, *match.groups()) for number, match in enumerate(_EXAMPLE.finditer(text), start=1)]
