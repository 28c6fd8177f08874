"""Stores static files compressed, under names with a hash of their content.

Browsers can therefore cache them for ever.
"""

from __future__ import annotations

import re

from django.contrib.staticfiles.storage import HashedFilesMixin
from django.core.files.base import ContentFile, File
from whitenoise.storage import CompressedManifestStaticFilesStorage

_IMPORTS = (r"""(?P<matched>(?P<start>\b(?:from|import)\s*\(?)["'](?P<url>\./[^"']+)["'])""", '%(start)s"%(url)s"')
"""Regular expression for the paths of imported modules, and their replacement; see `HashedFilesMixin.patterns`."""

_COMMENT = re.compile(rb"^[ \t]*(?://[^\n]*|/\*.*?\*/[ \t]*)\n", re.MULTILINE | re.DOTALL)
"""A comment on lines that have no code."""


class HashedStaticFiles(CompressedManifestStaticFilesStorage):
    """Hashes JavaScript modules too, by rewriting the paths in their imports.

    Without this, browsers would ask for every module again after each load, or keep an old one beside a new one.
    Django's own option for it (`support_js_module_import_aggregation`) reads all scripts of all packages, and fails at
    a comment in one of them.

    Comments are left out, because they are a fifth of the compressed scripts and style sheets.
    """

    patterns = (*HashedFilesMixin.patterns, ("js/*.js", (_IMPORTS,)))
    #: A module is hashed after those that it imports: one pass for each step of the longest chain of imports.
    max_post_process_passes = 10

    def _save(self, name: str, content: File[bytes]) -> str:
        if name.startswith(("js/", "css/")):
            content = ContentFile(without_comments(b"".join(content.chunks())))
        return str(super()._save(name, content))


def without_comments(source: bytes) -> bytes:
    """Return a script or style sheet of Plotline without its comments, but with those at the end of a line of code."""
    return _COMMENT.sub(b"", source)
