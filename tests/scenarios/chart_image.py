"""Draws the images of scenarios, so that the project stores no picture."""

from __future__ import annotations

import io
import math
import random

from PIL import Image, ImageDraw


def draw_chart(width: int = 800, height: int = 500, *, seed: int = 1, image_format: str = "PNG") -> bytes:
    """Return a scatter chart with axes and a curve. Equal arguments give equal bytes; a PNG has 30 to 60 KB."""
    rng = random.Random(seed)
    image = Image.new("RGB", (width, height), "white")
    canvas = ImageDraw.Draw(image)
    left, right, bottom = width // 12, width - width // 20, height - height // 10
    canvas.line([(left, height // 20), (left, bottom), (right, bottom)], fill="black", width=2)

    def curve(fraction: float) -> float:
        return bottom / 2 - math.sin(fraction * math.tau * 2 + seed) * bottom / 3

    for _ in range(2500):
        fraction = rng.random()
        x, y = left + fraction * (right - left), curve(fraction) + rng.gauss(0, height / 25)
        color = (31 + rng.randrange(60), 119 + rng.randrange(60), 180 + rng.randrange(60))
        canvas.ellipse([x - 2, y - 2, x + 2, y + 2], fill=color)
    points = [(left + step / 200 * (right - left), curve(step / 200)) for step in range(201)]
    canvas.line(points, fill=(214, 39, 40), width=3)
    out = io.BytesIO()
    image.save(out, image_format)
    return out.getvalue()
