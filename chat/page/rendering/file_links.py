"""Finds the files that the links of an answer mean. Models write `sandbox:/mnt/data/a.csv` or `./a.csv`. Pure."""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import quote, unquote

_PATH = re.compile(r"(?:(?:sandbox|attachment|computer):)?([^:?#]+)")
SAME_NAME_LIMIT = 100
"""Maximum number of files with the same name, in different folders, that a link can choose from."""
_IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
"""Suffixes of images that are shown as graphs, whether code displays or saves them."""


@dataclass(frozen=True)
class FileLinks:
    """The files that links may lead to."""

    paths: tuple[str, ...] = ()
    """Paths in the working directory of the session, the newest last."""
    base_url: str = ""
    """Prefix of the URLs of the files. Empty: this reader cannot download them."""

    def find(self, address: str) -> str | None:
        """Return the path of the file that an address in the parser's HTML means; `None` if there is no such file.

        First a file is looked for whose whole path is the end of the address, then one with the same file name.
        """
        match = _PATH.fullmatch(html.unescape(address)) if self.paths else None
        if match is None:
            return None
        path = "/" + unquote(match[1]).removeprefix("./").lstrip("/")
        same_name = self._by_name.get(path.rpartition("/")[2], [])
        exact = (known for known in same_name[-SAME_NAME_LIMIT:] if path.endswith(f"/{known}"))
        return max(exact, key=len, default=same_name[-1] if same_name else None)

    @cached_property
    def _by_name(self) -> Mapping[str, list[str]]:
        """File name -> paths with this name, the newest last."""
        paths = defaultdict(list)
        for path in self.paths:
            paths[path.rpartition("/")[2]].append(path)
        return dict(paths)

    def is_graph(self, address: str) -> bool:
        """Return whether an address means an image that the answer shows as a graph."""
        path = self.find(address)
        return path is not None and path.lower().endswith(_IMAGE_SUFFIXES)

    def link(self, address: str) -> str:
        """Return the start tag of a link to a file; it has no `href` if this reader cannot download the file."""
        path = self.find(address)
        if path is None or not self.base_url:
            return "<a>"
        return f'<a href="{html.escape(self.base_url + quote(path))}" title="{html.escape(path)}">'


NO_FILE_LINKS = FileLinks()
