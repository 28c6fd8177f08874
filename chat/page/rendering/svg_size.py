"""Reads and limits the size of an SVG picture in CSS pixels."""

from __future__ import annotations

import re

SIDE_LIMIT = 10_000
"""Maximum width and height of a picture in CSS pixels. Larger pictures are scaled down."""

_LENGTH = re.compile(r"\s*+\+?(\d{1,6}(?:\.\d{0,12})?|\.\d{1,12})\s*+(px|pt|pc|in|cm|mm|em|ex)?\s*+")
_PIXELS = {
    "": 1.0,
    "px": 1.0,
    "pt": 4 / 3,
    "pc": 16.0,
    "in": 96.0,
    "cm": 96 / 2.54,
    "mm": 9.6 / 2.54,
    "em": 16.0,
    "ex": 8.0,
}
_NUMBERS = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,2})?")


def fit_root(attributes: dict[str, str]) -> tuple[int | None, int | None]:
    """Return width and height from the attributes of the root element; `None` if it has no size.

    The attributes are changed so that the picture scales with its `img` element: the size is absolute, and there is a
    `viewBox`.
    """
    width, height = _pixels(attributes.get("width", "")), _pixels(attributes.get("height", ""))
    box = [float(number) for number in _NUMBERS.findall(attributes.get("viewBox", "")[:200])]
    if len(box) == 4 and box[2] > 0 and box[3] > 0:
        if width and not height:
            height = width * box[3] / box[2]
        elif height and not width:
            width = height * box[2] / box[3]
        elif not width:
            width, height = box[2], box[3]
    elif width and height:
        attributes["viewBox"] = f"0 0 {width:g} {height:g}"
    for name in ("width", "height", "x", "y"):
        attributes.pop(name, None)
    if not (width and height):
        return None, None
    scale = min(1, SIDE_LIMIT / max(width, height))
    size = max(round(width * scale), 1), max(round(height * scale), 1)
    attributes |= {"width": str(size[0]), "height": str(size[1])}
    return size


def _pixels(length: str) -> float:
    """Return a length in CSS pixels; 0 if it is relative or not a length."""
    match = _LENGTH.fullmatch(length)
    return float(match[1]) * _PIXELS[match[2] or ""] if match else 0.0
