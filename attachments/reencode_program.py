"""A program that re-encodes one image without its metadata: `reencode_program.py MIME_TYPE PIXELS SIDE < image`.

The program writes one line of JSON, `{"mime_type", "width", "height"}`, and then the bytes of the new image. Its exit
status is 1 if the image cannot be decoded, or has more than PIXELS pixels or a side of more than SIDE pixels; it is
`HAS_SEVERAL_PAGES` if the file has more than one page. `attachments.image_reencoding` runs it in a separate process, so
it imports no other module of the project.
"""

from __future__ import annotations

import contextlib
import io
import json
import resource
import sys
from pathlib import Path

from PIL import AvifImagePlugin, Image, ImageOps, JpegImagePlugin

FORMATS = {
    "image/png": "PNG",
    "image/jpeg": "JPEG",
    "image/gif": "GIF",
    "image/webp": "WEBP",
    "image/bmp": "BMP",
    "image/tiff": "TIFF",
    "image/avif": "AVIF",
}
CONVERTED_TYPES = ("image/gif", "image/bmp", "image/tiff", "image/avif")
"""Types of files that become PNG, which models accept."""
PHOTO_TYPES = ("image/tiff", "image/avif")
"""Types of files that become JPEG if they have colours and no transparency, because most of these are photos."""
PNG_MODES = ("1", "L", "LA", "P", "RGB", "RGBA", "I", "I;16")
HAS_SEVERAL_PAGES = 3
"""Exit status for an image that is refused, because only its first page could be kept without any notice."""

#: Limit of the address space. Rotating a JPEG of fifty million pixels takes 0.4 GB; a WebP of that size takes 0.9 GB.
MEMORY_LIMIT_BYTES = 1280 * 1024**2
CPU_LIMIT_S = 25


class TooManyPages(Exception):
    """The image has several pages."""


def reencode(data: bytes, mime_type: str, *, pixel_limit: int, side_limit: int) -> tuple[bytes, str, int, int]:
    """Return the re-encoded image, rotated as its EXIF orientation says: bytes, MIME type, width and height in pixels.

    Pixels, transparency and the colour profile are kept. All other data is dropped: EXIF with its location and preview,
    XMP, comments, and bytes after the end of the image. Of an animation only the first frame is kept. A GIF or BMP
    becomes a PNG, a TIFF or AVIF a PNG or JPEG, which browsers and models read. PNG and lossless WebP keep their exact
    pixels, except that 16-bit RGB becomes 8-bit RGB. A JPEG keeps its quality. Raise TooManyPages for a TIFF with more
    than one, and any error that Pillow raises for a file that it cannot decode.
    """
    image: Image.Image = Image.open(io.BytesIO(data), formats=(FORMATS[mime_type],))
    if image.width * image.height > pixel_limit or max(image.size) > side_limit:
        raise ValueError("too many pixels")
    if mime_type == "image/tiff" and getattr(image, "n_frames", 1) > 1:
        raise TooManyPages
    image.load()
    if image.mode == "F":
        raise ValueError("measured values without a range of colours")
    ImageOps.exif_transpose(image, in_place=True)
    profile = image.info.get("icc_profile")
    # Pillow writes many entries of `info` into the new file by itself, for example the comment of a JPEG.
    image.info = {name: value for name, value in image.info.items() if name == "transparency"}
    if mime_type in PHOTO_TYPES and image.mode not in PNG_MODES:
        # The profile describes the colours before the conversion.
        image, profile = image.convert("I" if image.mode.startswith("I;16") else "RGB"), None
    new_type = "image/png" if mime_type in CONVERTED_TYPES else mime_type
    if mime_type in PHOTO_TYPES and image.mode == "RGB":
        new_type = "image/jpeg"
    file = io.BytesIO()
    image.save(file, FORMATS[new_type], icc_profile=profile, **_save_options(image, data, new_type))
    return file.getvalue(), new_type, image.width, image.height


def _save_options(image: Image.Image, data: bytes, mime_type: str) -> dict[str, object]:
    """Return the options of `Image.save` that keep the quality of the original file."""
    if mime_type == "image/webp":
        # Higher methods take several times as long and save only a few percent of the size.
        return {"lossless": True, "quality": 20, "method": 1} if _is_lossless(data) else {"quality": 90, "method": 2}
    if not isinstance(image, JpegImagePlugin.JpegImageFile):
        return {"quality": 95} if mime_type == "image/jpeg" else {}
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
    # Each thread of the decoder would take memory of its own.
    AvifImagePlugin.DEFAULT_MAX_THREADS = 1
    # Pillow's own limit is off, because `reencode` checks the number of pixels.
    Image.MAX_IMAGE_PIXELS = None
    mime_type, pixel_limit, side_limit = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    data = sys.stdin.buffer.read()
    try:
        new_data, mime_type, width, height = reencode(data, mime_type, pixel_limit=pixel_limit, side_limit=side_limit)
    except TooManyPages:
        sys.exit(HAS_SEVERAL_PAGES)
    sys.stdout.buffer.write(json.dumps({"mime_type": mime_type, "width": width, "height": height}).encode() + b"\n")
    sys.stdout.buffer.write(new_data)


if __name__ == "__main__":
    main()
