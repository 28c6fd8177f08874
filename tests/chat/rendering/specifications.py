"""The examples of the CommonMark and GFM specifications, from the source distribution of marko on PyPI.

Make fetches it with pip; the specifications' texts are licensed CC BY-SA and are read where they lie.
"""

from __future__ import annotations

import re
import sys
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest

DISTRIBUTION = Path(sys.prefix) / "specifications" / "marko-2.2.4.tar.gz"
FETCH = f"pip download --no-deps --no-binary marko marko==2.2.4 --dest {DISTRIBUTION.parent}"
_EXAMPLE = re.compile(r"^`{32} example\b[^\n]*\n(.*?)^\.\n(.*?)^`{32}$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Example:
    """Markdown and the HTML that its specification gives for it; `number` counts from 1."""

    number: int
    markdown: str
    html: str


def load_examples(name: str) -> list[Example]:
    """Read `commonmark` or `gfm`; skips the calling test where the distribution was not fetched."""
    if not DISTRIBUTION.exists():
        pytest.skip(f"The specifications are not here. Fetch them: {FETCH}")
    with tarfile.open(DISTRIBUTION) as archive:
        member = archive.extractfile(f"marko-2.2.4/tests/spec/{name}.txt")
        assert member is not None
        text = member.read().decode("utf-8").replace("→", "\t")
    return [Example(number, *match.groups()) for number, match in enumerate(_EXAMPLE.finditer(text), start=1)]
