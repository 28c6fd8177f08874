"""Names of encodings for people. Pure."""

from __future__ import annotations

_NAMES = {"big5hkscs": "Big5-HKSCS", "cp932": "Shift_JIS", "cp949": "EUC-KR", "cp950": "Big5", "euc_jp": "EUC-JP"}


def encoding_name(codec: str) -> str:
    """Return the name for people of one of Python's codecs, such as `Windows-1252` for `cp1252`."""
    if codec.startswith("cp125"):
        return f"Windows-{codec.removeprefix('cp')}"
    if codec.startswith(("utf-16", "utf-32")):
        return codec[:6].upper()
    return _NAMES.get(codec, codec.removesuffix("-sig").upper().replace("ISO8859", "ISO 8859"))
