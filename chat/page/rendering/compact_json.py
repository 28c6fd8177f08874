"""JSON values as text without line breaks.

Indentation would grow with the depth of a value: the text of a small value could become hundreds of times longer.
"""

from __future__ import annotations

import json

from django.utils.translation import gettext

SHOWN_CHARS = 20_000
"""Maximum number of characters on pages. Longer texts are cut."""


def compact_json(value: object) -> str:
    """Return the whole value as JSON on one line. Keys are sorted: the database may reorder them."""
    return json.dumps(value, ensure_ascii=False, default=dict, sort_keys=True)


def shown_json(value: object) -> str:
    """Return the value as JSON on one line. A long text is cut, and a note at its end says where the rest is."""
    text = compact_json(value)
    if len(text) <= SHOWN_CHARS:
        return text
    return f"{text[:SHOWN_CHARS]}… {gettext('(cut here; the JSON export has all of it)')}"
