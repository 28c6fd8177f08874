"""Limits of what is kept, and of what is received, of one cell of a kernel. A kernel runs untrusted code."""

from __future__ import annotations

from chat.vocabulary.display_bundles import BUNDLE_LIMIT_BYTES

TEXT_LIMIT_BYTES = 1_000_000
"""Text that is stored of one cell, in UTF-8."""
IMAGE_LIMIT_BYTES = 10 * 1024 * 1024
"""The largest image that is stored."""
IMAGES_LIMIT_BYTES = 4 * IMAGE_LIMIT_BYTES
"""All images together that are stored of one cell."""
IMAGES_LIMIT_COUNT = 32
"""Number of images that are stored of one cell."""
DISPLAYS_LIMIT_BYTES = 4 * BUNDLE_LIMIT_BYTES
"""All MIME bundles together that are stored of one cell."""
DISPLAYS_LIMIT_COUNT = 256
"""Number of MIME bundles that are stored of one cell."""
FLOOD_LIMIT_BYTES = 16 * TEXT_LIMIT_BYTES
"""Received bytes without room, and text, after which the cell is stopped; it exceeds TEXT_LIMIT_BYTES so that later
graphs still arrive."""
RECEIVED_IMAGES_LIMIT_BYTES = 4 * IMAGES_LIMIT_BYTES
"""All images together that are stored of one cell in turn, when later ones take the place of earlier ones."""
RECEIVED_DISPLAYS_LIMIT_BYTES = 64 * DISPLAYS_LIMIT_BYTES
"""MIME bundles that are received of one cell, after which it is stopped."""
DISPLAY_ID_LIMIT_CHARS = 200
CODE_COST_BYTES = 20
"""What an escape code of a terminal counts in the limit of received bytes."""
FLOOD_LIMIT_MESSAGES = 100_000
"""Received messages after which the cell is stopped: each one is an object in memory, however short its text is."""
