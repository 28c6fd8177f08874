"""Decodes long texts without holding up other threads. Pure."""

from __future__ import annotations

import codecs

PIECE_BYTES = 256 * 1024
"""Bytes that are decoded at once. A decoder blocks all other threads: for a second, with 15 MB of hostile bytes."""
_WHOLE = ("utf-16", "utf-32", "utf-8-sig", "iso2022")
"""Codecs that decode the data as a whole: they are fast or rare, and behave differently when they decode pieces."""


def decode(data: bytes, codec: str, errors: str) -> str:
    """Return the text of the data, as `data.decode(codec, errors)` does. `errors`: `replace` or `ignore`."""
    if codec.startswith(_WHOLE):
        return data.decode(codec, errors)
    decoder = codecs.getincrementaldecoder(codec)(errors)
    pieces = [decoder.decode(data[start : start + PIECE_BYTES]) for start in range(0, len(data), PIECE_BYTES)]
    return "".join([*pieces, decoder.decode(b"", final=True)])
