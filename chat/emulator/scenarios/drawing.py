"""Draws the images of scenarios at run time; no picture is stored in the project."""

from __future__ import annotations

import io
import math
import random

from PIL import Image, ImageDraw


def chart(width: int = 800, height: int = 500, *, seed: int = 1, image_format: str = "PNG") -> bytes:
    """A scatter chart with axes and a curve; equal arguments give equal bytes, and PNG of 30 to 60 KB."""
    dice = random.Random(seed)
    picture = Image.new("RGB", (width, height), "white")
    pen = ImageDraw.Draw(picture)
    left, bottom = width // 12, height - height // 10
    pen.line([(left, height // 20), (left, bottom), (width - width // 20, bottom)], fill="black", width=2)
    span = width - width // 20 - left

    def level(share: float) -> float:
        return bottom / 2 - math.sin(share * math.tau * 2 + seed) * bottom / 3

    for _ in range(2500):
        share = dice.random()
        x, y = left + share * span, level(share) + dice.gauss(0, height / 25)
        color = (31 + dice.randrange(60), 119 + dice.randrange(60), 180 + dice.randrange(60))
        pen.ellipse([x - 2, y - 2, x + 2, y + 2], fill=color)
    points = [(left + step / 200 * span, level(step / 200)) for step in range(201)]
    pen.line(points, fill=(214, 39, 40), width=3)
    out = io.BytesIO()
    picture.save(out, image_format)
    return out.getvalue()
