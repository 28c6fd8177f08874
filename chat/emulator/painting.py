"""The pictures of the demo model when it is asked for image output: patterns, no art."""

from __future__ import annotations

import colorsys
import io
import random

from PIL import Image, ImageDraw

SIDE = 512
TILES = 8


def pattern(prompt: str) -> bytes:
    """A PNG of coloured tiles and circles; equal prompts give equal bytes."""
    dice = random.Random(prompt)
    hue = dice.random()
    picture = Image.new("RGB", (SIDE, SIDE), _colour(hue, 0.25, 0.95))
    pen = ImageDraw.Draw(picture)
    step = SIDE // TILES
    for row in range(TILES):
        for column in range(TILES):
            left, top = column * step, row * step
            box = (left + 4, top + 4, left + step - 4, top + step - 4)
            fill = _colour(hue + dice.choice((0.0, 0.08, 0.5)), dice.uniform(0.4, 0.9), dice.uniform(0.5, 1.0))
            draw = dice.choice((pen.ellipse, pen.rectangle))
            draw(box, fill=fill)
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


def _colour(hue: float, saturation: float, value: float) -> tuple[int, int, int]:
    red, green, blue = colorsys.hsv_to_rgb(hue % 1.0, saturation, value)
    return round(red * 255), round(green * 255), round(blue * 255)
