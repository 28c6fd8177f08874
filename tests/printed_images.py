"""Restores the images that were extracted from the output of code."""

from __future__ import annotations

import base64
from collections.abc import Iterable

from chat.vocabulary.data_uris import ExtractedImage


def as_base64(data: bytes, line_chars: int = 0) -> str:
    """Return bytes in base64, in lines of this length; 0: on one line."""
    text = base64.b64encode(data).decode()
    length = line_chars or max(len(text), 1)
    return "\n".join(text[start : start + length] for start in range(0, len(text), length))


def restore_images(text: str, images: Iterable[ExtractedImage]) -> str:
    """Return the output from which `extract_images` made this text and these images."""
    pieces: list[str] = []
    end = 0
    for image in images:
        pieces += (text[end : image.offset], image.header, as_base64(image.data, image.line_chars))
        end = image.offset
    return "".join([*pieces, text[end:]])
