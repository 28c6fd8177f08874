"""Why a file is not imported."""

from __future__ import annotations


class RefusedImport(Exception):
    """Nothing of the file was kept; the text is a sentence for the person who sent it, and names the place."""
