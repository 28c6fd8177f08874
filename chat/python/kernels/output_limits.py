"""Limits of the outputs of one cell that are stored, and that are received. A kernel runs untrusted code."""

from __future__ import annotations

from chat.vocabulary.display_bundles import BUNDLE_LIMIT_BYTES

TEXT_LIMIT_BYTES = 1_000_000
"""Maximum size in UTF-8 of the text that is stored for one cell."""
IMAGE_LIMIT_BYTES = 10 * 1024 * 1024
"""Maximum size of an image, a sound or a video that is stored."""
IMAGES_LIMIT_BYTES = 4 * IMAGE_LIMIT_BYTES
"""Maximum size of all images, sounds and videos together that are stored for one cell."""
IMAGES_LIMIT_COUNT = 32
"""Maximum number of images, sounds and videos that are stored for one cell."""
DISPLAYS_LIMIT_BYTES = 4 * BUNDLE_LIMIT_BYTES
"""Maximum size of all MIME bundles together that are stored for one cell."""
DISPLAYS_LIMIT_COUNT = 256
"""Maximum number of MIME bundles that are stored for one cell."""
FLOOD_LIMIT_BYTES = 16 * TEXT_LIMIT_BYTES
"""Received bytes, of text and of outputs above their limits, after which the cell is stopped. It exceeds
TEXT_LIMIT_BYTES so that later graphs still arrive."""
RECEIVED_IMAGES_LIMIT_BYTES = 4 * IMAGES_LIMIT_BYTES
"""Maximum size of all images that one cell shows one after another, if later images replace earlier ones."""
RECEIVED_DISPLAYS_LIMIT_BYTES = 64 * DISPLAYS_LIMIT_BYTES
"""Received bytes of MIME bundles after which the cell is stopped."""
DISPLAY_ID_LIMIT_CHARS = 200
CODE_COST_BYTES = 20
"""Bytes that an escape code of a terminal counts in the limit of received bytes, because of the work."""
FLOOD_LIMIT_MESSAGES = 100_000
"""Number of received messages after which the cell is stopped. Even a short message is an object in memory."""
