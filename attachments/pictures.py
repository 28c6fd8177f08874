"""Uploaded pictures are drawn anew before they are kept, so that they tell nothing but what they show.

Decoders of pictures are the code that strangers' files break: they run in a process of their own with bounds on
memory and time, so that no file ends the server and its live turns.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from dataclasses import dataclass

from attachments import redraw
from attachments.validation import RefusedUpload, UnreadableImage

#: Longest wait for one picture, and for those before it.
DRAW_LIMIT_S = 30.0
QUEUE_LIMIT_S = 30.0

#: One at a time in each server process: together, many could take the machine's memory, each within its bound.
_one_at_a_time = threading.Semaphore(1)


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture as it is kept."""

    data: bytes
    mime_type: str
    width: int
    """In pixels."""
    height: int
    """In pixels."""


def redrawn(label: str, data: bytes, mime_type: str) -> Picture:
    """See `redraw.redraw`; the caller has checked the number of pixels. `label` names the file in sentences.

    Takes 0.1 s, and for the largest some seconds. Raises UnreadableImage or RefusedUpload.
    """
    if not _one_at_a_time.acquire(timeout=QUEUE_LIMIT_S):
        raise RefusedUpload(f"“{label}” could not be read: the server is busy with other pictures. Try again soon.")
    try:
        written = _run(data, mime_type)
    except subprocess.TimeoutExpired:
        raise UnreadableImage(f"“{label}” takes too long to read. Attach it smaller, or as PNG or JPEG.") from None
    finally:
        _one_at_a_time.release()
    if written is None:
        raise UnreadableImage(
            f"“{label}” is broken, or takes too much memory to read. Attach it anew, smaller, or as PNG or JPEG."
        )
    head, _, drawn = written.partition(b"\n")
    return Picture(drawn, **json.loads(head))


def _run(data: bytes, mime_type: str) -> bytes | None:
    """What the program wrote; None where it failed. Raises subprocess.TimeoutExpired."""
    # Isolated, and without the environment: keys are not its business.
    command = [sys.executable, "-I", redraw.__file__, mime_type]
    ended = subprocess.run(
        command,
        input=data,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={},
        timeout=DRAW_LIMIT_S,
        check=False,
    )
    return ended.stdout if ended.returncode == 0 else None
