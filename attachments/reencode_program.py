"""A program that re-encodes one image without its metadata: `python -I reencode_program.py MIME_TYPE < image`.

The program writes one line of JSON, `{"mime_type", "width", "height"}`, and then the bytes of the new image. Its exit
status is 1 if the image cannot be decoded. `attachments.image_reencoding` runs it in a separate process, so it imports
no other module of the project.
"""

from __future__ import annotations

import contextlib
import io
import json
import resource
import sys
from pathlib import Path

from PIL import Image, ImageOps, JpegImagePlugin

FORMATS = {"image/png": "PNG", "image/jpeg": "JPEG", "image/gif": "GIF", "image/webp": "WEBP"}

#: Limit of the address space. Rotating a JPEG of fifty million pixels takes 0.4 GB; a WebP of that size takes 0.9 GB.
MEMORY_LIMIT_BYTES = 1280 * 1024**2
CPU_LIMIT_S = 25


def reencode(data: bytes, mime_type: str) -> tuple[bytes, str, int, int]:
    """Return the re-encoded image, rotated as its EXIF orientation says: bytes, MIME type, width and height in pixels.

    Pixels, transparency and the colour profile are kept. All other data is dropped: EXIF with its location and preview,
    XMP, comments, and bytes after the end of the image. Of an animation only the first frame is kept. A GIF becomes a
    PNG, which models accept. PNG and lossless WebP keep their exact pixels, except that 16-bit RGB becomes 8-bit RGB.
    A JPEG keeps its quality. Raise any error that Pillow raises for a file that it cannot decode.
    """
    image = Image.open(io.BytesIO(data), formats=(FORMATS[mime_type],))
    image.load()
    ImageOps.exif_transpose(image, in_place=True)
    profile = image.info.get("icc_profile")
    # Pillow writes many entries of `info` into the new file by itself, for example the comment of a JPEG.
    image.info = {name: value for name, value in image.info.items() if name == "transparency"}
    new_type = "image/png" if mime_type == "image/gif" else mime_type
    file = io.BytesIO()
    image.save(file, FORMATS[new_type], icc_profile=profile, **_save_options(image, data, new_type))
    return file.getvalue(), new_type, image.width, image.height


def _save_options(image: Image.Image, data: bytes, mime_type: str) -> dict[str, object]:
    """Return the options of `Image.save` that keep the quality of the original file."""
    if mime_type == "image/webp":
        # Higher methods take several times as long and save only a few percent of the size.
        return {"lossless": True, "quality": 20, "method": 1} if _is_lossless(data) else {"quality": 90, "method": 2}
    if not isinstance(image, JpegImagePlugin.JpegImageFile):
        return {}
    tables = image.quantization
    if sorted(tables) != list(range(len(tables))) or max(max(table) for table in tables.values()) > 255:
        return {"quality": 95}
    # With the quantization tables of the original, the loss is nearly zero and the size nearly the same.
    return {"qtables": tables, "subsampling": JpegImagePlugin.get_sampling(image)}


def _is_lossless(webp: bytes) -> bool:
    """Return whether the first frame of a WebP is lossless.

    Source: developers.google.com/speed/webp/docs/riff_container.
    """
    offset = 12
    while offset + 8 <= len(webp):
        name, size = webp[offset : offset + 4], int.from_bytes(webp[offset + 4 : offset + 8], "little")
        if name in (b"VP8 ", b"VP8L"):
            return name == b"VP8L"
        # An animation frame (ANMF) has a header of 16 bytes, followed by chunks of its own.
        offset += 24 if name == b"ANMF" else 8 + size + size % 2
    return False


def _limit_resources() -> None:
    """Limit memory, CPU time and file writes, and make this process the first candidate of the OOM killer."""
    bounds = ((resource.RLIMIT_AS, MEMORY_LIMIT_BYTES), (resource.RLIMIT_CPU, CPU_LIMIT_S), (resource.RLIMIT_FSIZE, 0))
    for kind, value in bounds:
        _, hard = resource.getrlimit(kind)
        limit = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (limit, limit))
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def main() -> None:
    """Read the image from stdin, re-encode it, and write the result to stdout."""
    _limit_resources()
    # The caller has already checked the number of pixels.
    Image.MAX_IMAGE_PIXELS = None
    new_data, mime_type, width, height = reencode(sys.stdin.buffer.read(), sys.argv[1])
    sys.stdout.buffer.write(json.dumps({"mime_type": mime_type, "width": width, "height": height}).encode() + b"\n")
    sys.stdout.buffer.write(new_data)


if __name__ == "__main__":
    main()
