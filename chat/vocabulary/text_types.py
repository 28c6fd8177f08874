"""MIME types outside of `text/` whose files hold text. Pure."""

from __future__ import annotations

TEXT_APPLICATIONS = frozenset(
    f"application/{prefix}{name}"
    for prefix in ("", "x-")
    for name in (
        *("json", "ndjson", "jsonlines", "ipynb+json", "javascript", "ecmascript", "typescript", "python"),
        *("python-code", "yaml", "toml", "xml", "sql", "sh", "shellscript", "latex", "tex", "r", "httpd-php", "rtf"),
    )
)


def is_text(mime_type: str) -> bool:
    """Return whether a file of this type holds text."""
    essence = mime_type.split(";")[0].strip().lower()
    return essence.startswith("text/") or essence in TEXT_APPLICATIONS or essence.endswith(("+json", "+yaml"))
