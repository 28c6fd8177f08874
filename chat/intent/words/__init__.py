"""The words a decision on code execution looks for, in English, German and Chinese. Data alone.

Whole words or phrases, parted by commas; `*` leaves an end open. Lower case, no punctuation, umlauts written out
(`ae`, `oe`, `ue`, `ss`). Chinese has no spaces, so its words are found anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from chat.intent.words.acts import ACTS, POLITE
from chat.intent.words.against import AGAINST
from chat.intent.words.material import MATERIAL

__all__ = ["POLITE", "WORDS"]

WORDS: Final[Mapping[str, str]] = {**ACTS, **MATERIAL, **AGAINST}
