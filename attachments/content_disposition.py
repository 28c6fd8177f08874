"""The header with which a browser shows a file or saves it under its name."""

from __future__ import annotations

from urllib.parse import quote

from django.utils.http import content_disposition_header


def content_disposition(name: str, *, is_attachment: bool = True) -> str:
    """Return the header `Content-Disposition`.

    Chromium decodes `%25` in a quoted name, so a name with a percent sign is sent in the encoded form of RFC 8187.
    """
    disposition = "attachment" if is_attachment else "inline"
    if "%" in name:
        return f"{disposition}; filename*=utf-8''{quote(name)}"
    return content_disposition_header(is_attachment, name) or disposition
