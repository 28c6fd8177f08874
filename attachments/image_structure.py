"""Checks of an image file's structure that decode no pixel: the file must be complete and have few segments.

An image parser reads a header segment by segment, and a file of many megabytes can consist of empty segments alone.
The limits of this module therefore apply before any image library reads an uploaded file.
"""

from __future__ import annotations

import re

JPEG_SEGMENTS_LIMIT = 2_000
"""Maximum number of segments before the scan. Cameras write some dozens."""
JPEG_FILL_LIMIT = 64
"""Maximum number of fill bytes before one marker. Encoders hardly ever write one."""
PNG_CHUNKS_LIMIT = 20_000
"""Maximum number of chunks in the whole file. A PNG of 14 MB in chunks of 8 KB has 1,800."""
PNG_HEAD_LIMIT = 1_000
"""Maximum number of chunks before the first IDAT chunk."""
GIF_BLOCKS_LIMIT = 20_000
"""Maximum number of extension blocks, of up to 255 bytes each, before the first frame."""

_FILL = re.compile(rb"\xff*")


class TooManySegments(ValueError):
    """The file has more segments than any camera or program writes."""


def is_png_truncated(data: bytes) -> bool:
    """Return whether the IEND chunk is missing.

    A chunk is length, type, content and checksum. Raise TooManySegments for a file above the limits.
    Source: w3.org/TR/png-3/#5Chunk-layout.
    """
    offset, number, has_pixels = 8, 0, False
    while offset + 12 <= len(data):
        kind = data[offset + 4 : offset + 8]
        if kind == b"IEND":
            return False
        number += 1
        has_pixels = has_pixels or kind == b"IDAT"
        if number > (PNG_CHUNKS_LIMIT if has_pixels else PNG_HEAD_LIMIT):
            raise TooManySegments
        offset += 12 + int.from_bytes(data[offset : offset + 4], "big")
    return True


def is_jpeg_truncated(data: bytes) -> bool:
    """Return whether the end marker is missing after the first scan.

    The segments are read one by one up to the scan, because an embedded preview has an end marker of its own. The end
    marker need not be last in the file: some cameras append data after it. Raise TooManySegments for a file above the
    limits. Source: ITU-T T.81, annex B.
    """
    offset = 2
    for _ in range(JPEG_SEGMENTS_LIMIT):
        fill = _FILL.match(data, offset)
        start = fill.end() if fill else offset
        if start == offset or start >= len(data):
            return True
        if start - offset > JPEG_FILL_LIMIT:
            raise TooManySegments
        if data[start] == 0xDA:
            return data.find(b"\xff\xd9", start) == -1
        if start + 3 > len(data):
            return True
        offset = start + 1 + int.from_bytes(data[start + 1 : start + 3], "big")
    raise TooManySegments


def is_gif_truncated(data: bytes) -> bool:
    """Return whether the trailer byte is missing at the end of the file.

    The extension blocks before the first frame are counted; raise TooManySegments if there are too many.
    Source: w3.org/Graphics/GIF/spec-gif89a.txt.
    """
    offset = 13 + (3 << ((data[10] & 7) + 1) if len(data) > 10 and data[10] & 0x80 else 0)
    number = 0
    while data[offset : offset + 1] == b"!":
        offset += 2
        while offset < len(data) and data[offset]:
            offset += 1 + data[offset]
            number += 1
            if number > GIF_BLOCKS_LIMIT:
                raise TooManySegments
        offset += 1
        number += 1
        if number > GIF_BLOCKS_LIMIT:
            raise TooManySegments
    return not data.rstrip(b"\0\r\n").endswith(b";")
