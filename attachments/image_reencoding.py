"""Re-encodes uploaded images, so that the stored file holds pixels and colours but no metadata.

Image decoders are the code that a hostile file can crash. They run in a separate process with limits on memory and
time (`attachments/reencode_program.py`), so that no file can end the server and its live turns.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

from attachments.validation import PIXEL_LIMIT, SIDE_LIMIT, RefusedUpload, UnreadableImage

#: It is not imported, because the image formats that it reads would take 3 MB of the server's memory.
PROGRAM = Path(__file__).with_name("reencode_program.py")
#: The exit status of `PROGRAM` for an image of several pages.
HAS_SEVERAL_PAGES = 3
#: Maximum run time of `PROGRAM` for one image.
REENCODE_LIMIT_S = 30.0
#: Maximum time that an image waits for images that were uploaded before it.
QUEUE_LIMIT_S = 30.0

#: Each server process re-encodes one image at a time. Several at once could exhaust the machine's memory, although each
#: stays within its own limit.
_program_slot = threading.Semaphore(1)


@dataclass(frozen=True, slots=True)
class ReencodedImage:
    """The image file to store, with its type and size."""

    data: bytes
    mime_type: str
    width: int
    """Width in pixels."""
    height: int
    """Height in pixels."""


def reencode_image(label: str, data: bytes, mime_type: str) -> ReencodedImage:
    """Return the image without metadata; `reencode_program.reencode` describes what is kept.

    `label` names the file in error messages. A call takes about 0.1 s, and some seconds for the largest images. Raise
    UnreadableImage if the image cannot be decoded within the limits or has several pages, and RefusedUpload if the
    server is busy with other images for `QUEUE_LIMIT_S`.
    """
    if not _program_slot.acquire(timeout=QUEUE_LIMIT_S):
        raise RefusedUpload(f"“{label}” could not be read: the server is busy with other pictures. Try again soon.")
    try:
        output = _run_program(label, data, mime_type)
    except subprocess.TimeoutExpired:
        raise UnreadableImage(f"“{label}” takes too long to read. Attach it smaller, or as PNG or JPEG.") from None
    finally:
        _program_slot.release()
    if output is None:
        raise UnreadableImage(
            f"“{label}” is broken, or takes too much memory to read. Attach it anew, smaller, or as PNG or JPEG."
        )
    head, _, image_data = output.partition(b"\n")
    return ReencodedImage(image_data, **json.loads(head))


def _run_program(label: str, data: bytes, mime_type: str) -> bytes | None:
    """Return what `PROGRAM` wrote to stdout, or None if it failed.

    Raise UnreadableImage for several pages, and subprocess.TimeoutExpired after `REENCODE_LIMIT_S`.
    """
    # -I isolates the interpreter; the empty environment keeps the server's keys from the program.
    command = [sys.executable, "-I", str(PROGRAM), mime_type, str(PIXEL_LIMIT), str(SIDE_LIMIT)]
    completed = subprocess.run(
        command,
        input=data,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={},
        timeout=REENCODE_LIMIT_S,
        check=False,
    )
    if completed.returncode == HAS_SEVERAL_PAGES:
        raise UnreadableImage(f"“{label}” has several pages. Save it as PDF, and attach that file.")
    return completed.stdout if completed.returncode == 0 else None
