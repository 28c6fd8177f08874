"""A program that draws one picture anew: `python -I redraw.py MIME_TYPE < picture`; see `attachments.pictures`.

Writes a line of JSON, `{"mime_type", "width", "height"}`, then the new picture's bytes. Ends with status 1 where the
picture cannot be read. It runs in a process of its own, without the rest of the product, and imports nothing of it.
"""

from __future__ import annotations

import contextlib
import io
import json
import resource
import sys
from pathlib import Path
from typing import Any

from PIL import Image, ImageOps, JpegImagePlugin

FORMATS = {"image/png": "PNG", "image/jpeg": "JPEG", "image/gif": "GIF", "image/webp": "WEBP"}

#: Of addresses. Fifty million pixels of a JPEG to be turned take 0.4 GB; of a WebP 0.9 GB.
MEMORY_LIMIT_BYTES = 1280 * 1024**2
CPU_LIMIT_S = 25


def redraw(data: bytes, mime_type: str) -> tuple[bytes, str, int, int]:
    """The picture alone, turned as its notes say: bytes, type, width and height in pixels.

    Kept are pixels, transparency and colour profile. Gone is all else: EXIF with its place and preview, XMP, comments,
    what stands behind the end. Of an animation the first picture stays; GIF becomes PNG, which models take.
    PNG and lossless WebP lose nothing, but for the lower half of 16 bits a colour; JPEG keeps its own quality. Raises
    whatever Pillow does.
    """
    picture = Image.open(io.BytesIO(data), formats=(FORMATS[mime_type],))
    picture.load()
    ImageOps.exif_transpose(picture, in_place=True)
    profile = picture.info.get("icc_profile")
    # Much of what stands here Pillow writes without being asked, as a JPEG's comment.
    picture.info = {name: value for name, value in picture.info.items() if name == "transparency"}
    new_type = "image/png" if mime_type == "image/gif" else mime_type
    file = io.BytesIO()
    picture.save(file, FORMATS[new_type], icc_profile=profile, **_options(picture, data, new_type))
    return file.getvalue(), new_type, picture.width, picture.height


def _options(picture: Image.Image, data: bytes, mime_type: str) -> dict[str, Any]:
    if mime_type == "image/webp":
        # Higher methods are some times slower for a few percent of size.
        return {"lossless": True, "quality": 20, "method": 1} if _is_lossless(data) else {"quality": 90, "method": 2}
    if not isinstance(picture, JpegImagePlugin.JpegImageFile):
        return {}
    tables = picture.quantization
    if sorted(tables) != list(range(len(tables))) or max(max(table) for table in tables.values()) > 255:
        return {"quality": 95}
    # Its own tables: nearly no loss, and nearly the same size.
    return {"qtables": tables, "subsampling": JpegImagePlugin.get_sampling(picture)}


def _is_lossless(webp: bytes) -> bool:
    """Whether the first picture of a WebP is. Source: developers.google.com/speed/webp/docs/riff_container."""
    offset = 12
    while offset + 8 <= len(webp):
        name, size = webp[offset : offset + 4], int.from_bytes(webp[offset + 4 : offset + 8], "little")
        if name in (b"VP8 ", b"VP8L"):
            return name == b"VP8L"
        # A frame of an animation begins with 16 bytes of its own, then come chunks again.
        offset += 24 if name == b"ANMF" else 8 + size + size % 2
    return False


def _bound() -> None:
    """Take no more than a picture needs, and be the first to go when the machine's memory ends."""
    bounds = ((resource.RLIMIT_AS, MEMORY_LIMIT_BYTES), (resource.RLIMIT_CPU, CPU_LIMIT_S), (resource.RLIMIT_FSIZE, 0))
    for bound, most in bounds:
        _, hard = resource.getrlimit(bound)
        limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(bound, (limit, limit))
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def main() -> None:
    """Read, draw, write."""
    _bound()
    # The limit on pixels is the caller's.
    Image.MAX_IMAGE_PIXELS = None
    drawn, mime_type, width, height = redraw(sys.stdin.buffer.read(), sys.argv[1])
    sys.stdout.buffer.write(json.dumps({"mime_type": mime_type, "width": width, "height": height}).encode() + b"\n")
    sys.stdout.buffer.write(drawn)


if __name__ == "__main__":
    main()
