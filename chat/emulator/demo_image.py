"""The images that the demo model draws if a request asks for images: patterns computed from the prompt."""

from __future__ import annotations

import io
import random

from PIL import Image

SIDE_PX, TILES_PER_SIDE = 512, 8


def draw_pattern(prompt: str) -> bytes:
    """Return a PNG of coloured tiles. Equal prompts give equal bytes."""
    colours = random.Random(prompt).randbytes(3 * TILES_PER_SIDE**2)
    tiles = Image.frombytes("RGB", (TILES_PER_SIDE, TILES_PER_SIDE), colours)
    out = io.BytesIO()
    tiles.resize((SIDE_PX, SIDE_PX), Image.Resampling.NEAREST).save(out, "PNG")
    return out.getvalue()
