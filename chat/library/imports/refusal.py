"""The error of every import."""

from __future__ import annotations


class RefusedImport(Exception):
    """The file cannot be imported. The text is a sentence for the user that names the place of the error.

    For example: `$.messages[3].role: “system” is none of user, model.`
    """
