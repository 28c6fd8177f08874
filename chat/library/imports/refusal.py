"""The error of every import."""

from __future__ import annotations


class RefusedImport(Exception):
    """The file is not imported, and nothing of it is stored. The text is a sentence for the user that names the place.

    For example: `$.messages[3].role: “system” is none of user, model.`
    """
