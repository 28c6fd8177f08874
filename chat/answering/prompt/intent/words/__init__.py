"""Groups of words in English, German and Chinese that signal whether code execution is wanted.

Each group is a comma-separated list of words and phrases that match whole words; `*` matches any characters at that
end. Entries are in lower case, without punctuation, and with `ae`, `oe`, `ue` and `ss` for umlauts and ß. Chinese text
has no spaces, so Chinese words match anywhere. The modules of this package contain only data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from chat.answering.prompt.intent.words.acts import ACTS, POLITE
from chat.answering.prompt.intent.words.counter_signals import COUNTER_SIGNALS
from chat.answering.prompt.intent.words.material import MATERIAL

__all__ = ["POLITE", "WORDS"]

WORDS: Final[Mapping[str, str]] = {**ACTS, **MATERIAL, **COUNTER_SIGNALS}
