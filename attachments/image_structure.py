"""The structure of an image file, walked without decoding a pixel: is its end there, and can it be walked soon?

Parsers step through headers piece by piece, and a file of many megabytes can be nothing but pieces: whoever inspects an
image in a server first asks here. Pure.
"""

from __future__ import annotations

import re

JPEG_SEGMENTS_LIMIT = 2_000
"""Before the scan; cameras write some dozens."""
JPEG_FILL_LIMIT = 64
"""Fill bytes before one marker; hardly any encoder writes one."""
PNG_CHUNKS_LIMIT = 20_000
"""In all: 14 MB in pieces of 8 KB are 1,800."""
PNG_HEAD_LIMIT = 1_000
"""Before the first pixels."""
GIF_BLOCKS_LIMIT = 20_000
"""Blocks of extensions before the first frame, of up to 255 bytes each."""

_FILL = re.compile(rb"\xff*")


class TooIntricate(ValueError):
    """The file is made of more pieces than any camera or program writes."""


def png_is_cut(data: bytes) -> bool:
    """Chunks are length, type, content, checksum; the last is IEND. Source: w3.org/TR/png-3/#5Chunk-layout.

    Raises TooIntricate.
    """
    offset, number, has_pixels = 8, 0, False
    while offset + 12 <= len(data):
        kind = data[offset + 4 : offset + 8]
        if kind == b"IEND":
            return False
        number += 1
        has_pixels = has_pixels or kind == b"IDAT"
        if number > (PNG_CHUNKS_LIMIT if has_pixels else PNG_HEAD_LIMIT):
            raise TooIntricate
        offset += 12 + int.from_bytes(data[offset : offset + 4], "big")
    return True


def jpeg_is_cut(data: bytes) -> bool:
    """Walk the segments to the scan, so that an end marker of an embedded preview does not count.

    Cameras write on after the end marker, so it need not be last. Source: ITU-T T.81, annex B. Raises TooIntricate.
    """
    offset = 2
    for _ in range(JPEG_SEGMENTS_LIMIT):
        fill = _FILL.match(data, offset)
        start = fill.end() if fill else offset
        if start == offset or start >= len(data):
            return True
        if start - offset > JPEG_FILL_LIMIT:
            raise TooIntricate
        if data[start] == 0xDA:
            return data.find(b"\xff\xd9", start) == -1
        if start + 3 > len(data):
            return True
        offset = start + 1 + int.from_bytes(data[start + 1 : start + 3], "big")
    raise TooIntricate


def gif_is_cut(data: bytes) -> bool:
    """Ends with the trailer; extensions stand before the first frame. Source: w3.org/Graphics/GIF/spec-gif89a.txt.

    Raises TooIntricate.
    """
    offset = 13 + (3 << ((data[10] & 7) + 1) if len(data) > 10 and data[10] & 0x80 else 0)
    number = 0
    while data[offset : offset + 1] == b"!":
        offset += 2
        while offset < len(data) and data[offset]:
            offset += 1 + data[offset]
            number += 1
            if number > GIF_BLOCKS_LIMIT:
                raise TooIntricate
        offset += 1
        number += 1
        if number > GIF_BLOCKS_LIMIT:
            raise TooIntricate
    return not data.rstrip(b"\0\r\n").endswith(b";")
