"""The images that the demo model draws if a request asks for images: patterns computed from the prompt."""

from __future__ import annotations

import colorsys
import io
import random

from PIL import Image, ImageDraw

SIDE_PX = 512
TILES_PER_SIDE = 8


def draw_pattern(prompt: str) -> bytes:
    """Return a PNG of coloured tiles and circles. Equal prompts give equal bytes."""
    rng = random.Random(prompt)
    hue = rng.random()
    image = Image.new("RGB", (SIDE_PX, SIDE_PX), _rgb(hue, 0.25, 0.95))
    canvas = ImageDraw.Draw(image)
    tile_px = SIDE_PX // TILES_PER_SIDE
    for row in range(TILES_PER_SIDE):
        for column in range(TILES_PER_SIDE):
            left, top = column * tile_px, row * tile_px
            box = (left + 4, top + 4, left + tile_px - 4, top + tile_px - 4)
            fill = _rgb(hue + rng.choice((0.0, 0.08, 0.5)), rng.uniform(0.4, 0.9), rng.uniform(0.5, 1.0))
            draw_shape = rng.choice((canvas.ellipse, canvas.rectangle))
            draw_shape(box, fill=fill)
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def _rgb(hue: float, saturation: float, value: float) -> tuple[int, int, int]:
    red, green, blue = colorsys.hsv_to_rgb(hue % 1.0, saturation, value)
    return round(red * 255), round(green * 255), round(blue * 255)
